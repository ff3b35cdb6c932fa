/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/http/library_head.h: compares what libmicrohttpd parsed of a request's head with the bytes of the head. Releases
 * before 1.0 read some heads differently from other programs, or drop parts; the bytes are still in memory, so such
 * heads can be detected.
 * Source: get_next_header_line(), process_header_line(), process_broken_line(), MHD_connection_handle_idle() of
 * src/microhttpd/connection.c, 0.9.75. Thread: the connection's. */
#include <stdbool.h>
#include <stddef.h>

struct MHD_Connection;
struct head;

/* The parts of the request line in the head, each ended by a NUL. */
struct request_line {
	const char *method;
	const char *target; /* do not read the text: libmicrohttpd may have changed it */
	size_t target_bytes;
	const char *version;
};

/* Adds all headers to @head, and sets its flags folded and torn. */
void library_head_read(struct MHD_Connection *connection, const struct request_line *line, struct head *head);
/* True for libmicrohttpd 1.0 and later: its strict mode refuses such heads itself, and values may be trimmed. */
bool library_is_strict(void);
