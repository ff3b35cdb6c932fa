/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/gcs/gcs_endpoint.h"

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

struct gcs_endpoint {
	int state_fd, endpoint, wake;
	struct listener *listener;
	pthread_t thread;
	bool is_running;
};

DEFINE_AUTO(gcs_endpoint, struct gcs_endpoint *, gcs_endpoint_close)

static void *endpoint_main(void *arg)
{
	const struct gcs_endpoint *endpoint = arg;
	const struct sockaddr_in peer = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	struct pollfd polled[POLLED] = { { .fd = endpoint->wake, .events = POLLIN },
					 { .fd = endpoint->endpoint, .events = POLLIN } };
	bool is_open = true;

	for (;;) {
		int fd;

		polled[1].events = is_open ? POLLIN : 0;
		if (!device_socket_poll("gcs", polled, POLLED, is_open ? -1 : DEVICE_SOCKET_PAUSE_MS))
			return NULL;
		if (polled[0].revents)
			return NULL;
		fd = device_socket_accept(endpoint->endpoint, &is_open);
		if (fd >= 0)
			listener_adopt(endpoint->listener, fd, (const struct sockaddr *)&peer, sizeof(peer));
	}
}

/* Binds the socket by a path of /proc/self/fd, because the path of the state directory may be too long for a socket. */
static enum status socket_open(struct gcs_endpoint *endpoint, struct error *err)
{
	struct sockaddr_un place = { .sun_family = AF_UNIX };

	snprintf(place.sun_path, sizeof(place.sun_path), "/proc/self/fd/%d/" GCS_SOCKET, endpoint->state_fd);
	unlinkat(endpoint->state_fd, GCS_SOCKET, 0); /* an earlier daemon's */
	endpoint->endpoint = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (endpoint->endpoint >= 0 &&
	    bind(endpoint->endpoint, (const struct sockaddr *)&place, sizeof(place)) == 0 &&
	    fchmodat(endpoint->state_fd, GCS_SOCKET, 0600, 0) == 0 &&
	    listen(endpoint->endpoint, BACKLOG) == 0)
		return STATUS_OK;
	return error_set(err, STATUS_UNAVAILABLE, NULL, "cannot listen at %s: %s", GCS_SOCKET,
			 strerror(errno));
}

static enum status serving_start(struct gcs_endpoint *endpoint, const struct family *families,
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
		&endpoint->listener, err);

	endpoint->wake = eventfd(0, EFD_CLOEXEC);
	if (!rc && endpoint->wake < 0)
		rc = error_set(err, STATUS_UNAVAILABLE, NULL, "no file descriptor is left: %s",
			       strerror(errno));
	if (!rc)
		rc = small_thread_start(&endpoint->thread, endpoint_main, endpoint, err);
	endpoint->is_running = !rc;
	return rc;
}

enum status gcs_endpoint_open(const char *state_dir, const struct family *families,
			      const struct call_gate *gate, struct gcs_endpoint **ret_endpoint,
			      struct error *err)
{
	AUTO(gcs_endpoint) struct gcs_endpoint *endpoint = memory_calloc(1, sizeof(*endpoint));
	enum status rc;

	endpoint->endpoint = endpoint->wake = -1;
	endpoint->state_fd = open(state_dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (endpoint->state_fd < 0)
		return error_set(err, STATUS_UNAVAILABLE, NULL, "%s: %s", state_dir, strerror(errno));
	rc = socket_open(endpoint, err);
	if (!rc)
		rc = serving_start(endpoint, families, gate, err);
	if (rc)
		return rc;
	*ret_endpoint = TAKE(endpoint);
	return STATUS_OK;
}

enum status gcs_endpoint_report_rules(const struct gcs_endpoint *endpoint, bool has_rules, struct error *err)
{
	int fd;

	if (!has_rules) {
		unlinkat(endpoint->state_fd, GCS_RULES, 0);
		return STATUS_OK;
	}
	fd = openat(endpoint->state_fd, GCS_RULES, O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return error_set(err, STATUS_UNAVAILABLE, NULL, "%s: %s", GCS_RULES, strerror(errno));
	close(fd);
	return STATUS_OK;
}

void gcs_endpoint_close(struct gcs_endpoint *endpoint)
{
	if (!endpoint)
		return;
	if (endpoint->is_running) {
		eventfd_write(endpoint->wake, 1);
		pthread_join(endpoint->thread, NULL);
	}
	if (endpoint->endpoint >= 0) {
		unlinkat(endpoint->state_fd, GCS_SOCKET, 0);
		close(endpoint->endpoint);
	}
	listener_close(endpoint->listener, REQUESTS_END_MS);
	if (endpoint->wake >= 0)
		close(endpoint->wake);
	if (endpoint->state_fd >= 0)
		close(endpoint->state_fd);
	free(endpoint);
}
