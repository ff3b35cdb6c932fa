/* SPDX-License-Identifier: Apache-2.0 */
#include "api/training/program.h"

#include <string.h>

#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "scheduler/plan/command_line.h"
#include "scheduler/plan/dialect.h"

/* Returns the command to show: for a Python package the one that runs after the launcher has installed it, otherwise
 * @command (NULL: the image's own). Takes ownership of @command. */
static json_t *expanded_command(const struct pool *pool, json_t *command)
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
	ret_program->command = expanded_command(&plan->pools[role], ret_program->command);
	return STATUS_OK;
}

void program_deinit(struct program *program)
{
	json_decref(program->environment);
	json_decref(program->command);
	json_decref(program->args);
}

/* If two variables have the same name, the last one counts, at the position of the first. */
json_t *program_environment(const struct program *program)
{
	json_t *object = json_object();
	const json_t *variable;
	size_t i;

	json_array_foreach(program->environment, i, variable) {
		const char *text = json_string_value(variable);
		const char *equals = strchr(text, '=');
		AUTO(string) char *name = memory_strndup(text, (size_t)(equals - text));

		json_object_set_new(object, name, json_string(equals + 1));
	}
	return object;
}

static enum status pool_add(json_t *lines, json_t *environments, const struct plan *plan, enum role role,
			    struct error *err)
{
	const char *pool = dialect_of(plan)->pools[role];
	struct program program AUTO_PROGRAM = { 0 };
	AUTO(string) char *line = NULL;
	enum status rc = program_make(plan, role, 0, &program, err);

	if (rc)
		return rc;
	line = command_line_text(plan->pools[role].image, program.command, program.args);
	json_object_set_new(lines, pool, json_string(line));
	json_object_set_new(environments, pool, program_environment(&program));
	return STATUS_OK;
}

enum status programs_make(const struct plan *plan, struct programs *ret_programs, struct error *err)
{
	struct programs programs AUTO_PROGRAMS = { json_object(), json_object() };
	enum status rc = STATUS_OK;

	for (int role = 0; !rc && role < ROLE_COUNT; role++)
		if (plan->pools[role].count)
			rc = pool_add(programs.command_lines, programs.environments, plan, (enum role)role,
				      err);
	if (rc)
		return rc;
	*ret_programs = programs;
	programs = (struct programs){ NULL, NULL };
	return STATUS_OK;
}

void programs_deinit(struct programs *programs)
{
	json_decref(programs->command_lines);
	json_decref(programs->environments);
}
