/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_terminal.h: a second program in a container, on a terminal or through pipes: an exec of the
 * engine.
 *
 * When such a connection is closed, engines do nothing (observed with 20.10): the terminal stays open inside the engine
 * and the program is not signalled, so a shell waits at its prompt for as long as the container runs. The API has no
 * call to end an exec, and the pid that it reports is the host's, which cannot be used inside the container. A program
 * that still runs is therefore ended by a second exec: a shell script sends SIGHUP, and a second later SIGKILL, to each
 * process that has this terminal's mark in its environment. This also ends all processes that were started on the
 * terminal, including those that ignore hangups. (If the program ended by itself, processes that it left go on, as with
 * any terminal.) In a container without sh, Ctrl-C and Ctrl-D are typed instead, which end most prompts. If the daemon
 * is killed, nothing closes its terminals; their programs then end with the container.
 *
 * Thread: any. Nothing here belongs to the engine's thread, and a terminal may outlive the engine's close. */
#include <jansson.h>

#include "daemon/base/error.h"
#include "scheduler/engine/engine.h"

struct endpoint;

/* The container to open a terminal in. Strings are borrowed for the call only. */
struct terminal_target {
	struct endpoint *endpoint;
	const char *api_version, *container;
	unsigned patience_ms; /* the time limit of each of the few requests that opening a terminal needs */
};

/* As open_terminal() in struct engine_ops; a terminal has 80 columns and 24 rows at first. */
enum status docker_terminal_open(const struct terminal_target *place, const json_t *command,
				 enum terminal_kind kind, struct terminal **ret_terminal, struct error *err);
