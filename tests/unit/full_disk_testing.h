/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* tests/unit/full_disk_testing.h: a disk that is full, for this program. */
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>

#include "tests/unit/testing.h"

/* How often something could not be written. */
static __attribute__((unused)) atomic_uint disk_refusals;

static __attribute__((unused)) void disk_refuses(int signal)
{
	(void)signal;
	disk_refusals++;
}

/* Nothing more can be written to any file. */
static __attribute__((unused)) void disk_set_full(bool full)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = full ? 16 : limit.rlim_max;
	signal(SIGXFSZ, disk_refuses);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}
