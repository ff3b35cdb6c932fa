/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/logs/log_tail.h: the log of one job, read from a place on, and on as lines come: none is missing and none comes twice.
 *
 * Entries that are stored when the reading begins come in the order of time. New ones are found behind the place that was
 * reached, as entries never come before it. Those that a program dates itself do: of such a job new ones are told by
 * received_ns, which grows with every entry that is stored.
 * Thread: one tail is one thread's. */
#include "daemon/base/cleanup.h"
#include "store/logs/logs.h"

struct log_tail;
struct text;

struct log_tail_spec {
	int64_t job;
	const char *filter; /* the language of log_query; "" or NULL: all */
	int64_t since_ns;   /* entries of that time or later; INT64_MIN: all */
	int64_t last;       /* at most so many of those that are there; -1: all */
	bool follows;       /* goes on with new ones */
	/* Where an earlier reading of the same job and filter was, of log_tail_cursor(): goes on there, and last does not
	 * count. NULL: it begins anew. */
	const char *cursor;
};

/* INVALID_ARGUMENT: the filter is none, or field cursor is. */
enum status log_tail_open(struct store *store, const struct log_tail_spec *spec, struct log_tail **ret_tail,
			  struct error *err);
void log_tail_close(struct log_tail *tail);
DEFINE_AUTO(log_tail, struct log_tail *, log_tail_close)

/* What a reader is told of an entry. Borrowed for the call. */
struct tail_line {
	int64_t time_ns;
	int severity;
	enum log_payload kind;
	const char *payload;
	size_t payload_length;
	const char *task, *trial; /* of the replica; trial: NULL: none */
};

/* Returns new entries, a page at most. *ret_count 0: there are none now. In a job with a program that dates its own entries,
 * new ones are looked for among all of its entries, and so in no more than a tenth of the time unless @last_read: the reader
 * needs to know that nothing more will come. */
enum status log_tail_read(struct log_tail *tail, bool last_read,
			  void (*take)(void *arg, const struct tail_line *line), void *arg,
			  unsigned *ret_count, struct error *err);
/* Appends the place at which the last read began, or the first will: a reading that begins there gets the same lines in the same order, and behind
 * them the lines that were stored meanwhile. */
void log_tail_cursor(const struct log_tail *tail, struct text *text);
/* Until entries were stored since the last read began, at most so long. False: there were none. */
bool log_tail_wait(struct log_tail *tail, int64_t at_most_us);
