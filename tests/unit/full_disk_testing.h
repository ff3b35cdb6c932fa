/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* tests/unit/full_disk_testing.h: simulates a full disk for this program. */
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>

#include "tests/unit/testing.h"

/* How many writes have failed. */
static __attribute__((unused)) atomic_uint disk_refusals;

static __attribute__((unused)) void disk_refuses(int signal)
{
	(void)signal;
	disk_refusals++;
}

/* From now on, writes to files fail (or succeed again). */
static __attribute__((unused)) void disk_set_full(bool full)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = full ? 16 : limit.rlim_max;
	signal(SIGXFSZ, disk_refuses);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}
