/* SPDX-License-Identifier: Apache-2.0 */
#include "api/training/job_times.h"

#define SECOND_US INT64_C(1000000)

int64_t second_shown(int64_t time_us, int64_t before_us)
{
	const int64_t own = time_us - time_us % SECOND_US;

	if (!time_us || own >= before_us)
		return own;
	return (before_us + SECOND_US - 1) / SECOND_US * SECOND_US;
}
