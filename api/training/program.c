/* SPDX-License-Identifier: Apache-2.0 */
#include "api/training/program.h"

#include "daemon/base/json.h"
#include "scheduler/plan/command_line.h"
#include "scheduler/plan/dialect.h"

/* Takes @command. NULL without a command. */
static json_t *told_command(const struct pool *pool, json_t *command)
{
	if (!pool->python_module)
		return command;
	json_decref(command);
	return json_pack("[s, s, s]", pool->python, "-m", pool->python_module);
}

enum status program_make(const struct plan *plan, enum role role, unsigned index, struct program *ret_program,
			 struct error *err)
{
	enum status rc = replica_environment(plan, role, index, &ret_program->environment, err);

	if (!rc)
		rc = replica_environment_extend(plan, role, ret_program->environment, err);
	if (!rc)
		rc = replica_command(plan, role, ret_program->environment, &ret_program->command,
				     &ret_program->args, err);
	if (rc)
		return rc;
	ret_program->command = told_command(&plan->pools[role], ret_program->command);
	return STATUS_OK;
}

void program_deinit(struct program *program)
{
	json_decref(program->environment);
	json_decref(program->command);
	json_decref(program->args);
}

static enum status command_line_add(json_t *lines, const struct plan *plan, enum role role, struct error *err)
{
	struct program program AUTO_PROGRAM = { 0 };
	AUTO(string) char *line = NULL;
	enum status rc = program_make(plan, role, 0, &program, err);

	if (rc)
		return rc;
	line = command_line_text(plan->pools[role].image, program.command, program.args);
	json_object_set_new(lines, dialect_of(plan)->pools[role], json_string(line));
	return STATUS_OK;
}

enum status command_lines_make(const struct plan *plan, json_t **ret_lines, struct error *err)
{
	AUTO(json) json_t *lines = json_object();
	enum status rc = STATUS_OK;

	for (int role = 0; !rc && role < ROLE_COUNT; role++)
		if (plan->pools[role].count)
			rc = command_line_add(lines, plan, (enum role)role, err);
	if (!rc)
		*ret_lines = TAKE(lines);
	return rc;
}
