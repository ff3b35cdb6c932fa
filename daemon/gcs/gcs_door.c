/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/gcs/gcs_door.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "api/http/http.h"
#include "daemon/base/cleanup.h"
#include "daemon/base/clock.h"
#include "daemon/base/device_socket.h"
#include "daemon/base/memory.h"
#include "daemon/base/small_thread.h"

enum { BACKLOG = 128, CONNECTIONS_MAX = 128, REQUESTS_END_MS = 5000, POLLED = 2 };

struct gcs_door {
	int state_fd, door, wake;
	struct listener *listener;
	pthread_t thread;
	bool is_running;
};

DEFINE_AUTO(gcs_door, struct gcs_door *, gcs_door_close)

static void *door_main(void *arg)
{
	const struct gcs_door *door = arg;
	const struct sockaddr_in peer = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	struct pollfd polled[POLLED] = { { .fd = door->wake, .events = POLLIN },
					 { .fd = door->door, .events = POLLIN } };
	bool is_open = true;

	for (;;) {
		int fd;

		polled[1].events = is_open ? POLLIN : 0;
		if (!device_socket_poll("gcs", polled, POLLED, is_open ? -1 : DEVICE_SOCKET_PAUSE_MS))
			return NULL;
		if (polled[0].revents)
			return NULL;
		fd = device_socket_accept(door->door, &is_open);
		if (fd >= 0)
			listener_adopt(door->listener, fd, (const struct sockaddr *)&peer, sizeof(peer));
	}
}

/* By a path that is short, however long the state directory's is. */
static enum status socket_open(struct gcs_door *door, struct error *err)
{
	struct sockaddr_un place = { .sun_family = AF_UNIX };

	snprintf(place.sun_path, sizeof(place.sun_path), "/proc/self/fd/%d/" GCS_DOOR, door->state_fd);
	unlinkat(door->state_fd, GCS_DOOR, 0); /* an earlier daemon's */
	door->door = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (door->door >= 0 && bind(door->door, (const struct sockaddr *)&place, sizeof(place)) == 0 &&
	    fchmodat(door->state_fd, GCS_DOOR, 0600, 0) == 0 && listen(door->door, BACKLOG) == 0)
		return STATUS_OK;
	return error_set(err, STATUS_UNAVAILABLE, NULL, "cannot listen at %s: %s", GCS_DOOR, strerror(errno));
}

static enum status serving_start(struct gcs_door *door, const struct family *families,
				 const struct call_gate *gate, struct error *err)
{
	enum status rc = listener_open(
		&(struct listener_options){
			.address = "127.0.0.1",
			.families = families,
			.clock = &system_clock,
			.gate = gate,
			.connection_limit = CONNECTIONS_MAX,
			.any_host = true,
			.adopts_only = true,
		},
		&door->listener, err);

	door->wake = eventfd(0, EFD_CLOEXEC);
	if (!rc && door->wake < 0)
		rc = error_set(err, STATUS_UNAVAILABLE, NULL, "no descriptor to be had: %s", strerror(errno));
	if (!rc)
		rc = small_thread_start(&door->thread, door_main, door, err);
	door->is_running = !rc;
	return rc;
}

enum status gcs_door_open(const char *state_dir, const struct family *families, const struct call_gate *gate,
			  struct gcs_door **ret_door, struct error *err)
{
	AUTO(gcs_door) struct gcs_door *door = memory_calloc(1, sizeof(*door));
	enum status rc;

	door->door = door->wake = -1;
	door->state_fd = open(state_dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (door->state_fd < 0)
		return error_set(err, STATUS_UNAVAILABLE, NULL, "%s: %s", state_dir, strerror(errno));
	rc = socket_open(door, err);
	if (!rc)
		rc = serving_start(door, families, gate, err);
	if (rc)
		return rc;
	*ret_door = TAKE(door);
	return STATUS_OK;
}

enum status gcs_door_tell_rules(const struct gcs_door *door, bool has_rules, struct error *err)
{
	int fd;

	if (!has_rules) {
		unlinkat(door->state_fd, GCS_RULES, 0);
		return STATUS_OK;
	}
	fd = openat(door->state_fd, GCS_RULES, O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return error_set(err, STATUS_UNAVAILABLE, NULL, "%s: %s", GCS_RULES, strerror(errno));
	close(fd);
	return STATUS_OK;
}

void gcs_door_close(struct gcs_door *door)
{
	if (!door)
		return;
	if (door->is_running) {
		eventfd_write(door->wake, 1);
		pthread_join(door->thread, NULL);
	}
	if (door->door >= 0) {
		unlinkat(door->state_fd, GCS_DOOR, 0);
		close(door->door);
	}
	listener_close(door->listener, REQUESTS_END_MS);
	if (door->wake >= 0)
		close(door->wake);
	if (door->state_fd >= 0)
		close(door->state_fd);
	free(door);
}
