/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* tests/support/asked_server.h: an HTTP server at a unix socket that records its requests. It serves one connection
 * after the other, each with one request; a body must be JSON. It allocates no memory, because allocations may be made
 * to fail. */
#include <stddef.h>

/* @answer is sent for each request, and borrowed until the server is closed. There can be one server at a time. */
void asked_server_open(const char *path, const char *answer, size_t answer_bytes);
void asked_server_close(void);

/* Waits until all connections made before this call have ended. Returns their complete requests, in their order, and
 * forgets them. */
const char *asked_take(void);
