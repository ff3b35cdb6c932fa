/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/base/clock.h"

#include <time.h>

static int64_t read_ns(clockid_t id)
{
	struct timespec now;

	clock_gettime(id, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int64_t system_wall_ns(void *arg)
{
	(void)arg;
	return read_ns(CLOCK_REALTIME);
}

static int64_t system_mono_us(void *arg)
{
	(void)arg;
	return read_ns(CLOCK_MONOTONIC) / 1000;
}

const struct clock system_clock = { system_wall_ns, system_mono_us, 0, 0 };
