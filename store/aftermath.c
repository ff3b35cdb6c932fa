/* SPDX-License-Identifier: Apache-2.0 */
#include "store/aftermath.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon/base/log.h"
#include "store/file_tree.h"
#include "store/object_rows.h"
#include "store/objects_parts.h"

enum { BATCH_ROWS = 256, RETRY_US = 1000 * 1000 };

struct aftermath {
	struct objects *objects;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint64_t wanted, done; /* how often something was to do; under the lock */
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
	AUTO(statement) sqlite3_stmt *rows = connection_statement(reader.connection, AFTERMATH_AFTER);

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
		if (!work->bucket || (!work->name && sqlite3_column_type(rows, 2) != SQLITE_NULL))
			return error_no_memory(err);
	}
}

/* What the index says of a bucket, an object and a blob now. */
struct outlook {
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

static enum status outlook_read(struct connection *connection, const struct work *work,
				struct outlook *outlook, struct error *err)
{
	struct object_row row AUTO_OBJECT_ROW = { 0 };
	enum status rc = object_row_find(connection, work->bucket, work->name ? work->name : "", &row, err);

	if (rc && rc != STATUS_NOT_FOUND)
		return rc;
	outlook->has_bucket = !rc;
	outlook->blob = !rc && row.found ? row.blob : 0;
	return work->blob ? use_look(connection, work->blob, &outlook->is_used, err) : STATUS_OK;
}

static bool may_pass(int error_number)
{
	return error_number == ENOSPC || error_number == EDQUOT || error_number == EIO ||
	       error_number == ENFILE || error_number == EMFILE || error_number == ENOMEM;
}

/* What cannot be shown is told once, and given up unless it may pass. */
static bool tree_follow(struct objects *objects, const struct work *work, const struct outlook *outlook)
{
	bool is_well;

	if (!work->name)
		is_well = file_tree_bucket(&objects->files, work->bucket, outlook->has_bucket);
	else if (outlook->blob)
		is_well = file_tree_show(&objects->files, work->bucket, work->name, outlook->blob);
	else
		is_well = file_tree_hide(&objects->files, work->bucket, work->name);
	if (is_well || may_pass(errno))
		return is_well;
	log_event(LOG_WARNING, "object-without-file", "bucket=%s name=\"%s\" error=\"%s\"", work->bucket,
		  work->name ? work->name : "", strerror(errno));
	return true;
}

static void work_do(struct objects *objects, struct work *work)
{
	struct outlook outlook = { 0 };
	struct error err AUTO_ERROR = { 0 };
	struct reader reader AUTO_READER = { 0 };
	enum status rc = reader_borrow(&objects->readers, &reader, &err);

	if (!rc)
		rc = outlook_read(reader.connection, work, &outlook, &err);
	if (rc)
		return;
	reader_return(&reader);
	/* Room is made before it is needed. */
	work->is_done = !work->blob || outlook.is_used || blob_remove(&objects->files, work->blob);
	if (!tree_follow(objects, work, &outlook))
		work->is_done = false;
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
		AUTO(statement) sqlite3_stmt *delete = connection_statement(connection, AFTERMATH_DELETE);

		bind_int(delete, ":id", batch->works[i].id);
		rc = statement_run(delete, err);
	}
	return rc;
}

/* False: some of it is left. */
static bool batch_do(struct objects *objects, struct batch *batch)
{
	size_t done = 0;

	for (size_t i = 0; i < batch->count; i++) {
		work_do(objects, &batch->works[i]);
		done += batch->works[i].is_done;
	}
	if (done && group_writer_change(objects->writer, batch_forget_run, batch, NULL))
		return false;
	return done == batch->count;
}

/* One look at every row. False: something is left to be tried again. */
static bool rows_do(struct objects *objects)
{
	struct batch *batch = calloc(1, sizeof(*batch));
	int64_t after = 0;
	bool is_clean = true;

	if (!batch)
		return false;
	for (;;) {
		const bool is_read = batch_read(objects, after, batch, NULL) == STATUS_OK;

		is_clean &= is_read;
		if (!is_read || batch->count == 0)
			break;
		/* What cannot be done now is no reason to leave the rest: it may be what makes room. */
		is_clean &= batch_do(objects, batch);
		after = batch->works[batch->count - 1].id;
		batch_deinit(batch);
	}
	batch_deinit(batch);
	free(batch);
	return is_clean;
}

/* Under the lock. A test's clock does not make time pass. */
static void retry_wait(struct aftermath *aftermath)
{
	int64_t until_us = clock_mono_us(&system_clock) + RETRY_US;
	struct timespec until = { .tv_sec = until_us / 1000000, .tv_nsec = until_us % 1000000 * 1000 };

	pthread_cond_timedwait(&aftermath->changed, &aftermath->lock, &until);
}

static void *aftermath_main(void *arg)
{
	struct aftermath *aftermath = arg;
	bool is_clean = true;

	pthread_mutex_lock(&aftermath->lock);
	for (;;) {
		uint64_t wanted;

		if (aftermath->wanted == aftermath->done && !is_clean && !aftermath->stopping)
			retry_wait(aftermath);
		while (aftermath->wanted == aftermath->done && is_clean && !aftermath->stopping)
			pthread_cond_wait(&aftermath->changed, &aftermath->lock);
		if (aftermath->stopping && aftermath->wanted == aftermath->done)
			break;
		wanted = aftermath->wanted;
		pthread_mutex_unlock(&aftermath->lock);
		is_clean = rows_do(aftermath->objects);
		pthread_mutex_lock(&aftermath->lock);
		aftermath->done = wanted;
		pthread_cond_broadcast(&aftermath->changed);
	}
	pthread_mutex_unlock(&aftermath->lock);
	return NULL;
}

void aftermath_begin(struct aftermath *aftermath)
{
	pthread_mutex_lock(&aftermath->lock);
	aftermath->wanted++;
	pthread_cond_broadcast(&aftermath->changed);
	pthread_mutex_unlock(&aftermath->lock);
}

void aftermath_wait(struct aftermath *aftermath)
{
	uint64_t wanted;

	pthread_mutex_lock(&aftermath->lock);
	wanted = aftermath->wanted;
	while (aftermath->done < wanted)
		pthread_cond_wait(&aftermath->changed, &aftermath->lock);
	pthread_mutex_unlock(&aftermath->lock);
}

enum status aftermath_open(struct objects *objects, struct aftermath **ret_aftermath, struct error *err)
{
	struct aftermath *aftermath = calloc(1, sizeof(*aftermath));
	pthread_condattr_t attributes;

	if (!aftermath)
		return error_no_memory(err);
	aftermath->objects = objects;
	aftermath->wanted = 1; /* what an earlier process left */
	pthread_mutex_init(&aftermath->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&aftermath->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	if (pthread_create(&aftermath->thread, NULL, aftermath_main, aftermath) != 0) {
		free(aftermath);
		return error_set(err, STATUS_UNAVAILABLE, NULL, "no thread for the files of objects");
	}
	*ret_aftermath = aftermath;
	return STATUS_OK;
}

void aftermath_close(struct aftermath *aftermath)
{
	if (!aftermath)
		return;
	pthread_mutex_lock(&aftermath->lock);
	aftermath->stopping = true;
	pthread_cond_broadcast(&aftermath->changed);
	pthread_mutex_unlock(&aftermath->lock);
	pthread_join(aftermath->thread, NULL);
	pthread_cond_destroy(&aftermath->changed);
	pthread_mutex_destroy(&aftermath->lock);
	free(aftermath);
}
