/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/json_lines.h: reads an answer with one JSON object in each line, while it arrives. Thread: one at a time. */
#include <jansson.h>
#include <stdbool.h>

#include "daemon/base/text.h"

struct json_lines {
	bool (*take)(void *arg, const json_t *line); /* returns false to stop reading */
	void *arg;
	struct text line; /* the beginning of an incomplete line */
	bool broken;      /* a line was not JSON, or longer than 16 MiB */
};

void json_lines_deinit(struct json_lines *lines);
#define AUTO_JSON_LINES __attribute__((cleanup(json_lines_deinit)))
/* Takes a piece of the answer. For client_read() as @take; @arg is a struct json_lines. */
bool json_lines_take(void *arg, const char *data, size_t length);
