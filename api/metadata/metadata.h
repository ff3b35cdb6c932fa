/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/metadata/metadata.h: the metadata server for the replicas of one job, and the emulator's identity endpoints,
 * which give tokens to programs outside of containers.
 * Source: https://cloud.google.com/compute/docs/metadata/querying-metadata (read 2026-11-20) */
#include <stdbool.h>
#include <stdint.h>

#include "api/http/http.h"

struct signing_key;
struct store;

/* One replica, as its metadata server describes it. */
struct metadata_instance {
	int64_t job;
	unsigned attempt; /* of the job, at the time of the request */
	unsigned role, index; /* as in scheduler/plan/plan.h */
	uint64_t id;          /* a number unique to the replica */
	char hostname[64];
	char machine_type[64]; /* "n1-standard-4"; "" if none was requested */
	int64_t created_s;     /* wall clock; 0: unknown */
};

/* The context of one gateway's metadata server. */
struct metadata_context {
	struct store *store;
	struct signing_key *key; /* made when first used */
	const struct clock *clock;
	const char *project_id;     /* the emulator's project, as the replica's programs see it */
	const char *project_number; /* "123456789012" */
	const char *region;         /* the job's region */
	const char *email;          /* the account of its programs */
	/* Finds the replica by its address. False: none of the job's replicas has this address. Thread: any. */
	bool (*find)(void *arg, uint32_t peer, struct metadata_instance *ret_instance);
	void *arg;
};

/* Rows of "/" and "/computeMetadata/…" for a gateway's listener; their context is a struct metadata_context. The
 * family must be lenient about queries. A refusal is an ordinary answer of a row: a page with the metadata server's
 * own headers. */
extern const struct route metadata_routes[];
/* Writes an error that occurs before a row's handler runs: a page in the form of the metadata server. */
const char *metadata_error_render(const struct call *call, const struct error *err, unsigned http_status,
				  struct text *body);

/* Context of the rows for the public listener: "POST /token" (exchanges a service account's JWT for an access token or
 * an identity token), "GET /oauth2/v3/certs" (the keys to verify identity tokens), "/tokeninfo". The family must be
 * lenient about queries.
 * Source: https://developers.google.com/identity/protocols/oauth2/service-account#httprest (read 2026-11-22) */
struct identity_context {
	struct store *store;
	struct signing_key *key; /* made when first used */
	const struct clock *clock;
};
extern const struct route identity_routes[];
