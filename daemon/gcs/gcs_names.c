/* SPDX-License-Identifier: Apache-2.0 */
/* daemon/gcs/gcs_names.c: files and directories that are removed, made, or have another name from now on. The kernel has
 * locked their directories, for all containers. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/gcs/gcs_client.h"
#include "daemon/gcs/gcs_files_parts.h"
#include "daemon/gcs/gcs_wait.h"

int gcs_remove(struct gcs_files *files, pid_t caller, const struct gcs_path *path)
{
	struct gcs_file *file = gcs_file_join(files, path->bucket, path->object, caller);
	const struct gcs_call call = { .caller = caller, .hurries = true };
	int problem = file ? gcs_file_lock(files, file, &call) : 0;

	if (problem) { /* what is being stored is stored before it is removed */
		gcs_file_leave(files, file);
		return problem;
	}
	problem = gcs_delete(files->client, &call, path->bucket, path->object);
	if (!problem || problem == -ENOENT) { /* or what is written on is stored nowhere */
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

/* Every file of one name, on one node, has another one now, or, without memory, its old one. */
static int names_move(struct gcs_files *files, uint64_t node, const char *bucket, const char *object,
		      const char *to_bucket, const char *to_object)
{
	struct gcs_file *file;
	int problem = 0;

	pthread_mutex_lock(&files->lock);
	gcs_names_forget(files, to_bucket, to_object, node);
	while (!problem && (file = gcs_file_find(files, bucket, object, node))) {
		char *new_bucket = strdup(to_bucket), *new_object = strdup(to_object);

		if (new_bucket && new_object) {
			gcs_file_unname(files, file);
			free(file->bucket);
			free(file->object);
			file->bucket = new_bucket;
			file->object = new_object;
			gcs_file_name(files, file);
		} else {
			free(new_bucket);
			free(new_object);
			problem = -ENOMEM;
		}
	}
	pthread_mutex_unlock(&files->lock);
	return problem;
}

int gcs_rename(struct gcs_files *files, pid_t caller, const struct gcs_path *from, const struct gcs_path *to)
{
	struct gcs_file *file = gcs_file_join(files, from->bucket, from->object, caller);
	const struct gcs_call call = { .caller = caller, .hurries = true };
	int problem = file ? gcs_file_lock(files, file, &call) : 0;

	if (problem) {
		gcs_file_leave(files, file);
		return problem;
	}
	if (file) /* held until it has its new name: what is written meanwhile is stored there */
		problem = gcs_file_store(files, file, &call);
	if (!problem)
		problem = gcs_copy(files->client, &call, from->bucket, from->object, to->bucket, to->object);
	if (!problem)
		problem = gcs_delete(files->client, &call, from->bucket, from->object);
	if (!problem) /* or it is stored under a name that nobody was told it has */
		problem = names_move(files, gcs_node_of(caller), from->bucket, from->object, to->bucket,
				     to->object);
	if (file) {
		file->generation = 0; /* as which it is now stored is not known */
		pthread_mutex_unlock(&file->lock);
		gcs_file_leave(files, file);
	}
	return problem;
}

/* ---- directories ---- */

int gcs_directory_make(struct gcs_files *files, pid_t caller, const struct gcs_path *path)
{
	const struct gcs_call call = { .caller = caller, .hurries = true };
	char name[GCS_OBJECT_SIZE];
	int64_t generation;

	gcs_path_prefix(path, name);
	return gcs_upload(files->client, &call, path->bucket, name, -1, 0, &generation);
}

int gcs_directory_remove(struct gcs_files *files, pid_t caller, const struct gcs_path *path)
{
	const struct gcs_call call = { .caller = caller, .hurries = true };
	char name[GCS_OBJECT_SIZE];
	int problem;

	gcs_path_prefix(path, name);
	problem = gcs_delete(files->client, &call, path->bucket, name);
	return problem == -ENOENT ? 0 : problem;
}

struct move {
	struct gcs_files *files;
	struct gcs_call call;
	const char *bucket, *to_bucket, *to_prefix;
	size_t skipped; /* of each name: the old prefix */
};

/* NULL: too long. */
static const char *moved_name(const struct move *move, const char *object, char name[GCS_OBJECT_SIZE])
{
	const int length = snprintf(name, GCS_OBJECT_SIZE, "%s%s", move->to_prefix, object + move->skipped);

	return length < GCS_OBJECT_SIZE - 1 ? name : NULL;
}

static int object_copy_over(void *arg, const char *object)
{
	const struct move *move = arg;
	char buffer[GCS_OBJECT_SIZE];
	const char *name = moved_name(move, object, buffer);

	return name ? gcs_copy(move->files->client, &move->call, move->bucket, object, move->to_bucket, name)
		    : -ENAMETOOLONG;
}

static int object_remove(void *arg, const char *object)
{
	const struct move *move = arg;
	int problem = gcs_delete(move->files->client, &move->call, move->bucket, object);

	return problem == -ENOENT ? 0 : problem;
}

/* The first file below a directory that has a name, or changes that are not stored: held. */
static struct gcs_file *file_join_below(struct gcs_files *files, uint64_t node, const char *bucket,
					const char *prefix, bool dirty_only)
{
	struct gcs_file *found = NULL;

	pthread_mutex_lock(&files->lock);
	for (size_t i = 0; !found && i < GCS_CHAIN_COUNT; i++)
		for (struct gcs_file *file = files->chains[i]; file && !found; file = file->next)
			if (file->node == node && strcmp(file->bucket, bucket) == 0 &&
			    strncmp(file->object, prefix, strlen(prefix)) == 0 &&
			    (!dirty_only || __atomic_load_n(&file->is_dirty, __ATOMIC_RELAXED)))
				found = file;
	if (found)
		found->handles++;
	pthread_mutex_unlock(&files->lock);
	return found;
}

static int changes_store_below(const struct move *move, const char *prefix)
{
	struct gcs_files *files = move->files;
	struct gcs_file *file;
	int problem = 0;

	while (!problem &&
	       (file = file_join_below(files, gcs_node_of(move->call.caller), move->bucket, prefix, true))) {
		problem = gcs_file_lock(files, file, &move->call);
		if (!problem) {
			problem = gcs_file_store(files, file, &move->call);
			pthread_mutex_unlock(&file->lock);
		}
		gcs_file_leave(files, file);
	}
	return problem;
}

static int names_move_below(const struct move *move, const char *prefix)
{
	struct gcs_file *file;
	int problem = 0;

	while (!problem && (file = file_join_below(move->files, gcs_node_of(move->call.caller), move->bucket,
						   prefix, false))) {
		char buffer[GCS_OBJECT_SIZE];
		struct gcs_path old;
		const char *name;

		gcs_file_place(move->files, file, &old);
		name = moved_name(move, old.object, buffer);
		problem = name ? names_move(move->files, file->node, old.bucket, old.object, move->to_bucket,
					    name)
			       : -ENAMETOOLONG;
		if (gcs_file_lock(move->files, file, &move->call) == 0) { /* else it is being stored anew */
			file->generation = 0;
			pthread_mutex_unlock(&file->lock);
		}
		gcs_file_leave(move->files, file);
	}
	return problem;
}

int gcs_rename_directory(struct gcs_files *files, pid_t caller, const struct gcs_path *from,
			 const struct gcs_path *to)
{
	char prefix[GCS_OBJECT_SIZE], to_prefix[GCS_OBJECT_SIZE];
	struct move move = { .files = files,
			     .call = { .caller = caller, .hurries = true },
			     .bucket = from->bucket,
			     .to_bucket = to->bucket,
			     .to_prefix = to_prefix };
	int problem;

	gcs_path_prefix(from, prefix);
	gcs_path_prefix(to, to_prefix);
	move.skipped = strlen(prefix);
	problem = changes_store_below(&move, prefix);
	if (!problem)
		problem = gcs_objects_each(files->index, from->bucket, prefix, object_copy_over, &move);
	if (!problem)
		problem = names_move_below(&move, prefix);
	if (!problem)
		problem = gcs_objects_each(files->index, from->bucket, prefix, object_remove, &move);
	return problem;
}
