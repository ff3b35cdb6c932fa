/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/wakes.h"

#include <stdlib.h>

#include "daemon/base/memory.h"
#include "scheduler/job_run.h"

void wakes_reserve(struct wakes *wakes, size_t jobs)
{
	wakes->heap = memory_resize(wakes->heap, jobs, sizeof(struct job_run *));
}

void wakes_deinit(struct wakes *wakes)
{
	free(wakes->heap);
	*wakes = (struct wakes){ 0 };
}

void job_run_touch(struct job_run *run)
{
	struct wakes *wakes = run->wake.wakes;

	if (!wakes || run->wake.touched)
		return;
	run->wake.touched = true;
	run->wake.next = NULL;
	if (wakes->first)
		wakes->last->wake.next = run;
	else
		wakes->first = run;
	wakes->last = run;
}

struct job_run *wakes_take(struct wakes *wakes)
{
	struct job_run *run = wakes->first;

	if (!run)
		return NULL;
	wakes->first = run->wake.next;
	run->wake.touched = false;
	return run;
}

static void heap_put(struct wakes *wakes, size_t place, struct job_run *run)
{
	wakes->heap[place - 1] = run;
	run->wake.place = place;
}

static int64_t heap_at_us(const struct wakes *wakes, size_t place)
{
	return wakes->heap[place - 1]->wake.at_us;
}

/* Moves @run, which leaves a hole at @place, to where no parent is later and no child earlier. */
static void heap_settle(struct wakes *wakes, size_t place, struct job_run *run)
{
	const int64_t at_us = run->wake.at_us;

	for (; place > 1 && heap_at_us(wakes, place / 2) > at_us; place /= 2)
		heap_put(wakes, place, wakes->heap[place / 2 - 1]);
	for (size_t child; (child = place * 2) <= wakes->count; place = child) {
		if (child < wakes->count && heap_at_us(wakes, child + 1) < heap_at_us(wakes, child))
			child++;
		if (heap_at_us(wakes, child) >= at_us)
			break;
		heap_put(wakes, place, wakes->heap[child - 1]);
	}
	heap_put(wakes, place, run);
}

static void heap_leave(struct wakes *wakes, struct job_run *run)
{
	const size_t place = run->wake.place;
	struct job_run *last;

	if (!place)
		return;
	run->wake.place = 0;
	last = wakes->heap[--wakes->count];
	if (last != run)
		heap_settle(wakes, place, last);
}

void wakes_set(struct wakes *wakes, struct job_run *run, int64_t at_us)
{
	if (at_us == INT64_MAX) {
		heap_leave(wakes, run);
		return;
	}
	run->wake.at_us = at_us;
	heap_settle(wakes, run->wake.place ? run->wake.place : ++wakes->count, run);
}

void wakes_expire(struct wakes *wakes, int64_t now_us)
{
	while (wakes->count && heap_at_us(wakes, 1) <= now_us) {
		struct job_run *run = wakes->heap[0];

		heap_leave(wakes, run);
		job_run_touch(run);
	}
}

int64_t wakes_first_us(const struct wakes *wakes)
{
	return wakes->count ? heap_at_us(wakes, 1) : INT64_MAX;
}

void wakes_forget(struct wakes *wakes, struct job_run *run)
{
	struct job_run *before;

	heap_leave(wakes, run);
	if (!run->wake.touched)
		return;
	run->wake.touched = false;
	if (wakes->first == run) {
		wakes->first = run->wake.next;
		return;
	}
	for (before = wakes->first; before->wake.next != run;)
		before = before->wake.next;
	before->wake.next = run->wake.next;
	if (wakes->last == run)
		wakes->last = before;
}
