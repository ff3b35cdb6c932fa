/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/shell_terminals.h: connects the web shell to the engine's terminals. Thread: any. */
#include "api/emulator/shell_terminal.h"
#include "scheduler/engine/engine.h"

/* Like engine->ops->open_terminal, with the web shell's types, in the replica's current container. */
enum status engine_shell_open(struct engine *engine, const struct replica_key *replica, const json_t *command,
			      enum shell_kind kind, struct shell_terminal **ret_terminal, struct error *err);
