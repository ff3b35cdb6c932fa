/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/shell_terminals.h"

#include <stdlib.h>

#include "daemon/base/memory.h"
#include "scheduler/job_run.h"

struct inner_endpoint {
	struct shell_terminal shell; /* must be the first member: a pointer to it is cast to a pointer to this struct */
	struct terminal *terminal;
};

static struct terminal *behind(struct shell_terminal *shell)
{
	return ((struct inner_endpoint *)shell)->terminal;
}

static ssize_t endpoint_read(struct shell_terminal *shell, char *buffer, size_t size, unsigned timeout_ms)
{
	return behind(shell)->ops->read(behind(shell), buffer, size, timeout_ms);
}

static bool endpoint_write(struct shell_terminal *shell, const char *data, size_t length)
{
	return behind(shell)->ops->write(behind(shell), data, length);
}

static void endpoint_end_input(struct shell_terminal *shell)
{
	behind(shell)->ops->end_input(behind(shell));
}

static void endpoint_resize(struct shell_terminal *shell, unsigned columns, unsigned rows)
{
	behind(shell)->ops->resize(behind(shell), columns, rows);
}

static int endpoint_exit_code(struct shell_terminal *shell)
{
	return behind(shell)->ops->exit_code(behind(shell));
}

static void inner_endpoint_close(struct shell_terminal *shell)
{
	behind(shell)->ops->close(behind(shell));
	free(shell);
}

static const struct shell_terminal_ops endpoint_ops = {
	.read = endpoint_read,
	.write = endpoint_write,
	.end_input = endpoint_end_input,
	.resize = endpoint_resize,
	.exit_code = endpoint_exit_code,
	.close = inner_endpoint_close,
};

/* Tries restart numbers from 0, because only the engine knows how often the replica was restarted; at most one container
 * of the replica exists at a time. */
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

enum status engine_shell_open(struct engine *engine, const struct replica_key *replica, const json_t *command,
			      enum shell_kind kind, struct shell_terminal **ret_terminal, struct error *err)
{
	struct inner_endpoint *endpoint = memory_calloc(1, sizeof(*endpoint));
	enum status rc;

	rc = terminal_find(engine, replica, command, kind, &endpoint->terminal, err);
	if (rc) {
		free(endpoint);
		return rc;
	}
	endpoint->shell.ops = &endpoint_ops;
	*ret_terminal = &endpoint->shell;
	return STATUS_OK;
}
