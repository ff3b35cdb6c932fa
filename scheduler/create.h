/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/create.h: what the containers of a job are made of. Thread: the scheduler's. */
#include <jansson.h>
#include <stdbool.h>

#include "scheduler/engine/engine.h"
#include "scheduler/plan/dialect.h"

struct job_run;
struct reconciler;
struct replica_key;
struct replica_run;

/* Of one container, with all that the engine's own form of it points to, and the run. */
struct description {
	struct replica_spec spec;
	json_t *environment, *hosts, *mounts, *command, *args;
	char hostname[REPLICA_NAME_MAX], alias[REPLICA_NAME_MAX], address[16];
};
void description_deinit(struct description *description);
#define AUTO_DESCRIPTION __attribute__((cleanup(description_deinit)))

/* @gcs: where Cloud Storage is as files; NULL: nowhere. False: it cannot be described; the replica is refused. Filled into
 * @description, which was empty. */
bool replica_describe(const struct reconciler *reconciler, const struct job_run *run,
		      struct replica_run *replica, const char *gcs, struct description *description);
/* What the replica was started with, command_line_text(). NULL: the launcher was, which tells its commands itself, or it
 * cannot be described. The caller frees. */
char *replica_command_line(const struct reconciler *reconciler, const struct job_run *run,
			   const struct replica_key *key);
