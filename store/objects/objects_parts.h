/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/objects/objects_parts.h: the inside of a struct objects, and the functions of objects.c for the files beside it. */
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
	pthread_mutex_t lock; /* of the opening, and of cleaned_day */
	bool is_open;         /* atomic */
	struct blob_files files;
	struct group_writer *writer;
	struct reader_pool readers;
	struct post_commit *post_commit;
	uint64_t change_count; /* atomic: of committed ones */
	int64_t cleaned_day;   /* under the lock: when old sessions were last looked for */
	struct live_sessions sessions;
};

/* How long a session is kept, and an assembly.
 * Source: https://cloud.google.com/storage/docs/resumable-uploads#session-uris (a session expires after one week)
 * Choice: assemblies likewise; the service keeps those until someone ends them, but nobody pays for them here. */
#define SESSION_LIFETIME_US (7 * INT64_C(86400) * 1000 * 1000)

/* Opens what is not open yet. Every function of objects.h begins with it. */
enum status objects_use(struct objects *objects, struct error *err);
/* objects_use(), and a connection that reads. */
enum status objects_read(struct objects *objects, struct reader *ret_reader, struct error *err);
/* A change of storage.db. RESOURCE_EXHAUSTED: the disk is full. What it leaves to be done to files begins. */
enum status objects_change(struct objects *objects, group_run run, void *arg, struct error *err);
/* Removes the sessions and assemblies that are too old, once a day: called before one begins. */
enum status objects_expire(struct objects *objects, struct error *err);
