/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/wakes.h"

#include <stdlib.h>

#include "daemon/base/memory.h"
#include "scheduler/job_entry.h"
#include "scheduler/job_run.h"

void wakes_reserve(struct wakes *wakes, size_t jobs)
{
	wakes->heap = memory_resize(wakes->heap, jobs, sizeof(struct job_entry *));
}

void wakes_deinit(struct wakes *wakes)
{
	free(wakes->heap);
	*wakes = (struct wakes){ 0 };
}

void job_entry_touch(struct job_entry *entry)
{
	struct wakes *wakes = entry->wake.wakes;

	if (entry->wake.touched)
		return;
	entry->wake.touched = true;
	entry->wake.next = NULL;
	if (wakes->first)
		wakes->last->wake.next = entry;
	else
		wakes->first = entry;
	wakes->last = entry;
}

void job_run_touch(struct job_run *run)
{
	if (run->entry)
		job_entry_touch(run->entry);
}

struct job_entry *wakes_take(struct wakes *wakes)
{
	struct job_entry *entry = wakes->first;

	if (!entry)
		return NULL;
	wakes->first = entry->wake.next;
	entry->wake.touched = false;
	return entry;
}

static void heap_put(struct wakes *wakes, size_t place, struct job_entry *entry)
{
	wakes->heap[place - 1] = entry;
	entry->wake.place = place;
}

static int64_t heap_at_us(const struct wakes *wakes, size_t place)
{
	return wakes->heap[place - 1]->wake.at_us;
}

/* Puts @entry into the heap, at the free position @place or where the heap's order requires it: no parent is later than
 * its child. */
static void heap_restore(struct wakes *wakes, size_t place, struct job_entry *entry)
{
	const int64_t at_us = entry->wake.at_us;

	for (; place > 1 && heap_at_us(wakes, place / 2) > at_us; place /= 2)
		heap_put(wakes, place, wakes->heap[place / 2 - 1]);
	for (size_t child; (child = place * 2) <= wakes->count; place = child) {
		if (child < wakes->count && heap_at_us(wakes, child + 1) < heap_at_us(wakes, child))
			child++;
		if (heap_at_us(wakes, child) >= at_us)
			break;
		heap_put(wakes, place, wakes->heap[child - 1]);
	}
	heap_put(wakes, place, entry);
}

static void heap_leave(struct wakes *wakes, struct job_entry *entry)
{
	const size_t place = entry->wake.place;
	struct job_entry *last;

	if (!place)
		return;
	entry->wake.place = 0;
	last = wakes->heap[--wakes->count];
	if (last != entry)
		heap_restore(wakes, place, last);
}

void wakes_set(struct wakes *wakes, struct job_entry *entry, int64_t at_us)
{
	if (at_us == INT64_MAX) {
		heap_leave(wakes, entry);
		return;
	}
	entry->wake.at_us = at_us;
	heap_restore(wakes, entry->wake.place ? entry->wake.place : ++wakes->count, entry);
}

void wakes_expire(struct wakes *wakes, int64_t now_us)
{
	while (wakes->count && heap_at_us(wakes, 1) <= now_us) {
		struct job_entry *entry = wakes->heap[0];

		heap_leave(wakes, entry);
		job_entry_touch(entry);
	}
}

int64_t wakes_first_us(const struct wakes *wakes)
{
	return wakes->count ? heap_at_us(wakes, 1) : INT64_MAX;
}

void wakes_forget(struct wakes *wakes, struct job_entry *entry)
{
	struct job_entry *before;

	heap_leave(wakes, entry);
	if (!entry->wake.touched)
		return;
	entry->wake.touched = false;
	if (wakes->first == entry) {
		wakes->first = entry->wake.next;
		return;
	}
	for (before = wakes->first; before->wake.next != entry;)
		before = before->wake.next;
	before->wake.next = entry->wake.next;
	if (wakes->last == entry)
		wakes->last = before;
}
