/* SPDX-License-Identifier: Apache-2.0 */
/* What an engine answers on a connection of its own, head and all: questions, and streams that begin behind the head.
 *
 * No byte of a stream is lost or added, and no answer is longer than it may be, nor its code another than one of three digits
 * (as it was: "-10"). Fails with: head_read() that leaves nothing ahead, or takes any code. */
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "scheduler/engine/docker_endpoint.h"
#include "scheduler/engine/docker_hijack.h"

enum { PATIENCE_MS = 10000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The engine, which serves one connection after the other. */
static struct {
	struct sockaddr_un address;
	struct endpoint *endpoint;
	int fd;
	const uint8_t *answer; /* the bytes to answer, set before each request */
	size_t length;
	sem_t served; /* posted when the answer is no longer read */
} engine;

static void expect(bool holds)
{
	if (!holds)
		abort();
}

static bool question_read(int fd)
{
	char question[1024];
	size_t length = 0;
	ssize_t got;

	while (length < sizeof(question) &&
	       (got = recv(fd, question + length, sizeof(question) - length, 0)) > 0) {
		length += (size_t)got;
		if (memmem(question, length, "\r\n\r\n", 4))
			return true;
	}
	return false;
}

static void *engine_main(void *arg)
{
	for (int fd; (fd = accept(engine.fd, NULL, NULL)) >= 0; close(fd)) {
		size_t sent = 0;
		ssize_t now = 1;

		expect(question_read(fd));
		for (; sent < engine.length && now > 0; sent += now > 0 ? (size_t)now : 0)
			now = send(fd, engine.answer + sent, engine.length - sent, MSG_NOSIGNAL);
		sem_post(&engine.served);
	}
	return arg;
}

static void engine_end(void)
{
	endpoint_close(engine.endpoint);
	unlink(engine.address.sun_path);
}

static void engine_start(void)
{
	pthread_t thread;
	char url[sizeof(engine.address.sun_path) + 16];

	engine.address.sun_family = AF_UNIX;
	snprintf(engine.address.sun_path, sizeof(engine.address.sun_path), "/tmp/trainyard-fuzz-hijack-%d",
		 (int)getpid());
	unlink(engine.address.sun_path);
	engine.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	snprintf(url, sizeof(url), "unix://%s", engine.address.sun_path);
	expect(endpoint_open(url, &engine.endpoint, NULL) == STATUS_OK);
	sem_init(&engine.served, 0, 0);
	expect(engine.fd >= 0 &&
	       bind(engine.fd, (const struct sockaddr *)&engine.address, sizeof(engine.address)) == 0 &&
	       listen(engine.fd, 8) == 0);
	expect(pthread_create(&thread, NULL, engine_main, NULL) == 0);
	pthread_detach(thread);
	atexit(engine_end);
}

static void stream_check(struct hijack *hijack, const uint8_t *data, size_t size)
{
	const uint8_t *end = memmem(data, size, "\r\n\r\n", 4);
	size_t at = 0;
	char piece[300];
	ssize_t got;

	expect(end);
	end += 4;
	while ((got = hijack_read(hijack, piece, sizeof(piece), PATIENCE_MS)) > 0) {
		expect((size_t)got <= size - (size_t)(end - data) - at &&
		       memcmp(end + at, piece, (size_t)got) == 0);
		at += (size_t)got;
	}
	expect(at == size - (size_t)(end - data));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!engine.fd)
		engine_start();
	const struct hijack_request request = { .endpoint = engine.endpoint,
						.method = "GET",
						.path = "/x",
						.patience_ms = PATIENCE_MS };
	struct text body AUTO_TEXT = { 0 };
	unsigned code = 0;

	engine.answer = data;
	engine.length = size;
	for (int upgrade = 0; upgrade < 2; upgrade++) {
		struct error err AUTO_ERROR = { 0 };
		struct hijack *hijack = NULL;
		const enum status rc = upgrade ? hijack_open(&request, &hijack, &code, &body, &err)
					       : hijack_ask(&request, &code, &body, &err);

		expect(!rc || (!hijack && err.text && (rc == STATUS_UNAVAILABLE || rc == STATUS_INTERNAL)));
		if (hijack)
			stream_check(hijack, data, size);
		else if (!rc)
			expect(code >= 100 && code <= 999 && body.length <= HIJACK_BODY_MAX &&
			       body.length <= size);
		hijack_close(hijack);
		while (sem_wait(&engine.served) != 0)
			continue;
	}
	return 0;
}
