/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/base/work.h"

#include <stddef.h>

#include "daemon/base/clock.h"

enum { LOOK_US = 10 * 1000 };

static __thread struct {
	const struct work *work; /* NULL: none */
	unsigned depth;
	int64_t look_us; /* when to call is_abandoned() next; monotonic */
	bool abandoned;
} current;

void work_begin(const struct work *work)
{
	if (current.depth++ > 0)
		return;
	current.work = work;
	current.look_us = clock_mono_us(&system_clock) + LOOK_US;
	current.abandoned = false;
}

void work_end(void)
{
	if (--current.depth == 0)
		current.work = NULL;
}

bool work_is_abandoned(void)
{
	int64_t now_us;

	if (!current.work || current.abandoned)
		return current.work != NULL;
	now_us = clock_mono_us(&system_clock);
	if (now_us < current.look_us)
		return false;
	current.look_us = now_us + LOOK_US;
	current.abandoned = current.work->is_abandoned(current.work->arg);
	return current.abandoned;
}

enum status work_check(struct error *err)
{
	return work_is_abandoned()
		       ? error_set(err, STATUS_CANCELLED, NULL,
				   "The call was abandoned: its client closed the connection, or the daemon "
				   "or the calling job is ending.")
		       : STATUS_OK;
}

int64_t work_owner(void)
{
	return current.work ? current.work->owner : 0;
}
