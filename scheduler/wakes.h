/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/wakes.h: which jobs to look at next: jobs with an event, in the order of the events, and jobs that are due.
 * The cost of an event does not depend on the number of waiting jobs. A job is in the list once, however many events it
 * had, and in the heap once, at the earliest time that its last decision asked for.
 * Thread: the scheduler's. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct job_entry;
struct job_run;

/* A job's position in the list and in the heap. */
struct wake {
	struct wakes *wakes;
	bool touched;
	struct job_entry *next;
	int64_t at_us; /* monotonic; valid unless place is 0 */
	size_t place;  /* position in the heap, from 1; 0: not in the heap */
};

struct wakes {
	struct job_entry *first, *last;
	struct job_entry **heap; /* allocated for every job of the table: wakes_reserve() */
	size_t count;
};

void wakes_reserve(struct wakes *wakes, size_t jobs);
void wakes_deinit(struct wakes *wakes);
/* Adds the job to the list, if it is not there yet. */
void job_entry_touch(struct job_entry *entry);
void job_run_touch(struct job_run *run);
/* Touches @entry at @at_us if no event does so earlier; INT64_MAX: by events only. */
void wakes_set(struct wakes *wakes, struct job_entry *entry, int64_t at_us);
/* Touches all jobs that are due. */
void wakes_expire(struct wakes *wakes, int64_t now_us);
/* Takes the job that was touched first; NULL: no job is touched. */
struct job_entry *wakes_take(struct wakes *wakes);
/* The first time at which a job is to be decided; INT64_MAX: no time is set. */
int64_t wakes_first_us(const struct wakes *wakes);
/* Removes @entry, which is about to be freed. */
void wakes_forget(struct wakes *wakes, struct job_entry *entry);
