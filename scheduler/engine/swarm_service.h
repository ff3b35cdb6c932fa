/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/swarm_service.h: makes the agents of a swarm (swarm_agents.h) and removes them, by a manager's engine. Each
 * call may be repeated: it goes on where one before it has ended.
 *
 * Choice: the overlay is internal and not attachable. Its only members are tasks of services, which managers make; from
 * the nodes themselves no way leads into it, nor out of it.
 *
 * Thread: any; waits for the answers. */
#include <stdbool.h>
#include <stddef.h>

#include "daemon/base/error.h"

struct http;

struct swarm_making {
	const char *image; /* its id, or a name that the nodes pull */
	const char *socket; /* of the engines, on their nodes; it may have Docker's templates, as "{{.Node.Hostname}}" */
	bool is_encrypted;  /* the packets of the overlay */
	/* Of wire_keys_read(). Left alone if the swarm has keys. */
	const char *agent_keys, *daemon_keys;
};

/* FAILED_PRECONDITION: what is there is another owner's, or was made with another is_encrypted, or only half of it is left. */
enum status swarm_service_make(struct http *http, const struct swarm_making *making, struct error *err);
/* Waits until the tasks have ended, for a minute at most. @ret_found: there was something.
 * FAILED_PRECONDITION: something has stayed; the text says what. */
enum status swarm_service_remove(struct http *http, bool *ret_found, struct error *err);
/* The image that the service runs, or NULL; the caller frees it. NOT_FOUND: there is no service. */
enum status swarm_service_image(struct http *http, char **ret_image, struct error *err);

/* What the daemons of any instance run on an engine now. */
struct swarm_leases {
	size_t replicas, devices;
};
enum status swarm_leases_ask(struct http *http, struct swarm_leases *ret_leases, struct error *err);
