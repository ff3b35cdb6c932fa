/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/base/cleanup.h: a variable releases its value at the end of its scope, unless the value was taken.
 *
 *     DEFINE_AUTO(plan, struct plan *, plan_free)       beside plan_free
 *     AUTO(plan) struct plan *plan = plan_new();        freed when the scope ends
 *     *ret_plan = TAKE(plan);                           ...unless it was taken
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define DEFINE_AUTO(name, type, release)                                                                     \
	static inline void auto_##name(type *held)                                                           \
	{                                                                                                    \
		if (*held)                                                                                   \
			release(*held);                                                                      \
	}

#define AUTO(name) __attribute__((cleanup(auto_##name)))

#define TAKE(held)                                                                                           \
	({                                                                                                   \
		__typeof__(held) taken_ = (held);                                                            \
		(held) = NULL;                                                                               \
		taken_;                                                                                      \
	})

DEFINE_AUTO(string, char *, free)

/* Closes @fd (-1: there is none) after a failure without changing errno. Returns -1. */
static inline int fd_drop(int fd)
{
	const int problem = errno;

	if (fd >= 0)
		close(fd);
	errno = problem;
	return -1;
}
