/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/emulator/shell_terminal.h: a program beside a replica's own, as shells need it from the engine's side.
 * One thread may read while another writes; close() comes after both. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/base/replica.h"

struct shell_terminal;

/* As enum terminal_kind of the engine: through pipes what is read comes in frames. */
enum shell_kind { SHELL_TERMINAL, SHELL_PIPES };

struct shell_terminal_ops {
	/* What was printed, as it comes: the number of bytes; 0: nothing within @timeout_ms; -1: it is over. */
	ssize_t (*read)(struct shell_terminal *terminal, char *buffer, size_t size, unsigned timeout_ms);
	/* What is typed. False: it is over, or the program has taken nothing for some seconds. */
	bool (*write)(struct shell_terminal *terminal, const char *data, size_t length);
	/* The end of what is typed, of SHELL_PIPES. */
	void (*end_input)(struct shell_terminal *terminal);
	void (*resize)(struct shell_terminal *terminal, unsigned columns, unsigned rows);
	/* Of a program that is over; -1: not known. */
	int (*exit_code)(struct shell_terminal *terminal);
	/* Ends the connection: the program gets a hangup. */
	void (*close)(struct shell_terminal *terminal);
};

/* Implementations begin with this. */
struct shell_terminal {
	const struct shell_terminal_ops *ops;
};
