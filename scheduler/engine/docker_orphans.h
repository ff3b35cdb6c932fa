/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_orphans.h: finds the containers and networks of all instances in Docker. */
#include <jansson.h>
#include <stdbool.h>

#include "scheduler/engine/orphans.h"

struct docker;

/* Adds the objects in an answer of GET /containers/json or GET /networks, or in an array of volumes. The answer's texts
 * are untrusted. A container with our label but without a name of ours is skipped: an image made from one of our
 * containers passes its labels on to the user's own containers. */
void orphans_add(struct orphans *list, enum orphan_kind kind, const json_t *answer);

/* Asks the engine once for orphans of instances without a daemon, and logs them. They are not removed, because their
 * daemons may come back. Does not wait. */
void orphans_look(struct docker *docker);
