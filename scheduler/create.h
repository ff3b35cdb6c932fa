/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/create.h: builds the descriptions from which the engine makes a job's containers. Thread: the scheduler's. */
#include <jansson.h>
#include <stdbool.h>

#include "scheduler/engine/engine.h"
#include "scheduler/plan/dialect.h"

struct job_run;
struct reconciler;
struct replica_key;
struct replica_run;

/* The description of one container, with the memory that the engine's struct points to. */
struct description {
	struct replica_spec spec;
	json_t *environment, *hosts, *mounts, *command, *args;
	char hostname[REPLICA_NAME_MAX], alias[REPLICA_NAME_MAX], address[16];
};
void description_deinit(struct description *description);
#define AUTO_DESCRIPTION __attribute__((cleanup(description_deinit)))

/* Fills @description, which must be zeroed.
 * False: the container cannot be described, and the replica is refused. */
bool replica_describe(const struct reconciler *reconciler, const struct job_run *run,
		      struct replica_run *replica, struct description *description);
/* The command line that the replica was started with, as command_line_text() has it. NULL: the launcher started it and
 * prints its commands itself, or its container cannot be described. The caller frees. */
char *replica_command_line(const struct reconciler *reconciler, const struct job_run *run,
			   const struct replica_key *key);
