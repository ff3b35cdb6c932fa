/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/gcs/gcs_log.h: how much the process that serves the file system may say on its standard error, gcs.log: what
 * programs have it do is theirs to choose, and as often as they like. Thread: any. */
#include <stdbool.h>

enum {
	GCS_LOG_MAX_BYTES = 1 << 20,
	GCS_LOG_LINES_PER_S = 20,
};

/* Whether another line may be said now. The file begins anew when it is full. */
bool gcs_log_allows(void);
