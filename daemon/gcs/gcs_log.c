/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/gcs/gcs_log.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/clock.h"

enum { US_PER_S = 1000000 };

/* Truncates a full log file, if it is open for appending: otherwise the next write would leave a hole before it. */
static void file_limit(void)
{
	struct stat info;

	if (fstat(STDERR_FILENO, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > GCS_LOG_MAX_BYTES &&
	    fcntl(STDERR_FILENO, F_GETFL) & O_APPEND && ftruncate(STDERR_FILENO, 0) != 0)
		return; /* ignored: the log cannot take a message about it */
}

bool gcs_log_allows(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static int64_t line_second;
	static unsigned lines;
	const int64_t second = clock_mono_us(&system_clock) / US_PER_S;
	bool allowed;

	pthread_mutex_lock(&lock);
	if (second != line_second) {
		line_second = second;
		lines = 0;
	}
	allowed = lines < GCS_LOG_LINES_PER_S;
	lines += allowed;
	if (allowed)
		file_limit();
	pthread_mutex_unlock(&lock);
	return allowed;
}
