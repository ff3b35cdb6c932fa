/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/objects/objects_parts.h: the inside of struct objects, and functions of objects.c for the other files. */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/group_writer.h"
#include "store/objects/blob_files.h"
#include "store/objects/live_sessions.h"
#include "store/objects/objects.h"
#include "store/reader_pool.h"

struct post_commit;

struct objects {
	char *state_dir;
	char *auto_project; /* NULL: buckets are not made on first use */
	bool reads_only;
	const struct clock *clock;
	pthread_mutex_t lock; /* for opening, and for cleaned_day */
	bool is_open;         /* atomic */
	struct blob_files files;
	struct group_writer *writer;
	struct reader_pool readers;
	struct post_commit *post_commit;
	uint64_t change_count; /* atomic: number of committed changes */
	int64_t cleaned_day;   /* under the lock: when expired sessions were last removed */
	struct live_sessions sessions;
};

/* How long a session and an assembly are kept.
 * Source: https://cloud.google.com/storage/docs/resumable-uploads#session-uris (a session expires after one week)
 * Choice: the same for assemblies; the service keeps those until they are ended, because their owner pays for them. */
#define SESSION_LIFETIME_US (7 * INT64_C(86400) * 1000 * 1000)

/* Opens the files that are not open yet. Every function of objects.h begins with it. */
enum status objects_use(struct objects *objects, struct error *err);
/* Calls objects_use(), and borrows a connection for reading. */
enum status objects_read(struct objects *objects, struct reader *ret_reader, struct error *err);
/* Makes a change of storage.db, and starts the work on files that it leaves. RESOURCE_EXHAUSTED: the disk is full. */
enum status objects_change(struct objects *objects, group_run run, void *arg, struct error *err);
/* Removes expired sessions and assemblies, once a day: called before a new one begins. */
enum status objects_expire(struct objects *objects, struct error *err);
