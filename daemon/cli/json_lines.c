/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/json_lines.h"

#include <stddef.h>
#include <string.h>

#include "daemon/base/json.h"

enum { LINE_BYTES_MAX = 16 << 20 };

void json_lines_deinit(struct json_lines *lines)
{
	text_deinit(&lines->line);
}

static bool line_end(struct json_lines *lines)
{
	AUTO(json) json_t *line = json_parse_foreign(lines->line.data, lines->line.length, 0, NULL);

	text_clear(&lines->line);
	lines->broken = !line;
	return line && lines->take(lines->arg, line);
}

bool json_lines_take(void *arg, const char *data, size_t length)
{
	struct json_lines *lines = arg;

	while (length) {
		const char *end = memchr(data, '\n', length);
		const size_t piece = end ? (size_t)(end - data) : length;

		text_append(&lines->line, data, piece);
		data += piece + (end != NULL);
		length -= piece + (end != NULL);
		lines->broken = lines->line.length > LINE_BYTES_MAX;
		if (lines->broken || (end && !line_end(lines)))
			return false;
	}
	return true;
}
