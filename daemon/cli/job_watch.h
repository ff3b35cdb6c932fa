/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/job_watch.h: follows the daemon's stream of changed jobs, for `wait` and `jobs --watch`.
 *
 * Thread: the first. */
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/error.h"

struct client;

struct job_watch {
	const char *project, *filter; /* NULL: all jobs */
	/* Called with each line: {"all": true}, {"uid", "job"}, {"uid", "removed"} or {"position"}; returns false to
	 * stop reading. */
	bool (*take)(void *arg, const json_t *line);
	bool (*tick)(void *arg); /* called about once a second; returns false to stop reading; NULL: none */
	void *arg;
	char *position; /* from the last position line: the next reading continues there; NULL: begins with all jobs */
};

void job_watch_deinit(struct job_watch *watch);
#define AUTO_JOB_WATCH __attribute__((cleanup(job_watch_deinit)))

/* Reads until @take or @tick returns false, or the daemon ends the stream. UNAVAILABLE: the connection broke, the
 * daemon does not answer, or @limit_us (0: none) is over. */
enum status job_watch_read(struct job_watch *watch, struct client *client, int64_t limit_us,
			   struct error *err);
