/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/logs/logs.h: log entries: written in batches, read by pages.
 *
 * Within one job, stored times never go back (an earlier time is raised to the last one) and insert ids grow, because
 * readers page by (timestamp, insertId) as text and never look back. Entries that programs date themselves, and those
 * from clients (entries:write), keep their times and do not affect other entries: a following reader misses entries
 * dated before its position, as in the service. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/error.h"
#include "daemon/base/replica.h"
#include "store/logs/log_severity.h"
#include "store/logs/log_source.h"

struct store;

/* The labels of entries from a container on @host (NULL: of the service itself) in @trial (0: none), as JSON object
 * text. @endpoint: a label of the service's own entries on Vertex AI ("": set, but empty); NULL: absent. @ended_as: for
 * the last entry of a job, how the job ended; else NULL. The caller frees.
 * Source: https://cloud.google.com/ai-platform/training/docs/monitor-training; for endpoint and job_state,
 * published log entries of Vertex AI; entries of containers have neither there */
char *log_labels(const char *host, unsigned trial, const char *endpoint, const char *ended_as);

enum log_payload { LOG_TEXT, LOG_JSON, LOG_PROTO };

struct log_record {
	struct log_source *source; /* the store adds a reference of its own */
	int64_t time_ns;
	bool dated; /* the time is the program's own, and is stored unchanged */
	int severity;
	enum log_payload kind;
	const char *payload; /* text, or JSON object text; must be UTF-8 (the caller replaces other bytes) */
	size_t payload_length;
	const char *insert_id; /* NULL: the store generates one */
	const char *extra; /* JSON object text with further LogEntry members (trace, httpRequest…), or NULL */
	/* The position of its container's stream after this record; stream 0: none. Stored in the same transaction as
	 * the record. */
	struct {
		struct replica_key key;
		int stream; /* 1 or 2 */
		struct log_reach reach;
	} position;
};

/* Copies @record into the queue. False: the queue is full (16 MiB or 65,536 records), or there is no memory for a
 * record of more than 64 KiB; try again after the hook below. Entries are stored in the order of the calls. */
bool log_offer(struct store *store, const struct log_record *record);
/* Called on the log writer's thread each time a full queue has room again. To be set once, before use. */
void log_on_room(struct store *store, void (*hook)(void *arg), void *arg);
/* Calls @done(@arg) on the log writer's thread once everything offered before this call can be read (including service
 * lines of earlier job_apply() calls). */
void log_barrier(struct store *store, void (*done)(void *arg), void *arg);
/* As log_barrier(), but waits until everything offered before can be read. */
enum status log_flush(struct store *store, struct error *err);

/* The stored position in the output of a replica's container. */
enum status log_position_get(struct store *store, const struct replica_key *key,
			     struct log_position *ret_position, struct error *err);
/* The last @count stderr lines of one replica (of @trial, or 0), oldest first, joined by newlines ("" if there are
 * none), at most 64 KiB: for errorMessage. */
enum status log_stderr_tail(struct store *store, int64_t job, unsigned trial, const char *task_name,
			    unsigned count, char **ret_text, struct error *err);

enum { LOG_PAGE_BYTES = 16 << 20 };

struct log_query {
	const char *const *projects; /* ids; entries of all of them */
	size_t project_count;
	const char *
		filter; /* "" or NULL: all; the language of store/filter/filter.h over log_filter.c's fields */
	bool descending;    /* by (timestamp, insertId); default ascending */
	unsigned page_size; /* 1..1000; a page ends early with the entry that brings it to LOG_PAGE_BYTES */
	const char *page_token; /* "" or NULL: first page. Bound to the rest of the query, except page_size */
	/* For the reader's margin, see log_query_run(): the present, and how far it is ahead of the readers' own
	 * clock. */
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
 * The reader's margin: gcloud's log streaming requests only entries older than five seconds, and stops at the first
 * pause after the job's end, which would hide the last lines of a job. An ascending query is therefore answered up to
 * the present if its filter is a conjunction, names one resource.labels.job_id, has a lower bound on timestamp and an
 * upper bound between 4 and 12 seconds before now_ns, or before the reader's own present. Nothing can be missed or
 * repeated by this, because entries of a job are stored in order. Entries that a program dates itself may come late:
 * for such a job this applies only once the job has ended. INVALID_ARGUMENT: a filter that cannot be parsed (the text
 * says where), a foreign or broken token. */
enum status log_query_run(struct store *store, const struct log_query *query,
			  void (*row)(void *arg, const struct log_entry *entry), void *arg,
			  char **ret_next_page_token, struct error *err);

/* Names of the logs of a project ("projects/P/logs/NAME"), sorted, after @page_token. JSON array text of strings. */
enum status log_names_page(struct store *store, const char *project, unsigned page_size,
			   const char *page_token, char **ret_names_json, char **ret_next_page_token,
			   struct error *err);

/* Removes the entries of a log that came before this call, slice by slice, and with them its name, unless later entries
 * came meanwhile. A crash in between leaves the rest. NOT_FOUND: there are none. CANCELLED: the call was abandoned; the
 * rest is left, and another call removes it. */
enum status log_purge(struct store *store, const char *project, const char *log_name, struct error *err);
