/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_reports.h: files that containers report to, fetched from those that do not have this machine's
 * directory mounted (docker_given.h): while the container runs, and before its end is told.
 *
 * The files right in the container's directory are then in engine_options.reports_dir/JOB, each as it was at one moment.
 * Thread: the engine's. */
#include <jansson.h>
#include <stdbool.h>

struct docker;
struct replica_key;

/* Begins to fetch, where the labels of the container say so. Harmless when it has begun. */
void reports_follow(struct docker *docker, const json_t *labels, const struct replica_key *key);
/* Fetches for the last time, then calls @then, at once where there is nothing to be fetched. @is_lost: the engine does not
 * answer; it is to be asked again once it does. */
void reports_finish(struct docker *docker, const struct replica_key *key,
		    void (*then)(void *arg, bool is_lost), void *arg);
/* After the last exchange and the last timer. */
void reports_close(struct docker *docker);
