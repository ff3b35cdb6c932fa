/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/library_head.h"

#include <microhttpd.h>
#include <string.h>

#include "api/http/request.h"

enum { LINE_END_BYTES = 2 }; /* CR and LF, which libmicrohttpd has replaced by NULs */

struct head_reading {
	struct head *head;
	const char *next; /* where a line begins */
};

/* libmicrohttpd joins a folded line ("Transfer-Encoding:", then " chunked") to the header's name. So this program would
 * miss a transfer coding that other programs see. A header of one line is unchanged in memory: name, NUL for the colon,
 * blanks, value. */
static bool is_folded(const char *name, const char *value)
{
	const char *at = name + strlen(name) + 1;

	if (!value || value < at)
		return value != NULL;
	while (at < value && (*at == ' ' || *at == '\t'))
		at++;
	return at != value;
}

static enum MHD_Result on_header(void *arg, enum MHD_ValueKind kind, const char *name, const char *value)
{
	struct head_reading *reading = arg;
	const char *last = value ? value : name;

	(void)kind;
	head_add(reading->head, name, value);
	reading->head->folded |= is_folded(name, value);
	reading->head->torn |= name != reading->next;
	reading->next = last + strlen(last) + LINE_END_BYTES;
	return MHD_YES;
}

/* Where the line after the request line begins. NULL: the request line has bytes that the parsed parts do not show. */
static const char *request_line_end(const struct request_line *line)
{
	const char *at = line->method + strlen(line->method) + 1;

	while (at < line->target && *at == ' ')
		at++;
	return at == line->target && line->version == line->target + line->target_bytes + 1
		       ? line->version + strlen(line->version) + LINE_END_BYTES
		       : NULL;
}

bool library_is_strict(void)
{
	return strncmp(MHD_get_version(), "0.", 2) != 0;
}

/* Sets head->torn if the headers do not fill the head without gaps. libmicrohttpd 0.9 ends the head at a line that
 * begins with NUL or a colon, ends a value at a NUL, and ends a line at a bare LF. If a proxy does not stop there, what
 * it passes on after that could be smuggled in as a separate request. */
void library_head_read(struct MHD_Connection *connection, const struct request_line *line, struct head *head)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
	const char *end = info ? line->method + info->header_size : NULL;
	struct head_reading reading = { head, request_line_end(line) };

	MHD_get_connection_values(connection, MHD_HEADER_KIND, on_header, &reading);
	head->torn |= !reading.next || reading.next + LINE_END_BYTES != end;
	head->torn &= !library_is_strict();
}
