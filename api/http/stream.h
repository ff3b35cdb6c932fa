/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/http/stream.h: an answer that is made while it is sent, as libmicrohttpd requests it.
 * Thread: the connection's. */
#include <microhttpd.h>
#include <stdbool.h>

struct exchange;

/* Whether the client of socket @fd has left; libmicrohttpd does not notice this while nothing is sent. 0: unknown,
 * false. */
bool client_gone(int fd);
/* Whether it has left for good: a client that only shut down its side may still read the answer. Whether a client has
 * closed the connection is known only after something was sent. */
bool client_lost(int fd);
/* Whether the answer is read from call.stream. */
bool stream_is_used(const struct exchange *exchange);
/* The stream must live until the response was sent. NULL: libmicrohttpd cannot make a response. */
struct MHD_Response *stream_response(struct MHD_Connection *connection, const struct exchange *exchange);
