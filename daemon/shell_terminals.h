/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/engine_shell.h: the engine's terminals as the web shell takes them. Thread: any. */
#include "api/emulator/shell_terminal.h"
#include "scheduler/engine/engine.h"

/* As engine->ops->open_terminal, with the names of the other side; in the container that the replica has now. */
enum status engine_shell_open(struct engine *engine, const struct replica_key *replica, const json_t *command,
			      enum shell_kind kind, struct shell_terminal **ret_terminal, struct error *err);
