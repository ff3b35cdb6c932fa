/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_orphans.h: the containers and networks that Docker has of any instance. */
#include <jansson.h>
#include <stdbool.h>

#include "scheduler/engine/orphans.h"

struct docker;

/* Adds the orphans in an answer of GET /containers/json, or of GET /networks, which has hostile texts. A container with our label
 * and a name that is none of ours is not ours: an image made of one of our containers gives its labels to the user's own. */
void orphans_add(struct orphans *list, enum orphan_kind kind, const json_t *answer);

/* Asks the engine once for what instances without a daemon have left in it, and names that in the log. It is left alone: their
 * daemons may come back. Waits for nothing. */
void orphans_look(struct docker *docker);
