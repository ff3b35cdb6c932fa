/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/http/stream.h: an answer that is made while it is sent, as libmicrohttpd requests it.
 * Thread: the connection's. */
#include <microhttpd.h>
#include <stdbool.h>

struct exchange;

/* True if the client of socket @fd has left; libmicrohttpd does not notice this while nothing is sent. False also
 * for @fd 0 (unknown). */
bool client_gone(int fd);
/* True if the client has left for good; a client that only shut down its side may still read the answer. The
 * difference is known only after something was sent. */
bool client_lost(int fd);
/* True if the answer is read from call.stream. */
bool stream_is_used(const struct exchange *exchange);
/* Makes the response of a stream, which must live until the response was sent. NULL: libmicrohttpd cannot make it. */
struct MHD_Response *stream_response(struct MHD_Connection *connection, const struct exchange *exchange);
