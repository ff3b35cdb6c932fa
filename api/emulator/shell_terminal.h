/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/emulator/shell_terminal.h: a second program in a replica's container, as shells use it. One thread may read while
 * another writes; close() comes after both. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/base/replica.h"

struct shell_terminal;

/* As the engine's enum terminal_kind. With SHELL_PIPES, output is read in frames. */
enum shell_kind { SHELL_TERMINAL, SHELL_PIPES };

struct shell_terminal_ops {
	/* Reads output as it comes: the number of bytes; 0: none within @timeout_ms; -1: the program has ended. */
	ssize_t (*read)(struct shell_terminal *terminal, char *buffer, size_t size, unsigned timeout_ms);
	/* Writes input. False: the program has ended, or has read nothing for some seconds. */
	bool (*write)(struct shell_terminal *terminal, const char *data, size_t length);
	/* Ends the input of SHELL_PIPES. */
	void (*end_input)(struct shell_terminal *terminal);
	void (*resize)(struct shell_terminal *terminal, unsigned columns, unsigned rows);
	/* The exit code of a program that has ended; -1: unknown. */
	int (*exit_code)(struct shell_terminal *terminal);
	/* Ends the connection: the program gets SIGHUP. */
	void (*close)(struct shell_terminal *terminal);
};

/* The first member of every implementation's struct. */
struct shell_terminal {
	const struct shell_terminal_ops *ops;
};
