/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/logs/logs.h: log entries: written in batches, read by pages.
 *
 * Within one job entries are stored with times that never go back (a smaller one is raised to the
 * last) and with growing insert ids, because readers page by (timestamp, insertId) as text and never
 * look behind. Entries that programs date themselves, and those from clients (entries:write), keep the times they came
 * with, and raise no other's: a reader that follows misses entries dated before its position, as in the service. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/error.h"
#include "daemon/base/replica.h"
#include "store/logs/log_severity.h"
#include "store/logs/log_source.h"

struct store;

/* The labels of entries from a container on @host (NULL: of the service itself) in @trial (0: in none), as JSON object
 * text. @endpoint: what the service's own entries of Vertex AI have ("": empty there, but set);
 * NULL: none. @ended_as: how the job ended that this is the last entry of; NULL: it is not. The caller frees.
 * Source: https://cloud.google.com/ai-platform/training/docs/monitor-training; endpoint and job_state: published
 * entries of Vertex AI, where those of containers have neither */
char *log_labels(const char *host, unsigned trial, const char *endpoint, const char *ended_as);

enum log_payload { LOG_TEXT, LOG_JSON, LOG_PROTO };

struct log_record {
	struct log_source *source; /* the store takes a reference of its own */
	int64_t time_ns;
	bool dated; /* the time is the program's own: it is stored as it is */
	int severity;
	enum log_payload kind;
	const char *payload; /* text, or JSON object text; UTF-8 (others' bytes are replaced by the caller) */
	size_t payload_length;
	const char *insert_id; /* NULL: the store makes one */
	const char *extra; /* JSON object text with further LogEntry members (trace, httpRequest…), or NULL */
	/* How far this record takes its container's stream; stream 0: says nothing.
	 * Stored in the same transaction as the record. */
	struct {
		struct replica_key key;
		int stream; /* 1 or 2 */
		struct log_reach reach;
	} position;
};

/* Copies @record into the queue. False: the queue is full (16 MiB or 65,536 records), or there is no memory for a record of
 * more than 64 KiB; call again after the hook below. Order of offers is the order of entries. */
bool log_offer(struct store *store, const struct log_record *record);
/* Called on the log writer's thread each time a queue that refused has room again. Set once, before use. */
void log_on_room(struct store *store, void (*hook)(void *arg), void *arg);
/* Calls @done(@arg) on the log writer's thread once everything offered before this call can be read
 * (service lines of earlier job_apply() calls included). */
void log_barrier(struct store *store, void (*done)(void *arg), void *arg);
/* Waits for that instead. */
enum status log_flush(struct store *store, struct error *err);

/* What was stored of the output of a replica's container. */
enum status log_position_get(struct store *store, const struct replica_key *key,
			     struct log_position *ret_position, struct error *err);
/* The last @count stderr lines of one replica (of @trial, or 0), oldest first, joined by newlines ("" when none): for
 * errorMessage. None before those that have 64 KiB together. */
enum status log_stderr_tail(struct store *store, int64_t job, unsigned trial, const char *task_name,
			    unsigned count, char **ret_text, struct error *err);

enum { LOG_PAGE_BYTES = 16 << 20 };

struct log_query {
	const char *const *projects; /* ids; entries of any of them */
	size_t project_count;
	const char *
		filter; /* "" or NULL: all; the language of store/filter/filter.h over log_filter.c's fields */
	bool descending;    /* by (timestamp, insertId); default ascending */
	unsigned page_size; /* 1..1000; a page ends before with the entry by which it has LOG_PAGE_BYTES */
	const char *page_token; /* "" or NULL: first page. Bound to the rest of the query but page_size */
	/* For the reader's margin, see log_query_run(): the present, and how far it is ahead of the readers' own. */
	int64_t now_ns, ahead_ns;
};

/* One entry as read. Borrowed for the call. */
struct log_entry {
	const char *project;
	const char *log_name;
	const char *resource_type;
	const char *resource_labels;
	const char *labels; /* NULL: none */
	int64_t time_ns, received_ns;
	int severity;
	const char *insert_id;
	enum log_payload kind;
	const char *payload;
	size_t payload_length;
	const char *extra; /* NULL: none */
};

/* Calls @row for each entry of the page, in order; returns the token of the next page (NULL: no more).
 *
 * The reader's margin: gcloud's log streaming asks only for entries older than five seconds, and stops at
 * the first quiet moment after the job's end, which would hide the last lines of a job. An ascending query
 * with a filter that is a conjunction, names one resource.labels.job_id, has a lower bound on timestamp and
 * an upper one between 4 and 12 seconds before now_ns, or before the reader's own present, is answered up to the present
 * instead: this store's entries of a job never come late, so nothing can be missed or doubled by it. Entries that a program
 * dates itself may come late: for such a job it is the present only once the job has ended.
 * INVALID_ARGUMENT: a filter that cannot be parsed (text says where), a foreign or broken token. */
enum status log_query_run(struct store *store, const struct log_query *query,
			  void (*row)(void *arg, const struct log_entry *entry), void *arg,
			  char **ret_next_page_token, struct error *err);

/* Names of the logs of a project ("projects/P/logs/NAME"), sorted, after @page_token. JSON array text of strings. */
enum status log_names_page(struct store *store, const char *project, unsigned page_size,
			   const char *page_token, char **ret_names_json, char **ret_next_page_token,
			   struct error *err);
