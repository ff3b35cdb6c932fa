/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/logs/entry_watch.h: entries of projects as they are stored, for readers that tail them.
 *
 * An entry is held back for a window of time, so that an entry with an earlier time that arrives later can still come
 * before it: it is returned once its own time, or the time at which it was stored, is at least a window ago. Held
 * entries take no memory: the watch keeps its position, and reads the entries from the store. Thread: one watch belongs
 * to one thread. */
#include <stdbool.h>

#include "daemon/base/cleanup.h"
#include "store/logs/logs.h"

struct entry_watch;

struct entry_watch_spec {
	const char *const *projects; /* ids; entries of all of them. Copied */
	size_t project_count;
	const char *filter; /* the language of log_query; "" or NULL: all */
	int64_t window_ns;
	int wake_fd; /* an eventfd that is written to after each batch of entries; -1: none. Stays the caller's */
};

/* Begins with entries that are stored from now on. INVALID_ARGUMENT: bad filter. */
enum status entry_watch_open(struct store *store, const struct entry_watch_spec *spec,
			     struct entry_watch **ret_watch, struct error *err);
/* After this the eventfd is not written to. NULL is harmless. */
void entry_watch_close(struct entry_watch *watch);
DEFINE_AUTO(entry_watch, struct entry_watch *, entry_watch_close)

enum { ENTRY_WATCH_PAGE = 1000 };

/* Passes up to ENTRY_WATCH_PAGE entries that are due, in the order of time. *ret_count 0: there are no more now.
 * *ret_held: there may be stored entries that are not due yet. If the store's clock is set back by more than a second,
 * nothing is held back any more. */
enum status entry_watch_read(struct entry_watch *watch,
			     void (*give)(void *arg, const struct log_entry *entry), void *arg,
			     unsigned *ret_count, bool *ret_held, struct error *err);
/* Whether a batch was stored after the last look at the store began. A look takes several reads if it has several
 * pages. */
bool entry_watch_has_news(const struct entry_watch *watch);
/* Waits at most @at_most_us until entry_watch_has_news() is true. */
void entry_watch_wait(struct entry_watch *watch, int64_t at_most_us);
