/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/emulator/line_stream.h: an answer of lines, one JSON object each, that is made while it is sent. */
#include "api/http/http.h"

struct line_source {
	/* Appends whole lines to @text. Appends none and sets *ret_over to STREAM_END, or to STREAM_QUIET after a second at most,
	 * where there are none; leaves it alone to be asked again at once. A failure cuts the connection and is logged. */
	enum status (*more)(void *arg, struct text *text, ssize_t *ret_over, struct error *err);
	void (*close)(void *arg); /* called once */
	void *arg;
};

/* The answer of @call is what @source gives, as application/x-ndjson. */
void line_stream_begin(struct call *call, const struct line_source *source);
