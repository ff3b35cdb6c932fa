/* SPDX-License-Identifier: Apache-2.0 */
#include "store/objects/post_commit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon/base/log.h"
#include "daemon/base/memory.h"
#include "store/objects/file_tree.h"
#include "store/objects/object_rows.h"
#include "store/objects/objects_parts.h"

enum { BATCH_ROWS = 256, RETRY_US = 1000 * 1000 };

struct post_commit {
	struct objects *objects;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint64_t wanted, done; /* how often there was new work, and how much of it is done; under the lock */
	bool stopping;
};

struct work {
	int64_t id;
	char *bucket, *name; /* name NULL: the bucket */
	int64_t blob;        /* 0: none */
	bool is_done;
};

struct batch {
	struct work works[BATCH_ROWS];
	size_t count;
	bool removes; /* rows of objects may be gone from the index: its file may be able to shrink */
};

static void batch_deinit(struct batch *batch)
{
	for (size_t i = 0; i < batch->count; i++) {
		free(batch->works[i].bucket);
		free(batch->works[i].name);
	}
	batch->count = 0;
}

static enum status batch_read(struct objects *objects, int64_t after, struct batch *batch, struct error *err)
{
	struct reader reader AUTO_READER = { 0 };
	enum status rc = reader_borrow(&objects->readers, &reader, err);
	bool row = false;

	if (rc)
		return rc;
	AUTO(statement) sqlite3_stmt *rows = connection_statement(reader.connection, POST_COMMIT_AFTER);

	bind_int(rows, ":after", after);
	bind_int(rows, ":count", BATCH_ROWS);
	for (;;) {
		struct work *work = &batch->works[batch->count];

		rc = statement_step(rows, &row, err);
		if (rc || !row)
			return rc;
		*work = (struct work){ .id = sqlite3_column_int64(rows, 0),
				       .bucket = column_copy(rows, 1),
				       .name = column_copy(rows, 2),
				       .blob = sqlite3_column_int64(rows, 3) };
		batch->count++;
	}
}

/* The present entry of a bucket, an object and a blob in the index. */
struct index_state {
	bool has_bucket;
	int64_t blob; /* the object's; 0: there is none */
	bool is_used; /* the work's blob */
};

static enum status use_look(struct connection *connection, int64_t blob, bool *ret_used, struct error *err)
{
	AUTO(statement) sqlite3_stmt *use = connection_statement(connection, BLOB_USE);

	bind_int(use, ":blob", blob);
	return statement_step(use, ret_used, err);
}

static enum status index_look(struct connection *connection, const struct work *work,
			      struct index_state *index, struct error *err)
{
	struct object_row row AUTO_OBJECT_ROW = { 0 };
	enum status rc = object_row_find(connection, work->bucket, work->name ? work->name : "", &row, err);

	if (rc && rc != STATUS_NOT_FOUND)
		return rc;
	index->has_bucket = !rc;
	index->blob = !rc && row.found ? row.blob : 0;
	return work->blob ? use_look(connection, work->blob, &index->is_used, err) : STATUS_OK;
}

static bool may_pass(int error_number)
{
	return error_number == ENOSPC || error_number == EDQUOT || error_number == EIO ||
	       error_number == ENFILE || error_number == EMFILE || error_number == ENOMEM;
}

/* A failure to show an object is logged once; it is tried again only if it may be temporary. */
static bool tree_follow(struct objects *objects, const struct work *work, const struct index_state *index)
{
	bool is_well;

	if (!work->name)
		is_well = file_tree_bucket(&objects->files, work->bucket, index->has_bucket);
	else if (index->blob)
		is_well = file_tree_show(&objects->files, work->bucket, work->name, index->blob);
	else
		is_well = file_tree_hide(&objects->files, work->bucket, work->name);
	if (is_well || may_pass(errno))
		return is_well;
	log_event(LOG_WARNING, "object-without-file", "bucket=%s name=\"%s\" error=\"%s\"", work->bucket,
		  work->name ? work->name : "", strerror(errno));
	return true;
}

static void work_do(struct objects *objects, struct batch *batch, struct work *work)
{
	struct index_state index = { 0 };
	struct error err AUTO_ERROR = { 0 };
	struct reader reader AUTO_READER = { 0 };
	enum status rc = reader_borrow(&objects->readers, &reader, &err);

	if (!rc)
		rc = index_look(reader.connection, work, &index, &err);
	if (rc)
		return;
	reader_return(&reader);
	/* Removing blobs comes first, as it frees disk space. */
	work->is_done = !work->blob || index.is_used || blob_remove(&objects->files, work->blob);
	if (!tree_follow(objects, work, &index))
		work->is_done = false;
	batch->removes |= !index.blob;
}

static enum status batch_forget_run(struct connection *connection, int64_t now_ns, void *arg,
				    struct error *err)
{
	(void)now_ns;
	const struct batch *batch = arg;
	enum status rc = STATUS_OK;

	for (size_t i = 0; !rc && i < batch->count; i++) {
		if (!batch->works[i].is_done)
			continue;
		AUTO(statement) sqlite3_stmt *delete = connection_statement(connection, POST_COMMIT_DELETE);

		bind_int(delete, ":id", batch->works[i].id);
		rc = statement_run(delete, err);
	}
	return rc;
}

/* Does the work of a batch. False: some of it has to be tried again. */
static bool batch_do(struct objects *objects, struct batch *batch)
{
	size_t done = 0;

	for (size_t i = 0; i < batch->count; i++) {
		work_do(objects, batch, &batch->works[i]);
		done += batch->works[i].is_done;
	}
	if (done && group_writer_change(objects->writer, batch_forget_run, batch, NULL))
		return false;
	return done == batch->count;
}

static enum status shrink_run(struct connection *connection, int64_t now_ns, void *arg, struct error *err)
{
	(void)now_ns;
	return connection_shrink(connection, arg, err);
}

/* Does the work of all rows once. False: some of it has to be tried again. */
static bool rows_do(struct objects *objects)
{
	struct batch *batch = memory_calloc(1, sizeof(*batch));
	int64_t after = 0;
	bool is_clean = true;

	for (;;) {
		const bool is_read = batch_read(objects, after, batch, NULL) == STATUS_OK;

		is_clean &= is_read;
		if (!is_read || batch->count == 0)
			break;
		/* A failure does not stop the rest of the work, which may free disk space. */
		is_clean &= batch_do(objects, batch);
		after = batch->works[batch->count - 1].id;
		batch_deinit(batch);
	}
	batch_deinit(batch);
	for (bool more = batch->removes; more;)
		more = group_writer_change(objects->writer, shrink_run, &more, NULL) == STATUS_OK && more;
	free(batch);
	return is_clean;
}

/* Waits before the next try, under the lock. It waits in real time, whatever the emulator's clock says. */
static void retry_wait(struct post_commit *post_commit)
{
	int64_t until_us = clock_mono_us(&system_clock) + RETRY_US;
	struct timespec until = { .tv_sec = until_us / 1000000, .tv_nsec = until_us % 1000000 * 1000 };

	pthread_cond_timedwait(&post_commit->changed, &post_commit->lock, &until);
}

static void *post_commit_main(void *arg)
{
	struct post_commit *post_commit = arg;
	bool is_clean = true;

	pthread_mutex_lock(&post_commit->lock);
	for (;;) {
		uint64_t wanted;

		if (post_commit->wanted == post_commit->done && !is_clean && !post_commit->stopping)
			retry_wait(post_commit);
		while (post_commit->wanted == post_commit->done && is_clean && !post_commit->stopping)
			pthread_cond_wait(&post_commit->changed, &post_commit->lock);
		if (post_commit->stopping && post_commit->wanted == post_commit->done)
			break;
		wanted = post_commit->wanted;
		pthread_mutex_unlock(&post_commit->lock);
		is_clean = rows_do(post_commit->objects);
		pthread_mutex_lock(&post_commit->lock);
		post_commit->done = wanted;
		pthread_cond_broadcast(&post_commit->changed);
	}
	pthread_mutex_unlock(&post_commit->lock);
	return NULL;
}

void post_commit_begin(struct post_commit *post_commit)
{
	pthread_mutex_lock(&post_commit->lock);
	post_commit->wanted++;
	pthread_cond_broadcast(&post_commit->changed);
	pthread_mutex_unlock(&post_commit->lock);
}

void post_commit_wait(struct post_commit *post_commit)
{
	uint64_t wanted;

	pthread_mutex_lock(&post_commit->lock);
	wanted = post_commit->wanted;
	while (post_commit->done < wanted)
		pthread_cond_wait(&post_commit->changed, &post_commit->lock);
	pthread_mutex_unlock(&post_commit->lock);
}

enum status post_commit_open(struct objects *objects, struct post_commit **ret_post_commit, struct error *err)
{
	struct post_commit *post_commit = memory_calloc(1, sizeof(*post_commit));
	pthread_condattr_t attributes;

	post_commit->objects = objects;
	post_commit->wanted = 1; /* for work left by an earlier process */
	pthread_mutex_init(&post_commit->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&post_commit->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	if (pthread_create(&post_commit->thread, NULL, post_commit_main, post_commit) != 0) {
		free(post_commit);
		return error_set(err, STATUS_UNAVAILABLE, NULL,
				 "cannot start the thread that writes the files of objects: "
				 "the limit of threads or memory is reached");
	}
	*ret_post_commit = post_commit;
	return STATUS_OK;
}

void post_commit_close(struct post_commit *post_commit)
{
	if (!post_commit)
		return;
	pthread_mutex_lock(&post_commit->lock);
	post_commit->stopping = true;
	pthread_cond_broadcast(&post_commit->changed);
	pthread_mutex_unlock(&post_commit->lock);
	pthread_join(post_commit->thread, NULL);
	pthread_cond_destroy(&post_commit->changed);
	pthread_mutex_destroy(&post_commit->lock);
	free(post_commit);
}
