/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_hijack.h: a connection to the engine that belongs to its caller alone: questions that
 * are waited for, and those that turn the connection into a plain stream of bytes ("hijacked").
 *
 * Choice: a plain socket. A hijacked stream is read and written by two threads at once, which curl's handles
 * do not allow; of curl only the connect would be left, and endpoint_connect() has that.
 *
 * Thread: any, each connection for itself. One thread may read a stream while another writes to it. */
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "daemon/base/error.h"
#include "daemon/base/text.h"

enum { HIJACK_HEAD_MAX = 16 * 1024, HIJACK_BODY_MAX = 1024 * 1024 };

struct endpoint;

struct hijack_request {
	struct endpoint *endpoint;
	const char *method, *path; /* path with version and query */
	const char *body;          /* JSON, or NULL */
	unsigned patience_ms; /* for all of it: connecting, asking, the whole answer or a stream's head; and
			       * endpoint_patience_s() */
};

/* Asks and reads the whole answer; @body is set to what it holds, whatever the code. UNAVAILABLE: no engine
 * there, or no answer in time; INTERNAL: it is no HTTP answer, or too long. */
enum status hijack_ask(const struct hijack_request *request, unsigned *ret_code, struct text *body,
		       struct error *err);

struct hijack;

/* Asks for a stream. Only when *ret_code is 101 or 200 there is one (*ret_hijack); else @body has the engine's
 * answer. Fails like hijack_ask(). */
enum status hijack_open(const struct hijack_request *request, struct hijack **ret_hijack, unsigned *ret_code,
			struct text *body, struct error *err);
/* As struct terminal_ops has them. */
ssize_t hijack_read(struct hijack *hijack, char *buffer, size_t size, unsigned timeout_ms);
/* Waits at most @patience_ms for room. */
bool hijack_write(struct hijack *hijack, const char *data, size_t length, unsigned patience_ms);
/* The other side reads the end of the stream; it may still be read. */
void hijack_end_writing(struct hijack *hijack);
/* Whether there is something to read, or the end of it. */
bool hijack_wait(struct hijack *hijack, unsigned timeout_ms);
void hijack_close(struct hijack *hijack);
