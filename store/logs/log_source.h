/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/logs/log_source.h: where log entries come from, which is what the entries of one source share. */
#include <inttypes.h>
#include <stdint.h>

struct log_source_spec {
	int64_t job; /* 0: of no job */
	const char *project;
	const char *log_name; /* the part after projects/P/logs/, percent-encoded as it is printed */
	const char *resource_type;
	const char *resource_labels; /* JSON object text */
	const char *labels;          /* JSON object text, NULL: none */
};
/* Read by the store alone. It never changes after it was made but for the two last members, which are the log writer's
 * thread's. */
struct log_source {
	unsigned references; /* atomic */
	int64_t job;
	char *project, *log_name, *resource_type, *resource_labels, *labels; /* labels: "{}" when none */
	uint64_t known_by; /* the store that numbered `row`; 0: none */
	int64_t row;       /* id in table source */
};

/* Made once per (job, task, trial), kept by the caller. */
struct log_source *log_source_new(const struct log_source_spec *spec);
void log_source_ref(struct log_source *source);
void log_source_unref(struct log_source *source);

/* An insert id that the store made, as it is printed: they compare as texts. */
#define LOG_MADE_ID "%016" PRId64
enum { LOG_MADE_ID_SIZE = 24 };
