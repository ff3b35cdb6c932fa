/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/training/program.h: what a replica's program is given, as clients are told it. Pure; thread: any. */
#include <jansson.h>

#include "daemon/base/error.h"
#include "scheduler/plan/plan.h"

/* What its gateway adds to the environment is known when it runs, so $(NAME) of that is told as it is written.
 * Of a package the command is what runs once it is installed.
 * Choice: the launcher's text, the same for all jobs, is not told. */
struct program {
	json_t *environment, *command, *args; /* "NAME=value" each; the others may be NULL */
};

/* @ret_program holds nothing yet; program_deinit() after any outcome. */
enum status program_make(const struct plan *plan, enum role role, unsigned index, struct program *ret_program,
			 struct error *err);
void program_deinit(struct program *program);
#define AUTO_PROGRAM __attribute__((cleanup(program_deinit)))

/* {"NAME": "value"}: its environment. The caller's. */
json_t *program_environment(const struct program *program);

/* For each pool of a plan what its first replica is given. */
struct programs {
	json_t *command_lines; /* {"POOL": "docker run …"}: scheduler/plan/command_line.h */
	json_t *environments;  /* {"POOL": {"NAME": "value"}} */
};
enum status programs_make(const struct plan *plan, struct programs *ret_programs, struct error *err);
void programs_deinit(struct programs *programs);
#define AUTO_PROGRAMS __attribute__((cleanup(programs_deinit)))
