/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/logs/log_tail.h: reads the log of one job from a position on, and follows it: each line is read exactly once.
 *
 * Stored entries come in the order of time. New ones are found after the position that was reached, because entries are
 * never stored before it. Entries that a program dates itself are an exception: in such a job new ones are recognized
 * by received_ns, which grows with every stored entry.
 * Thread: one tail belongs to one thread. */
#include "daemon/base/cleanup.h"
#include "store/logs/logs.h"

struct log_tail;
struct text;

struct log_tail_spec {
	int64_t job;
	const char *filter; /* the language of log_query; "" or NULL: all */
	int64_t since_ns;   /* entries of that time or later; INT64_MIN: all */
	int64_t last;       /* maximum number of stored entries to read, the newest ones; -1: all */
	bool follows;       /* goes on with new ones */
	/* A position of log_tail_cursor() for the same job and filter: reading continues there, and last is ignored.
	 * NULL: from the beginning. */
	const char *cursor;
};

/* Opens a tail. INVALID_ARGUMENT: bad filter or cursor. */
enum status log_tail_open(struct store *store, const struct log_tail_spec *spec, struct log_tail **ret_tail,
			  struct error *err);
void log_tail_close(struct log_tail *tail);
DEFINE_AUTO(log_tail, struct log_tail *, log_tail_close)

/* An entry for a reader. Borrowed for the call. */
struct tail_line {
	int64_t time_ns;
	int severity;
	enum log_payload kind;
	const char *payload;
	size_t payload_length;
	const char *task, *trial; /* of the replica; trial: NULL: none */
};

/* Passes new entries, at most a page. *ret_count 0: there are none now. If a program of the job dates its own entries,
 * new ones have to be searched for among all entries of the job. So that searches take a tenth of the time at most,
 * some calls do not search and return nothing. With @last_read a call always searches: set it once no more will
 * come. */
enum status log_tail_read(struct log_tail *tail, bool last_read,
			  void (*take)(void *arg, const struct tail_line *line), void *arg,
			  unsigned *ret_count, struct error *err);
/* Appends the position at which the last read began, or at which the first one will begin. A tail that is opened there
 * returns the same lines in the same order, followed by lines stored meanwhile. */
void log_tail_cursor(const struct log_tail *tail, struct text *text);
/* Waits at most @at_most_us for entries that are stored after the last read began; does not wait if there are some.
 * False: none were stored. */
bool log_tail_wait(struct log_tail *tail, int64_t at_most_us);
