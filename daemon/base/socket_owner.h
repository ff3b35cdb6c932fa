/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/base/socket_owner.h: which process has a socket of this machine, so that a message can name it.
 *
 * The sockets, and their users, are the kernel's own list (sock_diag), which no process can forge: names of sockets in
 * /proc/net/unix may hold line ends. Only root and its own user see which process has a socket. Sockets of other network
 * namespaces are not seen. Thread: any.
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
	char program[32]; /* its name, harmless to print */
};

/* Calls @visit for each socket with an abstract name that has no NUL; the process is not looked up. False: the kernel has
 * no such list. */
bool socket_owner_visit_abstract(void (*visit)(void *arg, const char *name, const struct socket_owner *owner),
				 void *arg);

/* The process that listens at the TCP port of @address, on that address or on all. False: none is found. */
bool socket_owner_find_listener(const struct sockaddr *address, struct socket_owner *ret_owner);

/* Looks up the process, and the user where it is not known. */
void socket_owner_find_process(struct socket_owner *owner);

/* Looks up the name of its process alone. */
void socket_owner_name_program(struct socket_owner *owner);

/* "process 123 (nginx) of user 33", or as much of it as is known. */
void socket_owner_write(struct text *text, const struct socket_owner *owner);
