/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/config_listen.h: parses --listen and --grpc: an address with a port, or a path. Pure. Thread: any. */
#include <stdbool.h>
#include <stdint.h>

struct text;

enum { LISTEN_ADDRESS_SIZE = 64 };

/* Splits "127.0.0.1:8090", "[::1]:0" or "localhost:8090" into the address, without brackets, and the port. Returns false
 * if @listen has another form. */
bool config_listen_split(const char *listen, char ret_address[LISTEN_ADDRESS_SIZE], uint16_t *ret_port);
/* Returns the "/path" of "unix:/path", borrowed; NULL: @listen is not a path. */
const char *config_listen_path(const char *listen);
/* Returns true if only users and containers of this machine can connect: 127.0.0.0/8, ::1, or a path. */
bool config_listen_is_local(const char *listen);
/* Appends "http://127.0.0.1:8090", the URL for clients on this machine: a wildcard address becomes loopback. */
void config_url_write(struct text *text, const char *address, uint16_t port);
