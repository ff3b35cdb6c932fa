/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/http/stream.h: an answer that is made while it is sent, as libmicrohttpd asks for it.
 * Thread: the connection's. */
#include <microhttpd.h>
#include <stdbool.h>

struct exchange;

/* Whether the client at the other end of @fd has left: while nothing is sent nobody else notices. 0: nobody knows. */
bool client_gone(int fd);
/* Whether it left for good: one that only ended its side may still read the answer. Of one that closed the connection that
 * is not known before something was sent. */
bool client_lost(int fd);
/* Whether the answer is to be read from call.stream. */
bool stream_is_used(const struct exchange *exchange);
/* The stream must stay until the response was sent. NULL: libmicrohttpd makes no response. */
struct MHD_Response *stream_response(struct MHD_Connection *connection, const struct exchange *exchange);
