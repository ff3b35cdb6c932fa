/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/base/log.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/base/clock.h"
#include "daemon/base/text.h"
#include "daemon/base/timestamp.h"

static struct {
	enum log_level level;
	enum log_format format;
} settings = { LOG_INFO, LOG_FORMAT_TEXT };

static const char *const level_names[] = { "error", "warning", "info", "debug" };

void log_configure(enum log_level level, enum log_format format)
{
	settings.level = level;
	settings.format = format;
}

static void write_whole(const char *data, size_t length)
{
	while (length > 0) {
		ssize_t written = write(STDERR_FILENO, data, length);

		if (written <= 0)
			return; /* there is no other place to report the failure */
		data += written;
		length -= (size_t)written;
	}
}

void log_event(enum log_level level, const char *event, const char *format, ...)
{
	char detail[2048];
	va_list args;
	struct text line AUTO_TEXT = { 0 };

	if (level > settings.level)
		return;
	va_start(args, format);
	vsnprintf(detail, sizeof(detail), format, args);
	va_end(args);
	text_make_harmless(detail);
	if (settings.format == LOG_FORMAT_JSON) {
		text_puts(&line, "{\"time\":\"");
		text_time_nanos(&line, clock_wall_ns(&system_clock));
		text_printf(&line, "\",\"level\":\"%s\",\"event\":\"%s\",\"detail\":", level_names[level],
			    event);
		text_json(&line, detail, strlen(detail));
		text_puts(&line, "}\n");
	} else {
		text_time_nanos(&line, clock_wall_ns(&system_clock));
		text_printf(&line, " %-7s %s %s\n", level_names[level], event, detail);
	}
	write_whole(line.data, line.length);
}
