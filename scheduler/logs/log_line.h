/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/logs/log_line.h: one line of a container's output as a log entry.
 *
 * A line of stdout is INFO, of stderr ERROR, as it stands: terminal escapes included, what is no UTF-8
 * replaced, and NULs too. A line that is a JSON object says more: its severity, time, insertId, labels and
 * other members of an entry are lifted out (log_fields.h); what remains is the jsonPayload, or the textPayload when
 * it is a message alone. An object that is broken, too large or too deep stays text. Vertex AI has no textPayloads of
 * programs: log_line_wrap().
 * Pure. Source: the agent of the service's machines, github.com/GoogleCloudPlatform/fluent-plugin-google-cloud */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/text.h"
#include "store/logs/logs.h"

enum { LOG_LINE_JSON_BYTES_MAX = 256 * 1024, LOG_LINE_JSON_DEPTH_MAX = 100 };
/* So far ahead of the engine's may the time be that a line says. */
#define LOG_LINE_AHEAD_NS (INT64_C(86400) * 1000000000)

/* Start zeroed; may be used for one line after the other, and keeps its memory. */
struct log_line {
	/* time_ns, dated, severity, kind, payload, insert_id and extra are set; source and position are the
	 * caller's and left alone. Texts live as long as the line read and this struct, until the next read. */
	struct log_record record;
	struct text payload, extra, insert_id; /* what is not the line's own memory */
	struct text wrapped;
	bool is_object;      /* the line is a JSON object */
	const char *project; /* the caller's: of bare trace ids; NULL: they stay bare */
};

void log_line_deinit(struct log_line *line);

/* @stream: 1 stdout, 2 stderr. @time_ns: the engine's time of the line, taken unless the line says one. One line end
 * is cut off. */
void log_line_read(struct log_line *line, const char *data, size_t length, int stream, int64_t time_ns);

/* What was read as a textPayload becomes the message of a jsonPayload: of a plain line with its level, the task that
 * printed it and the entry's time, of an object that is a message alone without. Nothing else is changed.
 *
 * Source: published entries of Vertex AI. Choice: as these are, not the documentation, which says textPayload; but
 * without what they tell of the service's own wrapper (its file, its line). */
void log_line_wrap(struct log_line *line, const char *task_name);
