/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/gcs/gcs_log.h: limits what the process that serves the file system writes to its standard error, gcs.log,
 * because programs in containers can cause messages as often as they like. Thread: any. */
#include <stdbool.h>

enum {
	GCS_LOG_MAX_BYTES = 1 << 20,
	GCS_LOG_LINES_PER_S = 20,
};

/* True if a line may be written now. Truncates a log file that is full. */
bool gcs_log_allows(void);
