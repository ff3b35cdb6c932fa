/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/base/work.h: whether the work of this thread is still waited for, and for which owner it is.
 *
 * A thread that carries out a request says so around it; whatever takes long, however far below, asks now and then and
 * gives up. A thread that said nothing works for the daemon itself and is always waited for: so a transaction, which
 * a writer's thread carries out, is never given up halfway. Thread: each its own. */
#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/error.h"

struct work {
	/* Asked at most once in ten milliseconds, and no more once it was true. */
	bool (*is_abandoned)(void *arg);
	void *arg;
	int64_t owner; /* what is shared is shared between owners; 0: the daemon's own clients */
};

/* @work is borrowed until work_end(). Work inside other work is a part of it. */
void work_begin(const struct work *work);
void work_end(void);
bool work_is_abandoned(void);
/* CANCELLED: it is abandoned. */
enum status work_check(struct error *err);
/* 0 outside of any work. */
int64_t work_owner(void);
