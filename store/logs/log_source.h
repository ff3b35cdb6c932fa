/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/logs/log_source.h: the inside of a struct log_source. It never changes after it was made but for
 * the two last members, which are the log writer's thread's. */
#include <inttypes.h>
#include <stdint.h>

#include "store/logs/logs.h"

struct log_source {
	unsigned references; /* atomic */
	int64_t job;
	char *project, *log_name, *resource_type, *resource_labels, *labels; /* labels: "{}" when none */
	uint64_t known_by; /* whose numbering `row` is of; 0: nobody's */
	int64_t row;       /* id in table source */
};

void log_source_ref(struct log_source *source);

/* An insert id that the store made, as it is printed: they compare as texts. */
#define LOG_MADE_ID "%016" PRId64
enum { LOG_MADE_ID_SIZE = 24 };
