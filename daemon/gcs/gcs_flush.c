/* SPDX-License-Identifier: Apache-2.0 */
/* daemon/gcs/gcs_flush.c: stores changed files as objects. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "daemon/base/clock.h"
#include "daemon/base/log.h"
#include "daemon/gcs/gcs_caller.h"
#include "daemon/gcs/gcs_client.h"
#include "daemon/gcs/gcs_files_parts.h"
#include "daemon/gcs/gcs_log.h"
#include "daemon/gcs/gcs_notes.h"
#include "daemon/gcs/gcs_wait.h"
#include "store/objects/objects.h"

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

/* A copy of @call that shares its time limit with all calls, of any process, that store the same bytes. */
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

	return fstat(__atomic_load_n(&file->changed_fd, __ATOMIC_ACQUIRE), &info) == 0 ? info.st_size : 0;
}

int gcs_file_lock(struct gcs_files *files, struct gcs_file *file, const struct gcs_call *call)
{
	struct gcs_wait wait;
	int problem;

	if (pthread_mutex_trylock(&file->lock) == 0)
		return 0;
	if (call->hurries)
		__atomic_add_fetch(&file->hurried, 1, __ATOMIC_RELAXED);
	gcs_wait_begin(&wait, gcs_client_waits(files->client), call);
	problem = gcs_wait_lock(&wait, &file->lock, changed_bytes(file));
	gcs_wait_end(&wait);
	if (call->hurries)
		__atomic_sub_fetch(&file->hurried, 1, __ATOMIC_RELAXED);
	return problem;
}

int gcs_file_store(struct gcs_files *files, struct gcs_file *file, const struct gcs_call *call)
{
	struct gcs_content content = { .fd = file->changed_fd, .key = GCS_NOTE_TIME };
	char time[GCS_TIME_SIZE];
	struct gcs_call own;
	struct gcs_path place = { 0 };
	struct stat info;
	int problem;

	if (!file->is_dirty || !gcs_file_place(files, file, &place))
		return 0;
	if (fstat(file->changed_fd, &info) != 0)
		return -errno;
	own = call_about(files, file, call);
	own.hurried = &file->hurried;
	gcs_time_write(__atomic_load_n(&file->modified_ns, __ATOMIC_RELAXED), time);
	content.size_bytes = info.st_size;
	content.value = time;
	problem = gcs_upload(files->client, &own, place.bucket, place.object, &content, &file->generation);
	__atomic_store_n(&file->is_dirty, problem != 0, __ATOMIC_RELAXED);
	if (!problem) {
		gcs_node_release(files->nodes, file->owner, &file->reserved_bytes);
		__atomic_store_n(&file->is_cut_off, false, __ATOMIC_RELAXED);
		__atomic_store_n(&file->until_us, 0, __ATOMIC_RELAXED);
	}
	return problem;
}

/* ---- storing a handle's changes ---- */

/* Waits for the network, then takes the file's lock: in this order, writers can go on during a network failure. */
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

/* Stores the file once. A waiting rename is done first; the file is then stored under its new name. */
static int flush_try(struct gcs_files *files, struct gcs_file *file, const struct gcs_call *call)
{
	int problem;

	do {
		problem = gcs_wait_way(call, &file->hurried);
		if (!problem)
			problem = flush_wait(files, file, call);
		if (!problem) {
			problem = gcs_file_store(files, file, call);
			pthread_mutex_unlock(&file->lock);
		}
	} while (problem == -EAGAIN);
	return problem;
}

/* A copy of @call with a deadline if its process is ending. A process that is exiting can no longer be killed, so it
 * waits at most as long as an engine waits for a container's end; a killed process waits hardly at all. The last close
 * stores the remaining bytes. */
static struct gcs_call call_ending(const struct gcs_files *files, const struct gcs_file *file,
				   const struct gcs_call *call)
{
	struct gcs_call own = *call;

	if (gcs_caller_is_killed(call->caller))
		own.end_us = gcs_node_killed_until_us(files->nodes, file->owner);
	else if (gcs_caller_is_ending(call->caller))
		own.end_us = clock_mono_us(&system_clock) + GCS_ENDING_S * INT64_C(1000000);
	return own;
}

bool gcs_handle_is_unsaved(const struct gcs_handle *handle)
{
	return handle->writes && __atomic_load_n(&handle->file->is_dirty, __ATOMIC_RELAXED);
}

int gcs_flush(struct gcs_handle *handle, const struct gcs_call *call)
{
	struct gcs_file *file = handle->file;
	struct gcs_call own;
	int problem;

	if (!gcs_handle_is_unsaved(handle))
		return 0;
	own = call->caller ? call_ending(handle->files, file, call) : *call;
	problem = flush_try(handle->files, file, &own);
	if (problem == -EINTR && call->caller)
		gcs_handle_give_up(handle);
	if (problem && gcs_caller_is_cut(call->caller))
		__atomic_store_n(&file->is_cut_off, true, __ATOMIC_RELAXED);
	return problem;
}

static int time_report(struct gcs_handle *handle, const struct gcs_call *call, int64_t modified_ns)
{
	struct gcs_file *file = handle->file;
	const bool is_stored = file->changed_fd < 0;
	char time[GCS_TIME_SIZE];
	struct gcs_path place = { 0 };
	int problem;

	if (!gcs_file_place(handle->files, file, &place) && !is_stored)
		return 0; /* the file was removed */
	gcs_time_write(modified_ns, time);
	problem = gcs_note(handle->files->client, call, place.bucket, place.object, GCS_NOTE_TIME, time,
			   is_stored ? object_reader_object(handle->reader)->generation : file->generation);
	/* An object that was removed or replaced meanwhile keeps its own time. Source: gcsfuse
	 * (internal/fs/inode/file.go, SetMtime) */
	return problem == -ENOENT || problem == -EBUSY ? 0 : problem;
}

int gcs_set_time(struct gcs_handle *handle, const struct gcs_call *call, int64_t modified_ns)
{
	struct gcs_file *file = handle->file;
	int problem = gcs_file_lock(handle->files, file, call);

	if (problem)
		return problem;
	if (!file->is_dirty)
		problem = time_report(handle, call, modified_ns);
	if (!problem)
		__atomic_store_n(&file->modified_ns, modified_ns, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&file->lock);
	return problem;
}

/* No process waits for the last close. Changes that a container without a network could not store are dropped;
 * changes of a killed program are stored within GCS_LEFT_S or dropped. */
void gcs_close(struct gcs_handle *handle)
{
	struct gcs_call last_close = { 0 };
	struct gcs_file *file = handle->file;
	struct gcs_path place = { 0 };
	int problem;

	last_close.end_us = __atomic_load_n(&file->given_up_us, __ATOMIC_RELAXED);
	last_close.end_us =
		last_close.end_us ? last_close.end_us + GCS_LEFT_S * INT64_C(1000000) : handle->files->end_us;
	problem = handle->writes && __atomic_load_n(&file->is_cut_off, __ATOMIC_RELAXED)
			  ? -EIO
			  : gcs_flush(handle, &last_close);
	if (problem && gcs_log_allows()) {
		gcs_file_place(handle->files, file, &place); /* read the name again: a rename may have changed it */
		log_event(LOG_ERROR, "gcs-bytes-lost", "bucket=%s object=\"%s\" error=\"%s\"", place.bucket,
			  place.object, strerrordesc_np(-problem));
	}
	gcs_handle_free(handle);
}
