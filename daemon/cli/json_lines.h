/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/json_lines.h: an answer of one JSON object a line, read while it comes. Thread: one at a time. */
#include <jansson.h>
#include <stdbool.h>

#include "daemon/base/text.h"

struct json_lines {
	bool (*take)(void *arg, const json_t *line); /* false ends it */
	void *arg;
	struct text line; /* the beginning of a line; its end has not come yet */
	bool broken;      /* a line was no JSON, or had more than 16 MiB */
};

void json_lines_deinit(struct json_lines *lines);
#define AUTO_JSON_LINES __attribute__((cleanup(json_lines_deinit)))
/* A client_read()'s take; @arg is a struct json_lines. */
bool json_lines_take(void *arg, const char *data, size_t length);
