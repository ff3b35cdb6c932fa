/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/gcs/gcs_files.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/clock.h"
#include "daemon/base/memory.h"
#include "daemon/gcs/gcs_bytes.h"
#include "daemon/gcs/gcs_client.h"
#include "daemon/gcs/gcs_files_parts.h"
#include "daemon/gcs/gcs_notes.h"
#include "daemon/gcs/gcs_wait.h"
#include "store/objects/objects.h"
#include "store/small_file.h"

struct gcs_files *gcs_files_new(const struct gcs_index *index, struct gcs_client *client, int state_fd)
{
	struct gcs_files *files = memory_calloc(1, sizeof(*files));

	files->index = index;
	files->client = client;
	files->state_fd = state_fd;
	pthread_mutex_init(&files->lock, NULL);
	files->nodes = gcs_nodes_new(state_fd);
	return files;
}

void gcs_files_free(struct gcs_files *files)
{
	if (!files)
		return;
	files->end_us = clock_mono_us(&system_clock) + GCS_ENDING_S * INT64_C(1000000);
	while (files->handles)
		gcs_close(files->handles);
	gcs_nodes_free(files->nodes);
	pthread_mutex_destroy(&files->lock);
	free(files);
}

struct gcs_nodes *gcs_files_nodes(struct gcs_files *files)
{
	return files->nodes;
}

static int file_changed_fd(const struct gcs_file *file)
{
	return __atomic_load_n(&file->changed_fd, __ATOMIC_ACQUIRE);
}

/* ---- chains of files with the same hash; files->lock must be held ---- */

static struct gcs_file **chain_of(struct gcs_files *files, const char *bucket, const char *object)
{
	uint32_t hash = 2166136261u;

	for (const char *at = bucket; *at; at++)
		hash = (hash ^ (unsigned char)*at) * 16777619u;
	for (const char *at = object; *at; at++)
		hash = (hash ^ (unsigned char)*at) * 16777619u;
	return &files->chains[hash % GCS_CHAIN_COUNT];
}

static bool file_has_name(const struct gcs_file *file, const char *bucket, const char *object)
{
	return strcmp(file->object, object) == 0 && strcmp(file->bucket, bucket) == 0;
}

struct gcs_file *gcs_file_find(struct gcs_files *files, const char *bucket, const char *object, uint64_t node)
{
	struct gcs_file *file = *chain_of(files, bucket, object);

	while (file && (file->node != node || !file_has_name(file, bucket, object)))
		file = file->next;
	return file;
}

void gcs_file_name(struct gcs_files *files, struct gcs_file *file)
{
	struct gcs_file **chain = chain_of(files, file->bucket, file->object);

	file->next = *chain;
	*chain = file;
	file->is_named = true;
}

void gcs_file_unname(struct gcs_files *files, struct gcs_file *file)
{
	struct gcs_file **at = chain_of(files, file->bucket, file->object);

	if (!file->is_named)
		return;
	while (*at != file)
		at = &(*at)->next;
	*at = file->next;
	file->is_named = false;
}

void gcs_names_forget(struct gcs_files *files, const char *bucket, const char *object, uint64_t node)
{
	struct gcs_file *file;

	while ((file = gcs_file_find(files, bucket, object, node)))
		gcs_file_unname(files, file);
}

/* ---- a file ---- */

static struct gcs_file *file_new(const struct gcs_path *path)
{
	struct gcs_file *file = memory_calloc(1, sizeof(*file));

	file->bucket = memory_strdup(path->bucket);
	file->object = memory_strdup(path->object);
	file->changed_fd = -1;
	file->handles = 1;
	pthread_mutex_init(&file->lock, NULL);
	return file;
}

void gcs_file_leave(struct gcs_files *files, struct gcs_file *file)
{
	bool is_last;

	pthread_mutex_lock(&files->lock);
	is_last = --file->handles == 0;
	if (is_last)
		gcs_file_unname(files, file);
	pthread_mutex_unlock(&files->lock);
	if (!is_last)
		return;
	if (file->changed_fd >= 0)
		close(file->changed_fd);
	if (file->owner)
		gcs_node_leave(files->nodes, file->owner, file->reserved_bytes);
	pthread_mutex_destroy(&file->lock);
	free(file->bucket);
	free(file->object);
	free(file);
}

struct gcs_file *gcs_file_join(struct gcs_files *files, const char *bucket, const char *object, pid_t caller)
{
	struct gcs_file *file;
	bool is_node_known = false;
	uint64_t node = 0;

	pthread_mutex_lock(&files->lock);
	for (file = *chain_of(files, bucket, object); file; file = file->next) {
		if (file_changed_fd(file) < 0 || !file_has_name(file, bucket, object))
			continue;
		if (!is_node_known) /* found as late as possible, because usually no file in the chain gets here */
			node = gcs_node_of(caller);
		is_node_known = true;
		if (file->node == node)
			break;
	}
	if (file)
		file->handles++;
	pthread_mutex_unlock(&files->lock);
	return file;
}

static int scratch_open(int directory_fd)
{
	char suffix[SMALL_FILE_SUFFIX_SIZE], name[64];
	int fd = openat(directory_fd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT))
		return fd;
	small_file_suffix(suffix); /* the daemon's next start removes files with this suffix */
	snprintf(name, sizeof(name), "gcs%s", suffix);
	fd = openat(directory_fd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd >= 0)
		unlinkat(directory_fd, name, 0);
	return fd;
}

/* Makes the file for the changed bytes, if there is none yet: a copy of the object of @reader, or empty if @reader
 * is NULL. The caller holds file->lock. */
static int file_change(const struct gcs_files *files, struct gcs_file *file, struct object_reader *reader,
		       const struct gcs_call *call)
{
	const int64_t size_bytes = reader ? object_reader_object(reader)->size_bytes : 0;
	int fd, problem;

	if (file->changed_fd >= 0)
		return 0;
	problem = gcs_node_reserve(files->nodes, file->owner, &file->reserved_bytes, size_bytes);
	if (problem)
		return problem;
	fd = scratch_open(files->state_fd);
	if (fd < 0)
		return -errno;
	problem = reader ? gcs_bytes_copy(object_reader_file(reader), size_bytes, fd, call) : 0;
	if (problem) {
		close(fd);
		return problem;
	}
	__atomic_store_n(&file->changed_fd, fd, __ATOMIC_RELEASE);
	return 0;
}

static void file_touch(struct gcs_file *file)
{
	__atomic_store_n(&file->modified_ns, clock_wall_ns(&system_clock), __ATOMIC_RELAXED);
	__atomic_store_n(&file->is_dirty, true, __ATOMIC_RELAXED);
	__atomic_store_n(&file->is_cut_off, false, __ATOMIC_RELAXED);
	__atomic_store_n(&file->given_up_us, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&file->until_us, 0, __ATOMIC_RELAXED);
}

/* ---- a handle ---- */

/* True if another process has stored an object of this name after the changes of @file were stored. A file with
 * unsaved changes, or one that is being stored now, is not outdated. */
static bool is_outdated(const struct gcs_files *files, struct gcs_file *file, const struct gcs_path *path)
{
	struct object object AUTO_OBJECT = { 0 };
	bool is_outdated = false;

	if (pthread_mutex_trylock(&file->lock) != 0)
		return false;
	if (!file->is_dirty)
		is_outdated =
			object_get(files->index->objects, path->bucket, path->object, 0, &object, NULL) ||
			object.generation != file->generation;
	pthread_mutex_unlock(&file->lock);
	return is_outdated;
}

/* Returns the changed file of the name on the caller's node, which handles share; NULL if there is none: the handle
 * then gets a file of its own, with the stored bytes. */
static struct gcs_file *shared_find(struct gcs_files *files, const struct gcs_path *path, pid_t caller)
{
	struct gcs_file *file = gcs_file_join(files, path->bucket, path->object, caller);

	if (!file || !is_outdated(files, file, path))
		return file;
	gcs_file_leave(files, file);
	return NULL;
}

/* Registers the handle's new file under its name and node. If such a file, with the same stored object, is registered
 * already, the handle uses that file instead: all handles of a node that change the same object share one file. */
static void handle_name(struct gcs_handle *handle, pid_t caller)
{
	struct gcs_files *files = handle->files;
	struct gcs_file *own = handle->file, *same;

	own->node = gcs_node_of(caller);
	own->base_generation = handle->reader ? object_reader_object(handle->reader)->generation : 0;
	own->owner = gcs_node_join(files->nodes, own->node);
	pthread_mutex_lock(&files->lock);
	same = own->base_generation ? *chain_of(files, own->bucket, own->object) : NULL;
	while (same && (same->node != own->node || same->base_generation != own->base_generation ||
			!file_has_name(same, own->bucket, own->object)))
		same = same->next;
	if (same) {
		same->handles++;
		handle->file = same;
	} else {
		gcs_file_name(files, own);
	}
	pthread_mutex_unlock(&files->lock);
	if (same)
		gcs_file_leave(files, own);
}

static int own_open(struct gcs_handle *handle, const struct gcs_path *path, enum gcs_opening how,
		    pid_t caller)
{
	struct gcs_files *files = handle->files;
	int problem = 0;

	if (how != GCS_ANEW) {
		enum status rc = object_open(files->index->objects, path->bucket, path->object, 0,
					     &handle->reader, NULL);

		if (rc)
			return gcs_errno_of(rc);
	}
	handle->file = file_new(path);
	if (how == GCS_READ)
		return 0;
	handle_name(handle, caller);
	if (how == GCS_ANEW)
		problem = file_change(files, handle->file, NULL, NULL);
	if (!problem && how == GCS_ANEW)
		file_touch(handle->file);
	return problem;
}

static struct gcs_handle *handle_new(struct gcs_files *files)
{
	struct gcs_handle *handle = memory_calloc(1, sizeof(*handle));

	handle->files = files;
	pthread_mutex_lock(&files->lock);
	handle->next = files->handles;
	handle->self = &files->handles;
	if (handle->next)
		handle->next->self = &handle->next;
	files->handles = handle;
	pthread_mutex_unlock(&files->lock);
	return handle;
}

void gcs_handle_free(struct gcs_handle *handle)
{
	pthread_mutex_lock(&handle->files->lock);
	*handle->self = handle->next;
	if (handle->next)
		handle->next->self = handle->self;
	pthread_mutex_unlock(&handle->files->lock);
	if (handle->file)
		gcs_file_leave(handle->files, handle->file);
	object_reader_close(handle->reader);
	gcs_node_close(handle->files->nodes, handle->opener);
	free(handle);
}

int gcs_open(struct gcs_files *files, const struct gcs_path *path, enum gcs_opening how, pid_t caller,
	     struct gcs_handle **ret_handle)
{
	struct gcs_handle *handle = handle_new(files);
	int problem;

	handle->writes = how != GCS_READ;
	problem = gcs_node_open(files->nodes, gcs_node_of(caller), &handle->opener);
	if (!problem && how != GCS_ANEW)
		handle->file = shared_find(files, path, caller);
	if (!problem && !handle->file)
		problem = own_open(handle, path, how, caller);
	if (problem) {
		gcs_handle_free(handle);
		return problem;
	}
	*ret_handle = handle;
	return 0;
}

bool gcs_handle_is_busy(const struct gcs_handle *handle)
{
	if (!handle->writes || file_changed_fd(handle->file) < 0)
		return true;
	if (pthread_mutex_trylock(&handle->file->lock) != 0)
		return true;
	pthread_mutex_unlock(&handle->file->lock);
	return false;
}

uint64_t gcs_handle_node(const struct gcs_handle *handle)
{
	return handle->file->node;
}

void gcs_handle_give_up(struct gcs_handle *handle)
{
	__atomic_store_n(&handle->file->given_up_us, clock_mono_us(&system_clock), __ATOMIC_RELAXED);
}

int gcs_bytes(struct gcs_handle *handle)
{
	const int fd = file_changed_fd(handle->file);

	return fd >= 0 ? fd : object_reader_file(handle->reader);
}

int gcs_write_begin(struct gcs_handle *handle, const struct gcs_call *call, int *ret_fd)
{
	struct gcs_file *file = handle->file;
	int problem = gcs_file_lock(handle->files, file, call);

	if (problem)
		return problem;
	problem = file_change(handle->files, file, handle->reader, call);
	if (problem) {
		pthread_mutex_unlock(&file->lock);
		return problem;
	}
	file_touch(file);
	*ret_fd = file->changed_fd;
	return 0;
}

int gcs_write_room(struct gcs_handle *handle, int64_t size_bytes)
{
	struct gcs_file *file = handle->file;
	struct stat info;

	if (!file->reserved_bytes && fstat(file->changed_fd, &info) == 0 && info.st_size > size_bytes)
		size_bytes = info.st_size; /* first change since it was stored: reserve the whole file */
	return gcs_node_reserve(handle->files->nodes, file->owner, &file->reserved_bytes, size_bytes);
}

void gcs_write_end(struct gcs_handle *handle)
{
	pthread_mutex_unlock(&handle->file->lock);
}

int gcs_resize(struct gcs_handle *handle, const struct gcs_call *call, int64_t size_bytes)
{
	struct gcs_file *file = handle->file;
	int problem = gcs_file_lock(handle->files, file, call);

	if (problem)
		return problem;
	problem = file_change(handle->files, file, size_bytes > 0 ? handle->reader : NULL, call);
	if (!problem)
		problem = gcs_node_reserve(handle->files->nodes, file->owner, &file->reserved_bytes, size_bytes);
	if (!problem && ftruncate(file->changed_fd, size_bytes) != 0)
		problem = -errno;
	if (!problem)
		file_touch(file);
	pthread_mutex_unlock(&file->lock);
	return problem;
}

/* Reads size and time of the unsaved changes; their generation is 0, because they are not an object. */
static void changes_facts(const struct gcs_file *file, struct gcs_facts *ret_facts)
{
	struct stat info;

	*ret_facts =
		(struct gcs_facts){ .modified_ns = __atomic_load_n(&file->modified_ns, __ATOMIC_RELAXED) };
	if (fstat(file_changed_fd(file), &info) == 0)
		ret_facts->size_bytes = info.st_size;
}

void gcs_handle_facts(struct gcs_handle *handle, struct gcs_facts *ret_facts)
{
	int64_t noted_ns;

	if (file_changed_fd(handle->file) >= 0) {
		changes_facts(handle->file, ret_facts);
		return;
	}
	*ret_facts = gcs_facts_of(object_reader_object(handle->reader));
	noted_ns = __atomic_load_n(&handle->file->modified_ns, __ATOMIC_RELAXED);
	if (noted_ns)
		ret_facts->modified_ns = noted_ns;
}

/* ---- names ---- */

bool gcs_changes_look(struct gcs_files *files, const struct gcs_path *path, pid_t caller,
		      struct gcs_facts *ret_facts)
{
	struct gcs_file *file = shared_find(files, path, caller);

	if (!file)
		return false;
	changes_facts(file, ret_facts);
	gcs_file_leave(files, file);
	return true;
}

void gcs_changes_each(struct gcs_files *files, const char *bucket, const char *prefix, pid_t caller,
		      void (*each)(void *arg, const char *name), void *arg)
{
	const size_t skipped = strlen(prefix);
	const uint64_t node = gcs_node_of(caller);

	pthread_mutex_lock(&files->lock);
	for (size_t i = 0; i < GCS_CHAIN_COUNT; i++)
		for (const struct gcs_file *file = files->chains[i]; file; file = file->next)
			if (file->node == node && strcmp(file->bucket, bucket) == 0 &&
			    strncmp(file->object, prefix, skipped) == 0 &&
			    !strchr(file->object + skipped, '/'))
				each(arg, file->object + skipped);
	pthread_mutex_unlock(&files->lock);
}
