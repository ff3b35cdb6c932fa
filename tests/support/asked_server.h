/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* tests/support/asked_server.h: an HTTP server at a unix socket that keeps what it was asked. One connection after the
 * other, each of one request; its body, if any, is JSON. It asks for no memory, which may be made to fail. */
#include <stddef.h>

/* @answer is sent to all, and borrowed until the server is closed. One server at a time. */
void asked_server_open(const char *path, const char *answer, size_t answer_bytes);
void asked_server_close(void);

/* Once all connections before this call are over: what they asked for whole, in their order. It is forgotten the next
 * time. */
const char *asked_take(void);
