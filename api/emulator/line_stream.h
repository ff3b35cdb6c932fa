/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/emulator/line_stream.h: an answer of lines, one JSON object each, made while it is sent. */
#include "api/http/http.h"

struct line_source {
	/* Appends whole lines to @text. If there are none, sets *ret_over to STREAM_END, or within a second to
	 * STREAM_QUIET; leaves it unchanged to be called again at once. A failure cuts the connection and is
	 * logged. */
	enum status (*more)(void *arg, struct text *text, ssize_t *ret_over, struct error *err);
	void (*close)(void *arg); /* called once */
	void *arg;
};

/* Makes the lines of @source the answer of @call, as application/x-ndjson. */
void line_stream_begin(struct call *call, const struct line_source *source);
