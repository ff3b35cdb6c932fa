/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/storage/storage.h: the Cloud Storage JSON API v1, on store/objects/objects.h.
 * Source: https://cloud.google.com/storage/docs/json_api (read 2026-11-20) */
#include <stdatomic.h>

#include "api/http/http.h"
#include "api/message/discovery.h"

struct objects;
struct store;

struct storage_context {
	struct objects *objects;
	const struct store *store; /* checks access tokens */
	const struct clock *clock;
	const char *project_id, *project_number;
	bool auto_buckets; /* buckets are made on first use */
	/* The URL prefix "https://HOST" of another place for public objects: a request over TLS without credentials
	 * for a bucket that does not exist here is redirected there. NULL: no redirects. */
	const char *elsewhere;
	int64_t job; /* at a gateway: tokens of other jobs are refused with 401; 0: the public listener */
	const atomic_uint *attempt; /* at a gateway: the job's present attempt; tokens of earlier ones are refused */
	const char
		*job_project; /* at a gateway: default project of requests; NULL: they must name one */
};

/* Rows for "/storage/v1/…", "/upload/…", "/download/…", "/batch/storage/v1". The family needs storage_error_render,
 * storage_error_status, storage_fields_refuse, lenient_query, and blank_is_absent:
 * https://github.com/fsouza/fake-gcs-server/issues/238 (observed at the service). */
extern const struct route storage_routes[];
extern const struct route storage_absent[];
extern const struct discovery_api storage_api;
/* Rows for "/{bucket}/{object=**}", the plain paths of the XML API. The family needs the same settings, and
 * last_resort and may_have. */
extern const struct route storage_plain_routes[];
/* True if the first segment can be a bucket. It cannot if paths of another family begin with it, or if the path is a
 * method of an unknown version ("/v1alpha1/projects/…"). */
bool storage_plain_may_have(const char *const *segments, size_t count);
enum status storage_fields_refuse(const char *mask, const char *path, const char *name, struct error *err);
unsigned storage_error_status(const struct call *call, const struct error *err);
const char *storage_error_render(const struct call *call, const struct error *err, unsigned http_status,
				 struct text *body);
const char *storage_plain_error_render(const struct call *call, const struct error *err, unsigned http_status,
				       struct text *body);
