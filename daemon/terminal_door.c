/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/terminal_door.h"

#include <stdlib.h>

#include "daemon/base/memory.h"
#include "scheduler/job_run.h"

struct door {
	struct shell_terminal shell; /* first */
	struct terminal *terminal;
};

static struct terminal *behind(struct shell_terminal *shell)
{
	return ((struct door *)shell)->terminal;
}

static ssize_t door_read(struct shell_terminal *shell, char *buffer, size_t size, unsigned timeout_ms)
{
	return behind(shell)->ops->read(behind(shell), buffer, size, timeout_ms);
}

static bool door_write(struct shell_terminal *shell, const char *data, size_t length)
{
	return behind(shell)->ops->write(behind(shell), data, length);
}

static void door_end_input(struct shell_terminal *shell)
{
	behind(shell)->ops->end_input(behind(shell));
}

static void door_resize(struct shell_terminal *shell, unsigned columns, unsigned rows)
{
	behind(shell)->ops->resize(behind(shell), columns, rows);
}

static int door_exit_code(struct shell_terminal *shell)
{
	return behind(shell)->ops->exit_code(behind(shell));
}

static void door_close(struct shell_terminal *shell)
{
	behind(shell)->ops->close(behind(shell));
	free(shell);
}

static const struct shell_terminal_ops door_ops = {
	.read = door_read,
	.write = door_write,
	.end_input = door_end_input,
	.resize = door_resize,
	.exit_code = door_exit_code,
	.close = door_close,
};

/* Only the engine knows how often the replica was started anew; of its containers there is one at a time. */
static enum status terminal_find(struct engine *engine, const struct replica_key *replica,
				 const json_t *command, enum shell_kind kind, struct terminal **ret_terminal,
				 struct error *err)
{
	const enum terminal_kind joined = kind == SHELL_PIPES ? TERMINAL_PIPES : TERMINAL_SCREEN;
	struct replica_key key = *replica;
	enum status rc;

	do
		rc = engine->ops->open_terminal(engine, &key, command, joined, ret_terminal, err);
	while (rc == STATUS_NOT_FOUND && key.restart++ < REPLICA_RESTARTS_MAX);
	return rc;
}

enum status terminal_door_open(struct engine *engine, const struct replica_key *replica,
			       const json_t *command, enum shell_kind kind,
			       struct shell_terminal **ret_terminal, struct error *err)
{
	struct door *door = memory_calloc(1, sizeof(*door));
	enum status rc;

	rc = terminal_find(engine, replica, command, kind, &door->terminal, err);
	if (rc) {
		free(door);
		return rc;
	}
	door->shell.ops = &door_ops;
	*ret_terminal = &door->shell;
	return STATUS_OK;
}
