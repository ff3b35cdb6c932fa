/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_orphans.h: the containers and networks that Docker has of any instance. */
#include <jansson.h>
#include <stdbool.h>

#include "scheduler/engine/orphans.h"

struct docker;

/* Adds those of GET /containers/json, or of GET /networks, whose texts are hostile. What has our label and not a name of
 * ours is not ours: an image that was made of a container of ours gives its labels to containers of other people. */
void orphans_add(struct orphans *list, enum orphan_kind kind, const json_t *answer);

/* Asks the engine once for what instances without a daemon have left in it, and names that in the log. It is left alone: their
 * daemons may come back. Waits for nothing. */
void orphans_look(struct docker *docker);
