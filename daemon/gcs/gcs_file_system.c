/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/gcs/gcs_file_system.h"

#ifdef HAVE_FUSE

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/memory.h"
#include "daemon/base/small_thread.h"
#include "daemon/gcs/gcs_client.h"
#include "daemon/gcs/gcs_files.h"
#include "daemon/gcs/gcs_node.h"
#include "daemon/gcs/gcs_operations.h"
#include "daemon/gcs/gcs_turns.h"
#include "daemon/gcs/gcs_wait.h"

enum { READ_AHEAD_KIB = 1024 };

bool gcs_file_system_is_possible(void)
{
	return true;
}

/* Returns the number of the mount that holds the file; -1: unknown. Source: proc_pid_fdinfo(5) */
static int mount_of(int fd)
{
	char path[40], line[256];
	int mount = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	file = fopen(path, "re");
	while (file && mount < 0 && fgets(line, sizeof(line), file))
		if (sscanf(line, "mnt_id: %d", &mount) != 1)
			mount = -1;
	if (file)
		fclose(file);
	return mount;
}

/* Returns true if @mount is a FUSE file system, with its device number. Source: proc_pid_mountinfo(5) */
static bool device_of(int mount, unsigned *ret_major, unsigned *ret_minor)
{
	FILE *file = fopen("/proc/self/mountinfo", "re");
	char *line = NULL;
	size_t size = 0;
	bool found = false;
	int id;

	while (file && !found && getline(&line, &size, file) > 0)
		found = sscanf(line, "%d %*d %u:%u", &id, ret_major, ret_minor) == 3 && id == mount &&
			strstr(line, " - fuse");
	if (file)
		fclose(file);
	free(line);
	return found;
}

/* The kernel reads 128 KiB ahead by default; changing that takes root. The device number comes from /proc: a stat() of the
 * mounted directory would be a request to this same process, and a process that is killed while it waits for itself never
 * ends. */
static void read_ahead_raise(const char *place)
{
	const int fd = open(place, O_PATH | O_CLOEXEC);
	unsigned major, minor;
	char path[64];
	FILE *file = NULL;

	if (fd >= 0 && device_of(mount_of(fd), &major, &minor)) {
		snprintf(path, sizeof(path), "/sys/class/bdi/%u:%u/read_ahead_kb", major, minor);
		file = fopen(path, "we");
	}
	if (file) {
		fprintf(file, "%d\n", READ_AHEAD_KIB);
		fclose(file);
	}
	if (fd >= 0)
		close(fd);
}

enum status gcs_file_system_mount(const struct gcs_index *index, struct gcs_files *files,
				  struct gcs_client *client, const char *place, const char *sign,
				  struct gcs_file_system **ret_system, struct error *err)
{
	struct fuse_args args = FUSE_ARGS_INIT(0, NULL);
	struct gcs_file_system *system = memory_calloc(1, sizeof(*system));

	system->index = index;
	system->files = files;
	system->client = client;
	system->place = memory_strdup(place);
	system->sign = memory_strdup(sign);
	system->turns = gcs_turns_new();
	if (fuse_opt_add_arg(&args, "trainyard") == 0 &&
	    fuse_opt_add_arg(&args, "-oallow_other,nosuid,nodev,noatime,fsname=gcs,subtype=trainyard") == 0)
		system->fuse = fuse_new(&args, &gcs_operations, sizeof(gcs_operations), system);
	fuse_opt_free_args(&args);
	if (!system->fuse || fuse_mount(system->fuse, place) != 0) {
		gcs_file_system_free(system);
		return error_set(
			err, STATUS_UNAVAILABLE, NULL, "the file system cannot be mounted at %s%s", place,
			geteuid() == 0 ? ""
				       : "; without root, it needs fusermount3, and user_allow_other in "
					 "/etc/fuse.conf");
	}
	system->session = fuse_get_session(system->fuse);
	*ret_system = system;
	return STATUS_OK;
}

/* Answers the kernel without libfuse. */
static void refuse(const struct gcs_file_system *system, const struct fuse_in_header *in, int problem)
{
	const struct fuse_out_header out = { .len = sizeof(out), .error = problem, .unique = in->unique };

	if (write(fuse_session_fd(system->session), &out, sizeof(out)) < 0 && errno != ENOENT)
		fuse_session_exit(system->session); /* like libfuse when the mount is gone */
}

/* An open by a container without a network waits here, before libfuse sees it. libfuse would lock the path of the file
 * and of all directories above until the open is answered; a removal or a rename, for which the kernel locks the
 * directory, would wait for that lock, and each lookup would wait for the kernel's lock. False: the wait has failed,
 * and the open was answered with the error. */
static bool opening_may_begin(const struct gcs_file_system *system, const struct fuse_in_header *in)
{
	struct gcs_call call;
	struct gcs_wait wait;
	int problem;

	if (in->opcode != FUSE_OPEN && in->opcode != FUSE_OPENDIR)
		return true;
	call = (struct gcs_call){ .caller = (pid_t)in->pid };
	gcs_wait_begin(&wait, gcs_client_waits(system->client), &call);
	problem = gcs_wait_network(&wait);
	gcs_wait_end(&wait);
	if (problem)
		refuse(system, in, problem);
	return problem == 0;
}

/* If the call changes names, notes that it begins. NULL: it changes no names, or too many such calls are running. */
static int64_t *change_begin(const struct gcs_file_system *system, const struct fuse_in_header *in)
{
	if (in->opcode != FUSE_UNLINK && in->opcode != FUSE_RMDIR && in->opcode != FUSE_RENAME &&
	    in->opcode != FUSE_RENAME2)
		return NULL;
	return gcs_waits_change_begin(gcs_client_waits(system->client));
}

/* ---- calls that may be slow ---- */

/* Converts the number that fs_open() gave to the kernel back to the handle. */
static struct gcs_handle *handle_of(uint64_t number)
{
	return (struct gcs_handle *)(uintptr_t)number; /* NOLINT: libfuse stores it as a number */
}

/* Returns the open file with the changes that the call stores or copies, which may be slow; NULL: the call does neither. */
static struct gcs_handle *call_handle(const struct fuse_in_header *in)
{
	const void *said = in + 1;

	switch (in->opcode) {
	case FUSE_FLUSH:
		return handle_of(((const struct fuse_flush_in *)said)->fh);
	case FUSE_FSYNC:
		return handle_of(((const struct fuse_fsync_in *)said)->fh);
	case FUSE_RELEASE:
		return handle_of(((const struct fuse_release_in *)said)->fh);
	case FUSE_WRITE:
		return handle_of(((const struct fuse_write_in *)said)->fh);
	case FUSE_SETATTR: {
		const struct fuse_setattr_in *attributes = said;

		return attributes->valid & FATTR_FH ? handle_of(attributes->fh) : NULL;
	}
	default:
		return NULL;
	}
}

/* Returns true if the call needs a turn (gcs_turns.h); *ret_node is its container. Changes of names get no turn,
 * because other calls wait for the directory's lock meanwhile. */
static bool may_last(const struct fuse_in_header *in, uint64_t *ret_node)
{
	const struct gcs_handle *handle = call_handle(in);
	const bool changes = in->opcode == FUSE_WRITE || in->opcode == FUSE_SETATTR;

	if (handle) {
		*ret_node = gcs_handle_node(handle);
		return changes ? gcs_handle_is_busy(handle) : gcs_handle_is_unsaved(handle);
	}
	if (in->opcode != FUSE_SETATTR ||
	    !(((const struct fuse_setattr_in *)(const void *)(in + 1))->valid & FATTR_SIZE))
		return false;
	*ret_node = gcs_node_of((pid_t)in->pid);
	return true;
}

static void answer(const struct gcs_file_system *system, void *bytes, size_t length)
{
	const struct fuse_buf buffer = { .size = length, .mem = bytes };
	int64_t *change;

	if (!opening_may_begin(system, bytes))
		return;
	change = change_begin(system, bytes);
	fuse_session_process_buf(system->session, &buffer);
	gcs_waits_change_end(change);
}

/* Returns the process that waits for the call; 0: none. A release returns 0: it must not be given up when a process
 * ends, because the kernel sends it only once, and the handle would stay open. */
static pid_t waiter_of(const struct fuse_in_header *in)
{
	return in->opcode == FUSE_RELEASE ? 0 : (pid_t)in->pid;
}

static void answer_in_turn(const struct gcs_file_system *system, void *bytes, size_t length)
{
	const struct fuse_in_header *in = bytes;
	struct gcs_held *next;
	uint64_t node;

	if (!may_last(in, &node)) {
		answer(system, bytes, length);
		return;
	}
	switch (gcs_turns_take(system->turns, node, waiter_of(in), bytes, length)) {
	case GCS_TURN_NEVER:
		refuse(system, in, -EIO);
		return;
	case GCS_TURN_LATER:
		return;
	case GCS_TURN_NOW:
		break;
	}
	answer(system, bytes, length);
	while ((next = gcs_turns_pass(system->turns, node))) {
		node = next->node;
		answer(system, next->bytes, next->length);
		free(next);
	}
}

static void *watch_main(void *arg)
{
	const struct gcs_file_system *system = arg;

	while (gcs_turns_wait(system->turns)) {
		struct gcs_held *held = gcs_turns_abandoned(system->turns);

		while (held) {
			const struct fuse_in_header *in =
				(const struct fuse_in_header *)(const void *)held->bytes;
			struct gcs_held *next = held->next;

			if (in->opcode == FUSE_FLUSH)
				gcs_handle_give_up(call_handle(in));
			refuse(system, in, -EINTR);
			free(held);
			held = next;
		}
	}
	return NULL;
}

/* Waits for a request and answers it. False: the file system was unmounted, or serving failed. */
static bool request_answer(struct gcs_file_system *system, struct fuse_buf *buffer)
{
	int length = -EINTR;

	while (length == -EINTR && !fuse_session_exited(system->session))
		length = fuse_session_receive_buf(system->session, buffer);
	if (length > 0)
		answer_in_turn(system, buffer->mem, (size_t)length);
	return length > 0;
}

static void *serving_main(void *arg)
{
	struct gcs_file_system *system = arg;
	struct fuse_buf buffer = { 0 };

	while (request_answer(system, &buffer))
		;
	fuse_session_exit(system->session);
	free(buffer.mem);
	return NULL;
}

enum status gcs_file_system_serve(struct gcs_file_system *system, struct error *err)
{
	pthread_t threads[GCS_THREADS], watch;
	size_t count = 0;
	enum status rc = small_thread_start(&watch, watch_main, system, err);
	const bool is_watched = !rc;
	struct fuse_buf first = { 0 };

	/* Set it after the first request (FUSE_INIT) is answered: before, the kernel would reset it. */
	if (!rc && request_answer(system, &first))
		read_ahead_raise(system->place);
	free(first.mem);
	while (!rc && count < GCS_THREADS) {
		rc = small_thread_start(&threads[count], serving_main, system, err);
		count += !rc;
	}
	if (rc && count > 0)
		rc = STATUS_OK; /* fewer threads are enough */
	for (size_t i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	gcs_turns_stop(system->turns);
	if (is_watched)
		pthread_join(watch, NULL);
	return rc;
}

bool gcs_file_system_is_gone(const struct gcs_file_system *system)
{
	struct pollfd device = { .fd = fuse_session_fd(system->session) };

	return poll(&device, 1, 0) == 1 && device.revents & POLLERR;
}

void gcs_file_system_free(struct gcs_file_system *system)
{
	if (!system)
		return;
	if (system->session) /* harmless if already unmounted, even if another mount is there now */
		fuse_unmount(system->fuse);
	if (system->fuse)
		fuse_destroy(system->fuse);
	gcs_turns_free(system->turns);
	free(system->place);
	free(system->sign);
	free(system);
}

#else

bool gcs_file_system_is_possible(void)
{
	return false;
}

enum status gcs_file_system_mount(const struct gcs_index *index, struct gcs_files *files,
				  struct gcs_client *client, const char *place, const char *sign,
				  struct gcs_file_system **ret_system, struct error *err)
{
	(void)index, (void)files, (void)client, (void)place, (void)sign, (void)ret_system;
	return error_set(err, STATUS_UNAVAILABLE, NULL,
			 "this program was built without libfuse3, which /gcs needs: install it and build "
			 "trainyard again");
}

enum status gcs_file_system_serve(struct gcs_file_system *system, struct error *err)
{
	(void)system;
	return error_set(err, STATUS_INTERNAL, NULL, "the file system is not mounted");
}

bool gcs_file_system_is_gone(const struct gcs_file_system *system)
{
	(void)system;
	return true;
}

void gcs_file_system_free(struct gcs_file_system *system)
{
	(void)system;
}

#endif
