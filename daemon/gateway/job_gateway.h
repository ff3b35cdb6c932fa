/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/gateway/job_gateway.h: the gateways of scheduler/gateway.h: for each job one HTTP listener on its network's own
 * address, for clients that come in by its bridge, with the families of metadata and storage and no other.
 *
 * At ports 443 and 80, calls of the cloud's hosts by name are answered as called_names.h says.
 * A request to storage.googleapis.com without credentials, for a bucket that is not here, leads on to the cloud.
 *
 * Port 80 is taken where it can be (as root), and is then the only one: old libraries look nowhere else. Otherwise any
 * port. A listener without a connection is one thread that sleeps in poll(). */
#include <stdbool.h>
#include <stddef.h>

#include "api/http/http.h"
#include "scheduler/gateway.h"

/* A replica's data loaders have some connections each; a thread with half a MiB of stack serves one. */
enum { GATEWAY_CONNECTIONS_MAX = 64 };

struct authority;
struct host_routes;
struct signing_key;
struct store;

/* Borrowed until gateways_free(). */
struct gateways_options {
	struct store *store;
	struct signing_key *key;
	const struct clock *clock;
	const struct call_gate *gate; /* of storage's calls, too; NULL: none */
	const char *project_id, *project_number;
	const char *
		tenant_project; /* the project at the metadata server of Vertex AI's jobs; NULL: project_id */
	/* The families of storage; their contexts are struct storage_context, of which each gateway has a copy with its
	 * own job's number. NULL: storage is elsewhere, or there is none. */
	const struct family *storage; /* ends with a NULL name */
	const char *storage_endpoint; /* "http://HOST:PORT" to which storage is handed on; NULL: none */
	/* Job networks have no way to the outside: calls of the cloud are refused and reported. */
	bool cut_off;
	/* Signs certificates for the own names of Cloud Logging and of storage that is served here. Those names then lead to the
	 * gateway, where it can have port 443: for programs that cannot be given another address (TensorFlow,
	 * google-cloud-logging). NULL: those names lead to the cloud. */
	struct authority *authority;
	bool names_alone; /* those of Logging and storage do not lead here: routes alone */
	/* Names that lead elsewhere, and what this daemon serves to callers of those that lead to it: by REST, and by gRPC. */
	const struct host_routes *routes; /* NULL: none */
	const struct family *self, *self_rpc;
	struct caller_rule self_caller;
	/* A job called @host of the cloud: it was turned away where jobs are cut off, else handed on to the real one. */
	void (*cloud_tried)(void *arg, int64_t job, const char *host); /* thread: any; must not block */
	/* A job called @host, and its call could not be handed on; @text ends the sentence "The program called @host, which". Thread:
	 * likewise. */
	void (*call_failed)(void *arg, int64_t job, const char *host, const char *text);
	void *arg;
};

struct gateways;

/* UNAVAILABLE: the storage endpoint's name is not known. */
enum status gateways_new(const struct gateways_options *options, struct gateways **ret_gateways,
			 struct error *err);
/* For scheduler_options; good until gateways_free(). */
struct gateway_ops gateways_ops(struct gateways *gateways);
/* Closes all that are open, once nobody calls the above. Waits a moment for requests under way. NULL is harmless. */
void gateways_free(struct gateways *gateways);
