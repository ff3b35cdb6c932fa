/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/objects/objects_parts.h: what the files behind store/objects/objects.h share.
 *
 *   buckets.c  object_rows.c  object_changes.c  object_list.c   rows
 *   blob_files.c  hasher.c  sink.c                              bytes
 *   uploads.c  sessions.c  object_reader.c  object_compose.c    both
 *   assemblies.c  assembly_parts.c  assembly_finish.c           both, of uploads in parts
 *   post_commit.c  file_tree.c  file_name.c                       the files for people */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/group_writer.h"
#include "store/objects/blob_files.h"
#include "store/objects/objects.h"
#include "store/reader_pool.h"

struct post_commit;
struct live_session;

struct objects {
	char *state_dir;
	char *auto_project; /* NULL: buckets are not made on first use */
	bool reads_only;
	const struct clock *clock;
	pthread_mutex_t lock; /* of the opening, and of the sessions below */
	bool is_open;         /* atomic */
	struct blob_files files;
	struct group_writer *writer;
	struct reader_pool readers;
	struct post_commit *post_commit;
	uint64_t change_count;      /* atomic: of committed ones */
	int64_t cleaned_day;        /* under the lock: when old sessions were last looked for */
	struct live_session *first; /* under the lock: sessions that this process has written to */
};

/* Opens what is not open yet. Every function of objects.h begins with it. */
enum status objects_use(struct objects *objects, struct error *err);
/* objects_use(), and a connection that reads. */
enum status objects_read(struct objects *objects, struct reader *ret_reader, struct error *err);
/* A change of storage.db. RESOURCE_EXHAUSTED: the disk is full. What it leaves to be done to files begins. */
enum status objects_change(struct objects *objects, group_run run, void *arg, struct error *err);

/* ---- buckets.c ---- */

enum { BUCKET_ABSENT = 0 };
/* The bucket's number; NOT_FOUND in Cloud Storage's words. */
enum status bucket_find(struct connection *connection, const char *name, int64_t *ret_id, struct error *err);

/* ---- object_names.c ---- */

/* INVALID_ARGUMENT in Cloud Storage's words. */
enum status object_name_check(const char *name, struct error *err);

/* ---- object_reader.c ---- */

/* Copies the first @size_bytes of a file into another, at @to_offset; the file system does it where it can. */
enum status file_join(int from_fd, int64_t size_bytes, int to_fd, int64_t to_offset, struct error *err);
