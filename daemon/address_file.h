/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/address_file.h: the file "address" of a state directory, by which a daemon tells other commands where it serves.
 *
 * Three lines: the URL or "unix:/PATH", the path of the file with its token (or nothing), and its process id. The daemon
 * removes the file at its end; one that was killed leaves it, and the process id tells that it is stale. */
#include <stdbool.h>
#include <sys/types.h>

struct address {
	char *url;        /* NULL: no daemon has written one */
	char *token_file; /* absolute; NULL: the daemon asks for no token */
	pid_t pid;        /* 0: not known */
};
#define AUTO_ADDRESS __attribute__((cleanup(address_deinit)))

/* Fills @ret_address, whatever there is. Lines of another form are left out. */
void address_file_read(const char *state_dir, struct address *ret_address);
void address_deinit(struct address *address);
/* Whether the daemon that wrote it runs on @state_dir now: only then is the token meant for what answers there. */
bool address_is_live(const struct address *address, const char *state_dir);

/* @token_file: NULL: none. A daemon without such a file serves as well: a failure is logged. */
void address_file_write(const char *state_dir, const char *url, const char *token_file);
void address_file_remove(const char *state_dir);
