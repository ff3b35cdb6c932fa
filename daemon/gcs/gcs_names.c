/* SPDX-License-Identifier: Apache-2.0 */
/* daemon/gcs/gcs_names.c: makes, removes and renames files and directories. During each call the kernel has locked
 * the directory, for all containers. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/memory.h"
#include "daemon/gcs/gcs_client.h"
#include "daemon/gcs/gcs_files_parts.h"
#include "daemon/gcs/gcs_notes.h"
#include "daemon/gcs/gcs_wait.h"
#include "store/objects/objects.h"

enum { MOVE_TRIES = 8, PASSES_MOST = 8 };

int gcs_remove(struct gcs_files *files, pid_t caller, const struct gcs_path *path)
{
	struct gcs_file *file = gcs_file_join(files, path->bucket, path->object, caller);
	const struct gcs_call call = { .caller = caller, .hurries = true };
	int problem = file ? gcs_file_lock(files, file, &call) : 0;

	if (problem) { /* gcs_file_lock() failed while another thread stores the file */
		gcs_file_leave(files, file);
		return problem;
	}
	problem = gcs_delete(files->client, &call, path->bucket, path->object, 0);
	if (!problem || problem == -ENOENT) { /* -ENOENT: the file has unsaved changes only, which are dropped */
		pthread_mutex_lock(&files->lock);
		gcs_names_forget(files, path->bucket, path->object, gcs_node_of(caller));
		pthread_mutex_unlock(&files->lock);
	}
	if (!file)
		return problem;
	pthread_mutex_unlock(&file->lock);
	gcs_file_leave(files, file);
	return problem == -ENOENT ? 0 : problem;
}

/* Gives all open files of one name on one node the new name. */
static void names_move(struct gcs_files *files, uint64_t node, const char *bucket, const char *object,
		       const char *to_bucket, const char *to_object)
{
	struct gcs_file *file;

	pthread_mutex_lock(&files->lock);
	gcs_names_forget(files, to_bucket, to_object, node);
	while ((file = gcs_file_find(files, bucket, object, node))) {
		gcs_file_unname(files, file);
		free(file->bucket);
		free(file->object);
		file->bucket = memory_strdup(to_bucket);
		file->object = memory_strdup(to_object);
		gcs_file_name(files, file);
	}
	pthread_mutex_unlock(&files->lock);
}

/* Copies the object, then removes the old one; repeats both if a program stores the object again in between. */
static int object_move(const struct gcs_files *files, const struct gcs_call *call, const char *bucket,
		       const char *object, const char *to_bucket, const char *to_object)
{
	bool is_copied = false;
	int problem = -EBUSY;

	for (unsigned tries = 0; problem == -EBUSY && tries < MOVE_TRIES; tries++) {
		struct object found AUTO_OBJECT = { 0 };

		problem = gcs_errno_of(object_get(files->index->objects, bucket, object, 0, &found, NULL));
		if (!problem)
			problem = gcs_copy(files->client, call, bucket, object, to_bucket, to_object);
		is_copied = is_copied || !problem;
		if (!problem)
			problem = gcs_delete(files->client, call, bucket, object, found.generation);
	}
	return is_copied && problem == -ENOENT ? 0 : problem;
}

/* Returns the newest open file of the name, with a reference; also one without changes, which may get some. NULL:
 * none. */
static struct gcs_file *file_hold(struct gcs_files *files, uint64_t node, const char *bucket,
				  const char *object)
{
	struct gcs_file *file;

	pthread_mutex_lock(&files->lock);
	file = gcs_file_find(files, bucket, object, node);
	if (file)
		file->handles++;
	pthread_mutex_unlock(&files->lock);
	return file;
}

static int entry_rename(struct gcs_files *files, const struct gcs_call *call, const char *bucket,
			const char *object, const char *to_bucket, const char *to_object)
{
	const uint64_t node = gcs_node_of(call->caller);
	struct gcs_file *file = file_hold(files, node, bucket, object);
	int problem = file ? gcs_file_lock(files, file, call) : 0;

	if (problem) {
		gcs_file_leave(files, file);
		return problem;
	}
	/* The file's lock is held until the file has its new name. Unsaved changes are not stored first: storing may
	 * take long, and the directory is locked for all containers. They are stored under the new name later. */
	problem = object_move(files, call, bucket, object, to_bucket, to_object);
	if (problem == -ENOENT && file)
		problem = 0; /* the object was removed while the file is open */
	if (!problem)        /* else later changes would be stored under the old name */
		names_move(files, node, bucket, object, to_bucket, to_object);
	if (file) {
		file->generation = 0; /* the copy's generation is not known */
		pthread_mutex_unlock(&file->lock);
		gcs_file_leave(files, file);
	}
	return problem;
}

int gcs_rename(struct gcs_files *files, pid_t caller, const struct gcs_path *from, const struct gcs_path *to)
{
	const struct gcs_call call = { .caller = caller, .hurries = true };

	return entry_rename(files, &call, from->bucket, from->object, to->bucket, to->object);
}

int gcs_link_make(struct gcs_files *files, pid_t caller, const struct gcs_path *path, const char *target)
{
	const struct gcs_call call = { .caller = caller, .hurries = true };
	const struct gcs_content content = { .fd = -1, .key = GCS_NOTE_TARGET, .value = target };
	int64_t generation;

	return gcs_upload(files->client, &call, path->bucket, path->object, &content, &generation);
}

/* ---- directories ---- */

int gcs_directory_make(struct gcs_files *files, pid_t caller, const struct gcs_path *path)
{
	const struct gcs_call call = { .caller = caller, .hurries = true };
	char name[GCS_OBJECT_SIZE];
	int64_t generation;

	gcs_path_prefix(path, name);
	return gcs_upload(files->client, &call, path->bucket, name, &(struct gcs_content){ .fd = -1 },
			  &generation);
}

int gcs_directory_remove(struct gcs_files *files, pid_t caller, const struct gcs_path *path)
{
	const struct gcs_call call = { .caller = caller, .hurries = true };
	char name[GCS_OBJECT_SIZE];
	int problem;

	gcs_path_prefix(path, name);
	problem = gcs_delete(files->client, &call, path->bucket, name, 0);
	return problem == -ENOENT ? 0 : problem;
}

struct move {
	struct gcs_files *files;
	struct gcs_call call;
	const char *bucket, *to_bucket, *to_prefix;
	size_t skipped; /* length of the old prefix, which each name loses */
	bool has_moved; /* this pass has found an object to move */
};

static int moved_rename(const struct move *move, const char *object)
{
	char name[GCS_OBJECT_SIZE];
	const int length = snprintf(name, sizeof(name), "%s%s", move->to_prefix, object + move->skipped);

	if (length >= GCS_OBJECT_SIZE - 1)
		return -ENAMETOOLONG;
	return entry_rename(move->files, &move->call, move->bucket, object, move->to_bucket, name);
}

static int object_rename(void *arg, const char *object)
{
	struct move *move = arg;
	const int problem = moved_rename(move, object);

	move->has_moved = true;
	return problem == -ENOENT ? 0 : problem; /* -ENOENT: another process removed the object */
}

/* Finds an open file of the caller's node with a name that begins with @prefix. True: *ret_path is its path. */
static bool file_find_below(const struct move *move, const char *prefix, struct gcs_path *ret_path)
{
	const uint64_t node = gcs_node_of(move->call.caller);
	struct gcs_files *files = move->files;
	bool found = false;

	pthread_mutex_lock(&files->lock);
	for (size_t i = 0; !found && i < GCS_CHAIN_COUNT; i++)
		for (const struct gcs_file *file = files->chains[i]; file && !found; file = file->next) {
			found = file->node == node && strcmp(file->bucket, move->bucket) == 0 &&
				strncmp(file->object, prefix, strlen(prefix)) == 0;
			if (found)
				snprintf(ret_path->object, sizeof(ret_path->object), "%s", file->object);
		}
	pthread_mutex_unlock(&files->lock);
	return found;
}

/* Renames open files below the directory too: otherwise they could be stored again under the old name. */
static int files_rename_below(const struct move *move, const char *prefix)
{
	struct gcs_path path;
	int problem = 0;

	while (!problem && file_find_below(move, prefix, &path)) {
		problem = moved_rename(move, path.object);
		if (problem == -ENOENT) /* the file was closed meanwhile, and has no object */
			problem = 0;
	}
	return problem;
}

/* Makes several passes, so that objects stored below the directory meanwhile are moved as well. Objects that are still
 * there after PASSES_MOST passes keep their old names. */
int gcs_rename_directory(struct gcs_files *files, pid_t caller, const struct gcs_path *from,
			 const struct gcs_path *to)
{
	char prefix[GCS_OBJECT_SIZE], to_prefix[GCS_OBJECT_SIZE];
	struct move move = { .files = files,
			     .call = { .caller = caller, .hurries = true },
			     .bucket = from->bucket,
			     .to_bucket = to->bucket,
			     .to_prefix = to_prefix,
			     .has_moved = true };
	int problem = 0;

	gcs_path_prefix(from, prefix);
	gcs_path_prefix(to, to_prefix);
	move.skipped = strlen(prefix);
	for (unsigned passes = 0; !problem && move.has_moved && passes < PASSES_MOST; passes++) {
		move.has_moved = false;
		problem = files_rename_below(&move, prefix);
		if (!problem)
			problem = gcs_objects_each(files->index, from->bucket, prefix, object_rename, &move);
	}
	return problem;
}
