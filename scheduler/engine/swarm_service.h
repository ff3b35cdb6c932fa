/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/swarm_service.h: makes the agents of a swarm (swarm_agents.h) and removes them, through a
 * manager's engine. Each call may be repeated: it continues where an earlier one has stopped.
 *
 * Choice: the overlay is internal and not attachable. Its only members are tasks of services, which managers make; it
 * cannot be reached from the nodes themselves, and they cannot be reached from it.
 *
 * Thread: any; waits for the answers. */
#include <stdbool.h>
#include <stddef.h>

#include "daemon/base/error.h"

struct http;

struct swarm_making {
	const char *image; /* the image's id, or a name from which the nodes pull it */
	const char *socket; /* the path of the engines' socket on their nodes; it may have Docker's templates, such as
			     * "{{.Node.Hostname}}" */
	bool is_encrypted;  /* the overlay's packets between nodes are encrypted */
	/* The keys as wire_keys_read() takes them. They are not used if the swarm has keys already. */
	const char *agent_keys, *daemon_keys;
};

/* Makes the agents' objects that do not exist yet. FAILED_PRECONDITION: an object belongs to another owner or was made
 * with another is_encrypted, or the keys do not belong together while agents run. ABORTED: another program makes them
 * at the same time. */
enum status swarm_service_make(struct http *http, const struct swarm_making *making, struct error *err);
/* Removes the agents. Waits up to a minute until their tasks have ended. @ret_found: there was something to remove.
 * FAILED_PRECONDITION: an object could not be removed; the text says which. */
enum status swarm_service_remove(struct http *http, bool *ret_found, struct error *err);
/* Returns the image that the service runs, or NULL; the caller frees it. NOT_FOUND: there is no service. */
enum status swarm_service_image(struct http *http, char **ret_image, struct error *err);

/* The number of replicas that the daemons of any instance run on an engine now, and of the devices that they use. */
struct swarm_leases {
	size_t replicas, devices;
};
enum status swarm_leases_ask(struct http *http, struct swarm_leases *ret_leases, struct error *err);
