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
#include "daemon/base/log.h"
#include "daemon/gcs/gcs_caller.h"
#include "daemon/gcs/gcs_client.h"
#include "daemon/gcs/gcs_files_parts.h"
#include "daemon/gcs/gcs_log.h"
#include "daemon/gcs/gcs_wait.h"
#include "store/objects.h"
#include "store/small_file.h"

struct gcs_handle {
	struct gcs_files *files;
	struct gcs_file *file;
	bool writes;
	struct object_reader *reader; /* NULL: the file was changed before it was opened */
};

struct gcs_files *gcs_files_new(const struct gcs_index *index, struct gcs_client *client, int state_fd)
{
	struct gcs_files *files = calloc(1, sizeof(*files));

	if (!files)
		return NULL;
	files->index = index;
	files->client = client;
	files->state_fd = state_fd;
	pthread_mutex_init(&files->lock, NULL);
	return files;
}

void gcs_files_free(struct gcs_files *files)
{
	if (!files)
		return;
	pthread_mutex_destroy(&files->lock);
	free(files);
}

static int file_changed_fd(const struct gcs_file *file)
{
	return __atomic_load_n(&file->changed_fd, __ATOMIC_ACQUIRE);
}

/* ---- the chains; all under the lock of all ---- */

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
	struct gcs_file *file = calloc(1, sizeof(*file));

	if (!file)
		return NULL;
	file->bucket = strdup(path->bucket);
	file->object = strdup(path->object);
	file->changed_fd = -1;
	file->handles = 1;
	pthread_mutex_init(&file->lock, NULL);
	if (file->bucket && file->object)
		return file;
	free(file->bucket);
	free(file->object);
	free(file);
	return NULL;
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
	pthread_mutex_destroy(&file->lock);
	free(file->bucket);
	free(file->object);
	free(file);
}

uint64_t gcs_node_of(pid_t caller)
{
	struct stat info;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", caller);
	return stat(path, &info) == 0 ? info.st_ino : 0;
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
		if (!is_node_known) /* mostly nobody asks */
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
	small_file_suffix(suffix); /* a start of the daemon sweeps what has it */
	snprintf(name, sizeof(name), "gcs%s", suffix);
	fd = openat(directory_fd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd >= 0)
		unlinkat(directory_fd, name, 0);
	return fd;
}

/* Its lock is held. @reader NULL: it begins empty. */
static int file_change(const struct gcs_files *files, struct gcs_file *file, struct object_reader *reader)
{
	int fd;
	enum status rc;

	if (file->changed_fd >= 0)
		return 0;
	fd = scratch_open(files->state_fd);
	if (fd < 0)
		return -errno;
	rc = reader ? object_reader_append(reader, fd, 0, NULL) : STATUS_OK;
	if (rc) {
		close(fd);
		return gcs_errno_of(rc);
	}
	__atomic_store_n(&file->changed_fd, fd, __ATOMIC_RELEASE);
	return 0;
}

static void file_touch(struct gcs_file *file)
{
	__atomic_store_n(&file->modified_us, clock_wall_us(&system_clock), __ATOMIC_RELAXED);
	__atomic_store_n(&file->is_dirty, true, __ATOMIC_RELAXED);
	__atomic_store_n(&file->is_cut_off, false, __ATOMIC_RELAXED);
	__atomic_store_n(&file->until_us, 0, __ATOMIC_RELAXED);
}

bool gcs_file_place(struct gcs_files *files, const struct gcs_file *file, struct gcs_path *ret_path)
{
	bool is_named;

	pthread_mutex_lock(&files->lock);
	is_named = file->is_named;
	snprintf(ret_path->bucket, sizeof(ret_path->bucket), "%s", file->bucket);
	snprintf(ret_path->object, sizeof(ret_path->object), "%s", file->object);
	pthread_mutex_unlock(&files->lock);
	return is_named;
}

/* Of whoever has it, for all that come with the same bytes to store. */
static struct gcs_call call_about(struct gcs_files *files, struct gcs_file *file, const struct gcs_call *call)
{
	struct gcs_call shared = *call;
	int64_t none = 0;

	shared.until_us = &file->until_us;
	__atomic_compare_exchange_n(shared.until_us, &none,
				    gcs_waits_until_us(gcs_client_waits(files->client)), false,
				    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	return shared;
}

static int64_t changed_bytes(const struct gcs_file *file)
{
	struct stat info;

	return fstat(file_changed_fd(file), &info) == 0 ? info.st_size : 0;
}

int gcs_file_lock(struct gcs_files *files, struct gcs_file *file, const struct gcs_call *call)
{
	struct gcs_wait wait;
	int problem;

	if (pthread_mutex_trylock(&file->lock) == 0)
		return 0;
	gcs_wait_begin(&wait, gcs_client_waits(files->client), call);
	problem = gcs_wait_lock(&wait, &file->lock, changed_bytes(file));
	gcs_wait_end(&wait);
	return problem;
}

int gcs_file_store(struct gcs_files *files, struct gcs_file *file, const struct gcs_call *call)
{
	struct gcs_call own;
	struct gcs_path place;
	struct stat info;
	int problem;

	if (!file->is_dirty || !gcs_file_place(files, file, &place))
		return 0;
	if (fstat(file->changed_fd, &info) != 0)
		return -errno;
	own = call_about(files, file, call);
	problem = gcs_upload(files->client, &own, place.bucket, place.object, file->changed_fd, info.st_size,
			     &file->generation);
	__atomic_store_n(&file->is_dirty, problem != 0, __ATOMIC_RELAXED);
	if (!problem) {
		__atomic_store_n(&file->is_cut_off, false, __ATOMIC_RELAXED);
		__atomic_store_n(&file->until_us, 0, __ATOMIC_RELAXED);
	}
	return problem;
}

/* ---- a handle ---- */

/* Whether somebody else has stored the name since a changed file was. One that is being stored is not outdated. */
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

/* What has changes is shared; otherwise each handle has a file of its own, with the bytes of now. */
static struct gcs_file *shared_find(struct gcs_files *files, const struct gcs_path *path, pid_t caller)
{
	struct gcs_file *file = gcs_file_join(files, path->bucket, path->object, caller);

	if (!file || !is_outdated(files, file, path))
		return file;
	gcs_file_leave(files, file);
	return NULL;
}

/* The same bytes, opened to be changed, are one file, whoever changes them first. */
static void handle_name(struct gcs_handle *handle, pid_t caller)
{
	struct gcs_files *files = handle->files;
	struct gcs_file *own = handle->file, *same;

	own->node = gcs_node_of(caller);
	own->base_generation = handle->reader ? object_reader_object(handle->reader)->generation : 0;
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

	if (how != GCS_ANEW) {
		enum status rc = object_open(files->index->objects, path->bucket, path->object, 0,
					     &handle->reader, NULL);

		if (rc)
			return gcs_errno_of(rc);
	}
	handle->file = file_new(path);
	if (!handle->file)
		return -ENOMEM;
	if (how == GCS_ANEW) {
		int problem = file_change(files, handle->file, NULL);

		if (problem)
			return problem;
		file_touch(handle->file);
	}
	if (how != GCS_READ)
		handle_name(handle, caller);
	return 0;
}

void gcs_handle_free(struct gcs_handle *handle)
{
	if (handle->file)
		gcs_file_leave(handle->files, handle->file);
	object_reader_close(handle->reader);
	free(handle);
}

int gcs_open(struct gcs_files *files, const struct gcs_path *path, enum gcs_opening how, pid_t caller,
	     struct gcs_handle **ret_handle)
{
	struct gcs_handle *handle = calloc(1, sizeof(*handle));
	int problem = 0;

	if (!handle)
		return -ENOMEM;
	handle->files = files;
	handle->writes = how != GCS_READ;
	if (how != GCS_ANEW)
		handle->file = shared_find(files, path, caller);
	if (!handle->file)
		problem = own_open(handle, path, how, caller);
	if (problem) {
		gcs_handle_free(handle);
		return problem;
	}
	*ret_handle = handle;
	return 0;
}

/* A network is waited for before its lock is had: whoever writes meanwhile does not wait as well. */
static int flush_wait(struct gcs_files *files, struct gcs_file *file, const struct gcs_call *call)
{
	const struct gcs_call own = call_about(files, file, call);
	struct gcs_wait wait;
	int problem;

	gcs_wait_begin(&wait, gcs_client_waits(files->client), &own);
	problem = gcs_wait_network(&wait);
	if (!problem)
		problem = gcs_wait_lock(&wait, &file->lock, changed_bytes(file));
	gcs_wait_end(&wait);
	return problem;
}

int gcs_flush(struct gcs_handle *handle, const struct gcs_call *call)
{
	struct gcs_file *file = handle->file;
	int problem;

	if (!handle->writes || !__atomic_load_n(&file->is_dirty, __ATOMIC_RELAXED))
		return 0;
	problem = flush_wait(handle->files, file, call);
	if (!problem) {
		problem = gcs_file_store(handle->files, file, call);
		pthread_mutex_unlock(&file->lock);
	}
	if (problem && gcs_caller_is_cut(call->caller))
		__atomic_store_n(&file->is_cut_off, true, __ATOMIC_RELAXED);
	return problem;
}

/* The last close is nobody's: what a container without a network could not store is not stored by us either. */
void gcs_close(struct gcs_handle *handle)
{
	static const struct gcs_call nobody;
	struct gcs_file *file = handle->file;
	const int problem = handle->writes && __atomic_load_n(&file->is_cut_off, __ATOMIC_RELAXED)
				    ? -EIO
				    : gcs_flush(handle, &nobody);
	struct gcs_path place;

	if (problem && gcs_log_allows()) {
		gcs_file_place(handle->files, file, &place); /* somebody may be renaming it */
		log_event(LOG_ERROR, "gcs-bytes-lost", "bucket=%s object=\"%s\" error=\"%s\"", place.bucket,
			  place.object, strerrordesc_np(-problem));
	}
	gcs_handle_free(handle);
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
	problem = file_change(handle->files, file, handle->reader);
	if (problem) {
		pthread_mutex_unlock(&file->lock);
		return problem;
	}
	file_touch(file);
	*ret_fd = file->changed_fd;
	return 0;
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
	problem = file_change(handle->files, file, size_bytes > 0 ? handle->reader : NULL);
	if (!problem && ftruncate(file->changed_fd, size_bytes) != 0)
		problem = -errno;
	if (!problem)
		file_touch(file);
	pthread_mutex_unlock(&file->lock);
	return problem;
}

/* It has changes. Their generation is not told: they are none. */
static void changes_facts(const struct gcs_file *file, struct gcs_facts *ret_facts)
{
	struct stat info;

	*ret_facts =
		(struct gcs_facts){ .modified_us = __atomic_load_n(&file->modified_us, __ATOMIC_RELAXED) };
	if (fstat(file_changed_fd(file), &info) == 0)
		ret_facts->size_bytes = info.st_size;
}

void gcs_handle_facts(struct gcs_handle *handle, struct gcs_facts *ret_facts)
{
	const struct object *object;

	if (file_changed_fd(handle->file) >= 0) {
		changes_facts(handle->file, ret_facts);
		return;
	}
	object = object_reader_object(handle->reader);
	*ret_facts = (struct gcs_facts){ .size_bytes = object->size_bytes,
					 .modified_us = object->updated_us,
					 .generation = object->generation };
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
