/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/gcs/gcs_mount.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/clock.h"
#include "daemon/base/log.h"
#include "daemon/base/memory.h"
#include "daemon/base/small_thread.h"
#include "daemon/gcs/gcs_client.h"
#include "daemon/gcs/gcs_file_system.h"
#include "daemon/gcs/gcs_files.h"
#include "daemon/gcs/gcs_index.h"
#include "daemon/gcs/gcs_mountpoint.h"
#include "daemon/gcs/gcs_wait.h"
#include "daemon/main.h"
#include "store/objects/objects.h"

enum { LOCK_WAIT_MS = 10000, LOCK_PAUSE_MS = 20 };

struct mount {
	char *place;
	int state_fd, lock_fd;
	struct objects *objects;
	struct gcs_index index;
	struct gcs_client *client;
	struct gcs_files *files;
	struct gcs_file_system *system;
};

/* ---- the place of the mount ---- */

/* Waits for the lock, because the previous process may be about to release it. */
static enum status lock_take(struct mount *mount, struct error *err)
{
	mount->lock_fd = openat(mount->state_fd, GCS_LOCK, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (mount->lock_fd < 0)
		return error_set(err, STATUS_UNAVAILABLE, NULL, "gcs.lock: %s", strerror(errno));
	for (int waited_ms = 0; flock(mount->lock_fd, LOCK_EX | LOCK_NB) != 0; waited_ms += LOCK_PAUSE_MS) {
		if (waited_ms >= LOCK_WAIT_MS)
			return error_set(err, STATUS_UNAVAILABLE, NULL,
					 "another process serves the state directory's files");
		poll(NULL, 0, LOCK_PAUSE_MS);
	}
	return STATUS_OK;
}

/* The holder of the lock owns the mount point: an existing mount belongs to a process that was killed. */
static enum status place_make(const struct mount *mount, struct error *err)
{
	if (!gcs_mountpoint_clear(mount->place))
		return error_set(err, STATUS_UNAVAILABLE, NULL,
				 "cannot unmount %s, which an ended process left mounted: run umount -l on it as root",
				 mount->place);
	if ((mkdirat(mount->state_fd, GCS_ABOVE, 0700) != 0 && errno != EEXIST) ||
	    fchmodat(mount->state_fd, GCS_ABOVE, 0700, 0) != 0 ||
	    (mkdir(mount->place, 0700) != 0 && errno != EEXIST))
		return error_set(err, STATUS_UNAVAILABLE, NULL, "%s: %s", mount->place, strerror(errno));
	return STATUS_OK;
}

/* ---- the objects that serve the files ---- */

static enum status parts_make(struct mount *mount, const char *state_dir, bool auto_buckets,
			      struct error *err)
{
	enum status rc = objects_new(&(struct objects_options){ .state_dir = state_dir,
								.clock = &system_clock,
								.reads_only = true },
				     &mount->objects, err);

	if (rc)
		return rc;
	mount->index = (struct gcs_index){ .objects = mount->objects,
					   .auto_buckets = auto_buckets,
					   .begun_ns = clock_wall_ns(&system_clock) };
	mount->client = gcs_client_new(mount->state_fd, GCS_PATIENCE_S);
	if (!mount->client)
		return error_set(err, STATUS_UNAVAILABLE, NULL, "libcurl cannot be initialised");
	mount->files = gcs_files_new(&mount->index, mount->client, mount->state_fd);
	/* Prepare now, so that a store that cannot be read is reported at start. */
	return objects_prepare(mount->objects, err);
}

static enum status mount_open(struct mount *mount, const char *state_dir, bool auto_buckets, const char *sign,
			      struct error *err)
{
	enum status rc;

	if (!gcs_file_system_is_possible())
		return error_set(err, STATUS_UNAVAILABLE, NULL,
				 "this program was built without libfuse3, which /gcs needs: install it and build "
				 "trainyard again");
	mount->place = memory_printf("%s/" GCS_MOUNT, state_dir);
	mount->state_fd = open(state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (mount->state_fd < 0)
		return error_set(err, STATUS_UNAVAILABLE, NULL, "%s: %s", state_dir, strerror(errno));
	if (access("/dev/fuse", R_OK | W_OK) != 0)
		return error_set(err, STATUS_UNAVAILABLE, NULL, "/dev/fuse: %s", strerror(errno));
	rc = lock_take(mount, err);
	if (!rc)
		rc = place_make(mount, err);
	if (!rc)
		rc = parts_make(mount, state_dir, auto_buckets, err);
	return rc ? rc
		  : gcs_file_system_mount(&mount->index, mount->files, mount->client, mount->place, sign,
					  &mount->system, err);
}

static void mount_close(struct mount *mount)
{
	gcs_file_system_free(mount->system);
	gcs_files_free(mount->files);
	gcs_client_free(mount->client);
	objects_free(mount->objects);
	if (mount->state_fd >= 0)
		close(mount->state_fd);
	if (mount->lock_fd >= 0)
		close(mount->lock_fd);
	free(mount->place);
}

/* ---- the life of the process ---- */

/* Waits until the daemon that started this process ends, then unmounts; after that, only mounts in containers keep
 * the file system alive. */
static void *watch_main(void *arg)
{
	struct mount *mount = arg;
	ssize_t length;
	char byte;

	do
		length = read(STDIN_FILENO, &byte, 1);
	while (length > 0 || (length < 0 && errno == EINTR));
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	gcs_mountpoint_leave(mount->place);
	gcs_mountpoint_remove(mount->place);
	close(mount->lock_fd);
	mount->lock_fd = -1;
	if (!gcs_file_system_is_gone(mount->system)) {
		printf(GCS_KEPT);
		fflush(stdout);
	}
	return NULL;
}

static enum status serve(struct mount *mount, struct error *err)
{
	pthread_t watch;
	enum status rc = small_thread_start(&watch, watch_main, mount, err);

	if (rc)
		return rc;
	printf("ready\n");
	fflush(stdout);
	rc = gcs_file_system_serve(mount->system, err);
	pthread_cancel(watch); /* ends the thread if another process has unmounted the file system */
	pthread_join(watch, NULL);
	return rc;
}

int gcs_mount_main(const char *const *arguments)
{
	struct error err AUTO_ERROR = { 0 };
	struct mount mount = { .state_fd = -1, .lock_fd = -1 };
	enum status rc;

	if (!arguments[0] || !arguments[1] || !arguments[2] || arguments[3]) {
		error_set(&err, STATUS_INVALID_ARGUMENT, NULL,
			  "internal command: it needs a state directory, auto or strict, and the name of the mount's marker");
		fprintf(stderr, "trainyard: %s\n", main_words(&err));
		return EXIT_USAGE;
	}
	memory_init();
	umask(0077);
	signal(SIGPIPE, SIG_IGN);
	rc = mount_open(&mount, arguments[0], strcmp(arguments[1], "auto") == 0, arguments[2], &err);
	if (!rc)
		rc = serve(&mount, &err);
	if (rc)
		printf("%s\n", main_words(&err));
	fflush(stdout);
	mount_close(&mount);
	return rc ? EXIT_FAILED : EXIT_GOOD;
}
