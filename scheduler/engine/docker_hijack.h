/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_hijack.h: connections to the engine with one owner each: for requests with an answer to wait
 * for, for requests with a body of unknown length, and for requests that turn the connection into a plain stream of bytes
 * ("hijacked").
 *
 * Choice: a plain socket. Two threads read and write a hijacked stream at once, which curl's handles do not allow; curl
 * would only be used to connect, and endpoint_connect() does that.
 *
 * Thread: any, one connection per thread. One thread may read a stream while another writes to it. */
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
	/* for the whole exchange: connecting, the request, and the complete answer or the head of a stream;
	 * endpoint_patience_s() is added */
	unsigned patience_ms;
};

/* Sends a request and reads the whole answer into @body, for any status code. UNAVAILABLE: there is no engine, or no
 * answer in time; INTERNAL: the answer is not HTTP, or too long. */
enum status hijack_ask(const struct hijack_request *request, unsigned *ret_code, struct text *body,
		       struct error *err);

struct hijack;

/* Requests a stream. *ret_hijack is set only if *ret_code is 101 or 200; otherwise @body has the engine's answer.
 * Fails like hijack_ask(). */
enum status hijack_open(const struct hijack_request *request, struct hijack **ret_hijack, unsigned *ret_code,
			struct text *body, struct error *err);
/* Sends the head of a request with a body of @content_type, which follows in pieces. request->body is ignored. Fails like
 * hijack_ask(). */
enum status hijack_upload(const struct hijack_request *request, const char *content_type, struct hijack **ret_hijack,
			  struct error *err);
/* To be called after the pieces, or when one could not be sent: waits at most request->patience_ms for the answer, and
 * reads it like hijack_ask(). */
enum status hijack_answer(struct hijack *hijack, const struct hijack_request *request, unsigned *ret_code,
			  struct text *body, struct error *err);
/* Each piece is HIJACK_PIECE_HEAD bytes, which hijack_piece() fills in, then @length bytes of data, then two bytes for
 * hijack_piece(). The caller sends it by hijack_offer(). A piece without data is the last one. */
enum { HIJACK_PIECE_HEAD = 10, HIJACK_PIECE_TAIL = 2 };
void hijack_piece(char *piece, size_t length);
/* See read in struct terminal_ops. */
ssize_t hijack_read(struct hijack *hijack, char *buffer, size_t size, unsigned timeout_ms);
/* Writes all of @data; waits at most @patience_ms for room in the socket's buffer. False: the stream broke, or time
 * ran out. */
bool hijack_write(struct hijack *hijack, const char *data, size_t length, unsigned patience_ms);
/* Writes as many bytes as there is room for, without waiting. Returns their number; -1: the stream broke. */
ssize_t hijack_offer(struct hijack *hijack, const void *data, size_t length);
/* The descriptor for poll(). It is not readable for bytes that came together with the answer's head: hijack_wait()
 * tells whether there are some. */
int hijack_descriptor(const struct hijack *hijack);
/* Ends the sending direction; the stream can still be read. */
void hijack_end_writing(struct hijack *hijack);
/* Waits at most @timeout_ms. True: hijack_read() can return data or the stream's end. */
bool hijack_wait(struct hijack *hijack, unsigned timeout_ms);
void hijack_close(struct hijack *hijack);
