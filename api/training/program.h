/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/training/program.h: the command and the environment of a replica's program, as clients see them. Pure. Thread:
 * any. */
#include <jansson.h>

#include "daemon/base/error.h"
#include "scheduler/plan/plan.h"

/* The variables that the job's gateway adds to the environment are known only at run time, so a reference to one of
 * them, $(NAME), stays as it is. For a Python package the command is the one that runs after its installation.
 * Choice: the launcher's own code, which is the same for all jobs, is not shown. */
struct program {
	json_t *environment, *command, *args; /* environment: "NAME=value" each; the others may be NULL */
};

/* Makes the command and the environment of a replica. @ret_program must be empty; program_deinit() after any
 * outcome. */
enum status program_make(const struct plan *plan, enum role role, unsigned index, struct program *ret_program,
			 struct error *err);
void program_deinit(struct program *program);
#define AUTO_PROGRAM __attribute__((cleanup(program_deinit)))

/* The program's environment as {"NAME": "value"}: a new reference. */
json_t *program_environment(const struct program *program);

/* For each pool of a plan the program of its first replica. */
struct programs {
	json_t *command_lines; /* {"POOL": "docker run …"}: scheduler/plan/command_line.h */
	json_t *environments;  /* {"POOL": {"NAME": "value"}} */
};
enum status programs_make(const struct plan *plan, struct programs *ret_programs, struct error *err);
void programs_deinit(struct programs *programs);
#define AUTO_PROGRAMS __attribute__((cleanup(programs_deinit)))
