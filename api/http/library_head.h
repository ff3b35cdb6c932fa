/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/http/library_head.h: what libmicrohttpd made of a request's head, held against where it lies. Releases before 1.0 make
 * less of some heads than others read in them; what they parsed lies where it came, so that it can be told.
 * Source: get_next_header_line(), process_header_line(), process_broken_line(), MHD_connection_handle_idle() of
 * src/microhttpd/connection.c, 0.9.75. Thread: the connection's. */
#include <stdbool.h>
#include <stddef.h>

struct MHD_Connection;
struct head;

/* Where its parts lie in the head, each ended by a NUL. */
struct request_line {
	const char *method;
	const char *target; /* not read: it may have been changed */
	size_t target_bytes;
	const char *version;
};

/* Adds all headers to @head, and says whether it is folded or torn. */
void library_head_read(struct MHD_Connection *connection, const struct request_line *line, struct head *head);
/* Whether it refuses by itself what it is told to be strict about, and may trim values: from 1.0 on. */
bool library_is_strict(void);
