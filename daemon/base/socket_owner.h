/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/base/socket_owner.h: finds the process that owns a socket of this machine, for messages.
 *
 * Sockets and their users come from the kernel's list (sock_diag), which no process can forge; names in /proc/net/unix
 * may contain line ends. Only root and the process's own user can see which process has a socket. Sockets of other
 * network namespaces are not seen. Thread: any.
 * Source: https://man7.org/linux/man-pages/man7/sock_diag.7.html (read 2026-11-25) */
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "daemon/base/text.h"

#define SOCKET_USER_UNKNOWN ((uid_t)-1)

struct socket_owner {
	uint32_t inode;
	uid_t uid;        /* or SOCKET_USER_UNKNOWN */
	pid_t pid;        /* 0: not known */
	char program[32]; /* the process's name, safe to print */
};

/* Calls @visit for each socket that has an abstract name without NUL; the process of the owner is not looked up. Returns
 * false if the kernel has no list of sockets. */
bool socket_owner_visit_abstract(void (*visit)(void *arg, const char *name, const struct socket_owner *owner),
				 void *arg);

/* Finds the process that listens on the TCP port of @address, on that address or on all. Returns false if none was
 * found. */
bool socket_owner_find_listener(const struct sockaddr *address, struct socket_owner *ret_owner);

/* Sets the process of @owner, and the user if it is unknown. */
void socket_owner_find_process(struct socket_owner *owner);

/* Sets only the name of the process of @owner. */
void socket_owner_name_program(struct socket_owner *owner);

/* Appends "process 123 (nginx) of user 33", or the part of it that is known. */
void socket_owner_write(struct text *text, const struct socket_owner *owner);
