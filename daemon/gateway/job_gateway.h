/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/gateway/job_gateway.h: the gateways of scheduler/gateway.h: for each job one HTTP listener on its network's
 * own address, for clients that connect through its bridge, with the families of metadata and storage only.
 *
 * At ports 443 and 80, calls of the cloud's hosts by name are answered, see called_names.h. A request to
 * storage.googleapis.com without credentials, for a bucket that does not exist here, is redirected to the cloud.
 *
 * The listener uses port 80, which old libraries expect, if this port can be bound (as root); otherwise any free port.
 * A listener without a connection is one thread that sleeps in poll(). */
#include <stdbool.h>
#include <stddef.h>

#include "api/http/http.h"
#include "scheduler/gateway.h"

/* A replica's data loaders have some connections each; each connection takes a thread with half a MiB of stack. */
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
	const struct call_gate *gate; /* applied to calls of storage as well; NULL: none */
	const char *project_id, *project_number;
	const char
		*tenant_project; /* the project id that the metadata server reports to Vertex AI jobs; NULL: project_id */
	/* The families of storage. Their contexts are struct storage_context; each gateway has a copy with the number of
	 * its job. NULL: another emulator serves storage, or none does. */
	const struct family *storage; /* ends with a NULL name */
	const char *storage_endpoint; /* "http://HOST:PORT" to which storage is forwarded; NULL: none */
	/* Job networks have no route to the outside: calls of the cloud are refused and reported. */
	bool cut_off;
	/* Signs certificates for the names of Cloud Logging and of storage that is served here. Those names then
	 * resolve to the gateway, if it can bind port 443: for programs that cannot be given another address
	 * (TensorFlow, google-cloud-logging). NULL: those names resolve to the cloud. */
	struct authority *authority;
	bool names_alone; /* Only the names with a route resolve to the gateway; those of Logging and storage do not. */
	/* The names that are forwarded, and the families for callers of names that are routed to this daemon: by REST,
	 * and by gRPC. */
	const struct host_routes *routes; /* NULL: none */
	const struct family *self, *self_rpc;
	struct caller_rule self_caller;
	/* A job called @host of the cloud: the call was refused if job networks have no route to the outside, else
	 * forwarded to the real host. */
	void (*cloud_tried)(void *arg, int64_t job, const char *host); /* thread: any; must not block */
	/* Called if a call of @host could not be forwarded; @text completes the sentence "The program called @host,
	 * which". Thread: any; must not block. */
	void (*call_failed)(void *arg, int64_t job, const char *host, const char *text);
	void *arg;
};

struct gateways;

/* Makes the list of gateways, which is empty. UNAVAILABLE: the storage endpoint's name cannot be resolved. */
enum status gateways_new(const struct gateways_options *options, struct gateways **ret_gateways,
			 struct error *err);
/* Returns the functions for scheduler_options; valid until gateways_free(). */
struct gateway_ops gateways_ops(struct gateways *gateways);
/* Closes all gateways. Call it when no other thread calls the gateway_ops any more. Waits a moment for running requests.
 * NULL is harmless. */
void gateways_free(struct gateways *gateways);
