/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/logs/log_line.h: one line of a container's output as a log entry.
 *
 * A line of stdout is INFO, of stderr ERROR, with its text unchanged: terminal escapes stay; NULs and bytes that are
 * not UTF-8 are replaced. A line that is a JSON object can set more: severity, time, insertId, labels and other members
 * of the entry are taken from it (log_fields.h). The rest is the jsonPayload, or the textPayload if it is only a
 * message. An object that is broken, too large or too deep stays text. Entries of programs on Vertex AI never have a
 * textPayload: log_line_wrap() turns it into a jsonPayload. Pure. Source: the agent of the service's machines,
 * github.com/GoogleCloudPlatform/fluent-plugin-google-cloud */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/text.h"
#include "store/logs/logs.h"

enum { LOG_LINE_JSON_BYTES_MAX = 256 * 1024, LOG_LINE_JSON_DEPTH_MAX = 100 };
/* How many nanoseconds the time in a line may be ahead of the engine's time. */
#define LOG_LINE_AHEAD_NS (INT64_C(86400) * 1000000000)

/* A reader of lines. To be zeroed before its first use; for the next line it is used again and keeps its memory. */
struct log_line {
	/* log_line_read() sets time_ns, dated, severity, kind, payload, insert_id and extra; source and position are
	 * left to the caller. Texts live as long as the line read and this struct, until the next read. */
	struct log_record record;
	struct text payload, extra, insert_id; /* memory for texts that are not part of the line */
	struct text wrapped;
	bool is_object;      /* the line is a JSON object */
	const char *
		project; /* set by the caller: completes trace ids without a project; NULL: they stay as they are */
};

void log_line_deinit(struct log_line *line);

/* Reads a line into line->record. @stream: 1 stdout, 2 stderr. @time_ns: the engine's time of the line, used unless the
 * line has a time. One line end is cut off. */
void log_line_read(struct log_line *line, const char *data, size_t length, int stream, int64_t time_ns);

/* Turns a textPayload into the message of a jsonPayload. A plain line also gets its level, the task that printed it and
 * the entry's time; a message from a JSON object gets nothing else. Other entries are not changed.
 *
 * Source: published entries of Vertex AI. Choice: like these entries, not like the documentation, which says
 * textPayload; but without the fields about the service's own wrapper (its file, its line). */
void log_line_wrap(struct log_line *line, const char *task_name);
