/* SPDX-License-Identifier: Apache-2.0 */
#include "store/objects/objects.h"
#include "daemon/base/memory.h"
#include "store/disk_words.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "daemon/base/log.h"
#include "daemon/base/text.h"
#include "store/objects/assembly_rows.h"
#include "store/objects/object_rows.h"
#include "store/objects/objects_parts.h"
#include "store/objects/post_commit.h"
#include "store/objects/sessions.h"

/* Commits are not tried with less free space than this. */
enum { ROOM_BYTES = 256 * 1024 };
#define DAY_US (INT64_C(86400) * 1000 * 1000)

DEFINE_AUTO(objects, struct objects *, objects_free)

enum status objects_new(const struct objects_options *options, struct objects **ret_objects,
			struct error *err)
{
	AUTO(objects) struct objects *objects = memory_calloc(1, sizeof(*objects));

	pthread_mutex_init(&objects->lock, NULL);
	pthread_mutex_init(&objects->sessions.lock, NULL);
	objects->files = (struct blob_files){ -1, -1, -1, -1, 0 };
	objects->clock = options->clock;
	objects->reads_only = options->reads_only;
	objects->state_dir = memory_strdup(options->state_dir);
	objects->auto_project = memory_strdup(options->auto_project);
	if (sodium_init() < 0)
		return error_set(err, STATUS_INTERNAL, NULL, "the system's random number generator failed");
	*ret_objects = TAKE(objects);
	return STATUS_OK;
}

static void parts_close(struct objects *objects)
{
	post_commit_close(objects->post_commit);
	objects->post_commit = NULL;
	reader_pool_deinit(&objects->readers);
	group_writer_close(objects->writer);
	objects->writer = NULL;
	blob_files_close(&objects->files);
}

void objects_free(struct objects *objects)
{
	if (!objects)
		return;
	live_sessions_forget(&objects->sessions);
	parts_close(objects);
	pthread_mutex_destroy(&objects->sessions.lock);
	pthread_mutex_destroy(&objects->lock);
	free(objects->state_dir);
	free(objects->auto_project);
	free(objects);
}

struct recovery {
	const struct blob_files *files;
	struct connection *connection;
};

/* Handles a file that an earlier process left in uploads: removes it if nothing uses it, and moves it to its place if
 * an object does. */
static enum status upload_recover(void *arg, int64_t blob, struct error *err)
{
	enum { AN_OBJECT = 1 };
	const struct recovery *recovery = arg;
	AUTO(statement) sqlite3_stmt *use = connection_statement(recovery->connection, BLOB_USE);
	bool row = false;
	enum status rc;

	bind_int(use, ":blob", blob);
	rc = statement_step(use, &row, err);
	if (rc)
		return rc;
	if (!row)
		blob_remove(recovery->files, blob);
	else if (sqlite3_column_int(use, 0) == AN_OBJECT)
		blob_move_to_place(recovery->files, blob);
	return STATUS_OK;
}

static enum status database_open(struct objects *objects, const char *path, struct error *err)
{
	AUTO(connection) struct connection *connection = NULL;
	enum status rc = connection_open(path, OBJECTS_WRITER, &connection, err);
	struct recovery recovery = { &objects->files, connection };

	if (!rc)
		rc = blob_uploads_each(&objects->files, upload_recover, &recovery, err);
	if (!rc)
		rc = group_writer_open(connection, objects->clock, "storage", &(struct group_hooks){ 0 },
				       &objects->writer, err);
	if (!rc)
		connection = NULL; /* the writer's now */
	return rc;
}

static enum status parts_open(struct objects *objects, struct error *err)
{
	const bool writes = !objects->reads_only;
	struct text path AUTO_TEXT = { 0 };
	enum status rc;

	text_printf(&path, "%s/storage.db", objects->state_dir);
	rc = blob_files_open(&objects->files, objects->state_dir, err);
	if (!rc && writes)
		rc = database_open(objects, path.data, err);
	if (!rc)
		reader_pool_init(&objects->readers, path.data, OBJECTS_READER);
	if (!rc && writes)
		rc = post_commit_open(objects, &objects->post_commit, err);
	if (rc)
		parts_close(objects);
	return rc;
}

/* Turns UNAVAILABLE into RESOURCE_EXHAUSTED if the reason is that the disk is full. */
static enum status room_check(const struct objects *objects, enum status rc, struct error *err)
{
	struct text text AUTO_TEXT = { 0 };
	struct statvfs info;

	if (rc != STATUS_UNAVAILABLE || statvfs(objects->state_dir, &info) != 0 ||
	    (uint64_t)info.f_bavail * info.f_frsize >= ROOM_BYTES)
		return rc;
	disk_full_write(&text, objects->state_dir);
	return error_set(err, STATUS_RESOURCE_EXHAUSTED, NULL, "The disk that holds the objects is full: %s.",
			 text.data);
}

enum status objects_use(struct objects *objects, struct error *err)
{
	enum status rc = STATUS_OK;

	if (__atomic_load_n(&objects->is_open, __ATOMIC_ACQUIRE))
		return STATUS_OK;
	pthread_mutex_lock(&objects->lock);
	if (!objects->is_open) {
		rc = parts_open(objects, err);
		__atomic_store_n(&objects->is_open, !rc, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&objects->lock);
	return rc ? room_check(objects, rc, err) : STATUS_OK;
}

enum status objects_prepare(struct objects *objects, struct error *err)
{
	return objects_use(objects, err);
}

enum status objects_read(struct objects *objects, struct reader *ret_reader, struct error *err)
{
	enum status rc = objects_use(objects, err);

	return rc ? rc : reader_borrow(&objects->readers, ret_reader, err);
}

enum status objects_change(struct objects *objects, group_run run, void *arg, struct error *err)
{
	enum status rc = objects->reads_only ? error_set(err, STATUS_FAILED_PRECONDITION, NULL,
							 "This connection may only read objects.")
					     : objects_use(objects, err);

	if (!rc)
		rc = group_writer_change(objects->writer, run, arg, err);
	if (rc)
		return room_check(objects, rc, err);
	__atomic_add_fetch(&objects->change_count, 1, __ATOMIC_RELEASE); /* now that readers see it */
	post_commit_begin(objects->post_commit);
	return STATUS_OK;
}

/* Takes a generation: one more than the last, because the time is passed as 0. Storing it makes the commit wait for the
 * disk. The clock is not used, because it may be set back. */
static enum status promise_run(struct connection *connection, int64_t now_ns, void *arg, struct error *err)
{
	(void)now_ns;
	return generation_next(connection, 0, arg, err);
}

int64_t objects_next_generation(struct objects *objects)
{
	struct error err AUTO_ERROR = { 0 };
	int64_t taken = 0;

	if (objects->reads_only || objects_use(objects, &err) ||
	    group_writer_change_lasting(objects->writer, promise_run, &taken, &err))
		return 0;
	return taken + 1;
}

uint64_t objects_change_count(const struct objects *objects)
{
	return __atomic_load_n(&objects->change_count, __ATOMIC_ACQUIRE);
}

static enum status expiry_run(struct connection *connection, int64_t now_ns, void *arg, struct error *err)
{
	(void)now_ns;
	AUTO(statement) sqlite3_stmt *old = connection_statement(connection, SESSIONS_OLD);
	enum status rc = STATUS_OK;

	bind_int(old, ":before", *(const int64_t *)arg);
	while (statement_next(old, &rc, err))
		rc = post_commit_add(connection, column_text(old, 0), NULL, sqlite3_column_int64(old, 1),
				     err);
	return rc ? rc : assemblies_expire(connection, *(const int64_t *)arg, err);
}

enum status objects_expire(struct objects *objects, struct error *err)
{
	int64_t now_us = clock_wall_us(objects->clock);
	int64_t before_us = now_us - SESSION_LIFETIME_US;
	bool is_due;

	pthread_mutex_lock(&objects->lock);
	is_due = objects->cleaned_day != now_us / DAY_US;
	objects->cleaned_day = now_us / DAY_US;
	pthread_mutex_unlock(&objects->lock);
	if (!is_due)
		return STATUS_OK;
	live_sessions_expire(&objects->sessions, before_us);
	return objects_change(objects, expiry_run, &before_us, err);
}

void objects_recover(struct objects *objects)
{
	struct text path AUTO_TEXT = { 0 };
	struct error err AUTO_ERROR = { 0 };
	enum status rc;

	text_printf(&path, "%s/storage.db", objects->state_dir);
	if (access(path.data, F_OK) != 0)
		return;
	rc = objects_use(objects, &err);
	if (!rc)
		rc = objects_expire(objects, &err);
	if (rc)
		log_event(LOG_WARNING, "storage-unopened", "status=%s error=\"%s\"", status_name(rc),
			  err.text ? err.text : "");
}
