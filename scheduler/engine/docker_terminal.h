/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_terminal.h: a program beside a container's own, on a terminal or through pipes: an exec of the engine.
 *
 * What engines do when such a connection is closed (seen with 20.10): nothing. The program's terminal stays open
 * inside the engine and the program is neither told nor ended: a shell waits at its prompt for as long as the
 * container runs. The API has no call that ends an exec, and the pid that it tells is the host's, of no use
 * inside. So a program that still runs is ended from beside: a second exec, of a script for any sh, sends SIGHUP,
 * and a second later SIGKILL, to each process that has this terminal's mark in its environment. All that was
 * begun on the terminal ends with it, also what ignores hangups. (What a program that ended by itself has
 * left running goes on, as with any terminal.)
 * In a container without sh, Ctrl-C and Ctrl-D are typed instead, at which most prompts end. When the daemon
 * itself is killed there is nobody to close: its terminals' programs then end with the container.
 *
 * Thread: any. Nothing here belongs to the engine's thread, and a terminal may outlive the engine's close. */
#include <jansson.h>

#include "daemon/base/error.h"
#include "scheduler/engine/engine.h"

struct endpoint;

/* Where it is opened. Strings are borrowed for the call only. */
struct terminal_target {
	struct endpoint *endpoint;
	const char *api_version, *container;
	unsigned patience_ms; /* for each of the few questions that it takes */
};

/* As engine_ops.open_terminal; a terminal begins with 80 columns and 24 rows. */
enum status docker_terminal_open(const struct terminal_target *place, const json_t *command,
				 enum terminal_kind kind, struct terminal **ret_terminal, struct error *err);
