/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/address_file.h: the file "address" of a state directory, which tells other commands how to reach the daemon.
 *
 * Four lines: the URL or "unix:/PATH", the path of the file with its token (or nothing), its process id, and the port of
 * gRPC (0: not served). The daemon removes the file when it ends; a killed daemon leaves it, which the process id reveals. */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct address {
	char *url;        /* NULL: no daemon has written one */
	char *token_file; /* absolute; NULL: the daemon asks for no token */
	pid_t pid;        /* 0: not known */
	uint16_t grpc_port; /* 0: not served, or not known */
};
#define AUTO_ADDRESS __attribute__((cleanup(address_deinit)))

/* Sets @ret_address from the file, if there is one. Lines of another form are ignored. */
void address_file_read(const char *state_dir, struct address *ret_address);
void address_deinit(struct address *address);
/* Whether the daemon that wrote it serves @state_dir now: only then may the token be sent to that address. */
bool address_is_live(const struct address *address, const char *state_dir);

/* @token_file: NULL: none. A failure is only logged, because the daemon works without the file. */
void address_file_write(const char *state_dir, const char *url, const char *token_file, uint16_t grpc_port);
void address_file_remove(const char *state_dir);
