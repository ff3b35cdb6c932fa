/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/logs/log_source.h: the origin of log entries: the members that all entries of a source share. */
#include <inttypes.h>
#include <stdint.h>

struct log_source_spec {
	int64_t job; /* 0: of no job */
	const char *project;
	const char *log_name; /* the part after projects/P/logs/, percent-encoded */
	const char *resource_type;
	const char *resource_labels; /* JSON object text */
	const char *labels;          /* JSON object text, NULL: none */
};
/* Read by the store alone. Constant, except for the last two members, which belong to the log writer's thread. */
struct log_source {
	unsigned references; /* atomic */
	int64_t job;
	char *project, *log_name, *resource_type, *resource_labels,
		*labels;   /* labels: "{}" if there are none */
	uint64_t known_by; /* row is valid while this equals log_batch.numbering */
	int64_t row;       /* id in table source */
};

/* Made once per (job, task, trial), kept by the caller. */
struct log_source *log_source_new(const struct log_source_spec *spec);
void log_source_ref(struct log_source *source);
void log_source_unref(struct log_source *source);

/* Format of a generated insert id; such ids compare as text. */
#define LOG_MADE_ID "%016" PRId64
enum { LOG_MADE_ID_SIZE = 24 };
