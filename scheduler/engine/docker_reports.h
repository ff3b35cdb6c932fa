/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_reports.h: fetches the files that containers report to, if this machine's directory is not
 * mounted in them (docker_given.h): regularly while the container runs, and before its end is reported.
 *
 * Copies of the files directly in the container's directory are put into engine_options.reports_dir/JOB. A reader never
 * sees a partly written copy.
 * Thread: the engine's. */
#include <jansson.h>
#include <stdbool.h>

struct docker;
struct replica_key;

/* Begins to fetch a container's report files if its labels request it. Does nothing if this has already begun. */
void reports_follow(struct docker *docker, const json_t *labels, const struct replica_key *key);
/* Fetches the files for the last time and then calls @then; at once if there is nothing to fetch. @is_lost: the
 * engine does not answer; the caller has to call this again when the engine is back. */
void reports_finish(struct docker *docker, const struct replica_key *key,
		    void (*then)(void *arg, bool is_lost), void *arg);
/* Frees the reports. To be called after the last exchange and the last timer. */
void reports_close(struct docker *docker);
