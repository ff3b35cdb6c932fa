/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/log_source.h: the inside of a struct log_source. It never changes after it was made but for
 * the two last members, which are the log writer's thread's. */
#include <stdint.h>

#include "store/logs.h"

struct log_source {
	unsigned references; /* atomic */
	int64_t job;
	char *project, *log_name, *resource_type, *resource_labels, *labels; /* labels: "{}" when none */
	uint64_t known_by; /* whose numbering `row` is of; 0: nobody's */
	int64_t row;       /* id in table source */
};

void log_source_ref(struct log_source *source);
