/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_claims.h: the GPUs that this instance has for itself among all instances of the engine, also if
 * their daemons are in other containers or network namespaces, or on other machines.
 *
 * A claim of a GPU is a volume in the engine, "ty-INSTANCE-gpu-HASH", with the GPU's id as a label. A daemon makes its
 * claims and lists the claims of all instances after that, so that of two daemons that claim a GPU at the same time at
 * least one sees the other's claim. That daemon removes its own claim. If both see the other's claim, only one daemon
 * removes its own; the other one, with the instance that sorts first, waits and looks again. A running container with
 * the GPU holds it too, as its label says, so a GPU stays with the jobs of a daemon that was killed.
 * A claim without such a container counts only while its daemon is alive, which the instance's marker shows
 * (docker_elsewhere.h). A daemon checks this after it has made its own claim: one that starts later sees that claim.
 * Choice: no claims on an engine that refuses volumes (403, 404, 405, 501) or gives containers no GPUs. */
#include <stddef.h>

struct claims;
struct command;
struct docker;

/* Claims the GPUs in command->body and drops the others; answered by ENGINE_DEVICES_CLAIMED with command->number. A newer
 * order replaces one that waits. Thread: the engine's. */
void claims_order_run(struct docker *docker, struct command *command);
/* To be called with each piece of the events of removed volumes: claims again, and answers the last order again, if a
 * claim was removed, such as by `docker volume prune`. Thread: the engine's. */
void claims_watch(struct docker *docker, const char *data, size_t length);
void claims_free(struct claims *claims);
