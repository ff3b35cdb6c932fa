/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/wakes.h: which jobs to look at next: jobs with an event, in that order, and jobs that are due. The cost of an event
 * does not depend on how many jobs wait. A job is in the list once, however often it is touched,
 * and in the heap once, at the earliest time that it asked for when it was last looked at.
 * Thread: the scheduler's. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct job_entry;
struct job_run;

/* A job's own place in both. */
struct wake {
	struct wakes *wakes;
	bool touched;
	struct job_entry *next;
	int64_t at_us; /* monotonic; while place is not 0 */
	size_t place;  /* in the heap, from 1; 0: not there */
};

struct wakes {
	struct job_entry *first, *last;
	struct job_entry **heap; /* has room for every job of the table: wakes_reserve() */
	size_t count;
};

void wakes_reserve(struct wakes *wakes, size_t jobs);
void wakes_deinit(struct wakes *wakes);
/* Something happened to the job. */
void job_entry_touch(struct job_entry *entry);
void job_run_touch(struct job_run *run);
/* @entry is touched at @at_us at the latest; INT64_MAX: not by time alone. */
void wakes_set(struct wakes *wakes, struct job_entry *entry, int64_t at_us);
/* Touches all jobs that are due. */
void wakes_expire(struct wakes *wakes, int64_t now_us);
/* Takes the one that was touched first; NULL: none is. */
struct job_entry *wakes_take(struct wakes *wakes);
/* INT64_MAX: no time is set. */
int64_t wakes_first_us(const struct wakes *wakes);
/* @entry is about to be freed. */
void wakes_forget(struct wakes *wakes, struct job_entry *entry);
