/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/asked_server.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/unit/testing.h"

static struct {
	struct sockaddr_un address;
	const char *answer;
	size_t answer_bytes;
	int listener;
	pthread_t thread;
	char asked[8192]; /* what was received on all connections */
	size_t length;
} server;

/* Whether the bytes of a connection from @begin on are a complete request, as far as its end can be known. */
static bool is_whole(const char *begin)
{
	const char *end = strstr(begin, "\r\n\r\n");

	return end && (strncmp(begin, "POST", 4) != 0 || strstr(begin, "\r\nContent-Length: 0\r\n") ||
		       strchr(end, '}'));
}

static void connection_serve(int fd)
{
	const size_t begin = server.length;
	ssize_t got = 1;

	while (got > 0 && !is_whole(server.asked + begin)) {
		got = recv(fd, server.asked + server.length, sizeof(server.asked) - 1 - server.length, 0);
		server.length += got > 0 ? (size_t)got : 0;
	}
	if (got > 0) {
		send(fd, server.answer, server.answer_bytes, MSG_NOSIGNAL);
	} else { /* an incomplete request is dropped */
		memset(server.asked + begin, 0, server.length - begin);
		server.length = begin;
	}
	close(fd);
}

static void *server_main(void *arg)
{
	int fd;

	(void)arg;
	while ((fd = accept4(server.listener, NULL, NULL, SOCK_CLOEXEC)) >= 0)
		connection_serve(fd);
	return NULL;
}

void asked_server_open(const char *path, const char *answer, size_t answer_bytes)
{
	server.answer = answer;
	server.answer_bytes = answer_bytes;
	server.address.sun_family = AF_UNIX;
	assert_true(strlen(path) < sizeof(server.address.sun_path));
	strcpy(server.address.sun_path, path);
	unlink(path); /* left by a killed run with the same name */
	server.listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(server.listener, (struct sockaddr *)&server.address, sizeof(server.address)),
			 0);
	assert_int_equal(listen(server.listener, 64), 0);
	assert_int_equal(pthread_create(&server.thread, NULL, server_main, NULL), 0);
}

void asked_server_close(void)
{
	shutdown(server.listener, SHUT_RDWR);
	pthread_join(server.thread, NULL);
	close(server.listener);
	unlink(server.address.sun_path);
}

const char *asked_take(void)
{
	static char taken[sizeof(server.asked)];
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char byte;

	assert_int_equal(connect(fd, (struct sockaddr *)&server.address, sizeof(server.address)), 0);
	shutdown(fd, SHUT_WR);
	assert_int_equal(recv(fd, &byte, 1, 0), 0);
	close(fd);
	memcpy(taken, server.asked, sizeof(taken));
	memset(server.asked, 0, sizeof(server.asked));
	server.length = 0;
	return taken;
}
