/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/address_file.h: the file "address" of a state directory, which tells other commands how to reach the daemon.
 *
 * It has four lines: the URL or "unix:/PATH", the path of the file with the daemon's token (or nothing), its process id,
 * and the port of gRPC (0: not served). The daemon removes the file when it ends. A killed daemon leaves the file, and
 * another process may get its port: nothing may be sent to an outdated address. */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct address {
	char *url;        /* "http://HOST:PORT" or "unix:/PATH"; NULL: there is no file */
	char *token_file; /* absolute path; NULL: the daemon requires no token */
	pid_t pid;        /* 0: not known */
	uint16_t grpc_port; /* 0: gRPC is not served, or the port is unknown */
	bool is_outdated;   /* the daemon that wrote the file has ended */
};
#define AUTO_ADDRESS __attribute__((cleanup(address_deinit)))

/* Sets @ret_address from the file, if there is one. Lines of another form are ignored. */
void address_file_read(const char *state_dir, struct address *ret_address);
void address_deinit(struct address *address);
/* Returns true if the daemon that wrote the file serves @state_dir now. Only then may the token be sent to that address. */
bool address_is_live(const struct address *address, const char *state_dir);

/* Writes the file. @token_file NULL: no token is required. A failure is only logged, because the daemon works without
 * the file. */
void address_file_write(const char *state_dir, const char *url, const char *token_file, uint16_t grpc_port);
void address_file_remove(const char *state_dir);
