/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* tests/unit/api/grpc/session_testing.h: a session and nghttp2's own client, connected without a socket. */
#include "api/grpc/session.h"

#include <arpa/inet.h>
#include <nghttp2/nghttp2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/testing.h"

struct reply {
	char status[8], code[8], message[256], details[256];
	struct text body;
	bool closed;
	uint32_t reset;
};

struct bench {
	struct session_pool pool;
	struct session *session;
	nghttp2_session *client;
	struct reply replies[8]; /* by stream number / 2; later streams share the last one */
	unsigned heads, calls;
	/* For the feeds of "/feed": the next message, and how often they were read and closed. */
	const char *feed_gives;
	unsigned feed_messages, feed_asked, feeds_closed;
	bool feed_ends;
};

static struct reply *reply_of(void *arg, int32_t id)
{
	struct bench *bench = arg;

	return &bench->replies[id / 2 < (int32_t)COUNT_OF(bench->replies) ? id / 2 : 7];
}

static bool call_admit(void *arg, const struct session_call *call, struct rpc_outcome *outcome)
{
	((struct bench *)arg)->heads++;
	assert_null(call->data);
	if (strcmp(call->path, "/closed") != 0)
		return true;
	rpc_outcome_fail(outcome, 16, call->authority);
	return false;
}

static void call_answer(void *arg, const struct session_call *call, struct text *bytes,
			struct rpc_outcome *outcome)
{
	struct bench *bench = arg;

	bench->calls++;
	if (strcmp(call->path, "/echo") == 0)
		text_append(bytes, call->data, call->length);
	else
		rpc_outcome_fail(outcome, 5, "no \xc3\xa9 100% \n");
}

static bool call_has_feed(void *arg, const char *path)
{
	(void)arg;
	return strcmp(path, "/feed") == 0;
}

static bool feed_next(void *arg, struct text *bytes, int64_t *ret_wake_us, struct rpc_outcome *outcome)
{
	struct bench *bench = arg;

	bench->feed_asked++;
	*ret_wake_us = 77;
	if (bench->feed_messages) {
		bench->feed_messages--;
		text_puts(bytes, bench->feed_gives);
	} else if (bench->feed_ends) {
		rpc_outcome_fail(outcome, 11, "over");
		return false;
	}
	return true;
}

static void feed_closed(void *arg)
{
	((struct bench *)arg)->feeds_closed++;
}

static void call_feed(void *arg, const struct session_call *call, struct session_feed *ret_feed,
		      struct rpc_outcome *outcome)
{
	struct bench *bench = arg;

	bench->calls++;
	if (call->length && memcmp(call->data, "no", 2) == 0)
		rpc_outcome_fail(outcome, 3, "bad");
	else
		*ret_feed = (struct session_feed){ feed_next, feed_closed, bench };
}

static int on_header(nghttp2_session *http2, const nghttp2_frame *frame, const uint8_t *name,
		     size_t name_length, const uint8_t *value, size_t length, uint8_t flags, void *arg)
{
	struct reply *reply = reply_of(arg, frame->hd.stream_id);
	const struct {
		const char *name;
		char *to;
		size_t size;
	} known[] = { { ":status", reply->status, sizeof(reply->status) },
		      { "grpc-status", reply->code, sizeof(reply->code) },
		      { "grpc-message", reply->message, sizeof(reply->message) } };

	(void)http2, (void)flags, (void)name_length;
	for (size_t i = 0; i < COUNT_OF(known); i++)
		if (strcmp(known[i].name, (const char *)name) == 0)
			snprintf(known[i].to, known[i].size, "%.*s", (int)length, (const char *)value);
	return 0;
}

static int on_data(nghttp2_session *http2, uint8_t flags, int32_t id, const uint8_t *data, size_t length,
		   void *arg)
{
	(void)http2, (void)flags;
	text_append(&reply_of(arg, id)->body, data, length);
	return 0;
}

static int on_close(nghttp2_session *http2, int32_t id, uint32_t code, void *arg)
{
	struct reply *reply = reply_of(arg, id);

	(void)http2;
	reply->closed = true;
	reply->reset = code;
	return 0;
}

static int setup(void **state)
{
	struct bench *bench = calloc(1, sizeof(*bench));
	nghttp2_session_callbacks *callbacks;

	nghttp2_session_callbacks_new(&callbacks);
	nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
	nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
	nghttp2_session_client_new(&bench->client, callbacks, bench);
	nghttp2_session_callbacks_del(callbacks);
	nghttp2_submit_settings(bench->client, 0, NULL, 0);
	bench->session = session_new(&(struct session_options){
		.pool = &bench->pool, .admit = call_admit, .call = call_answer, .has_feed = call_has_feed, .feed = call_feed, .arg = bench });
	*state = bench;
	return 0;
}

static int teardown(void **state)
{
	struct bench *bench = *state;

	for (size_t i = 0; i < COUNT_OF(bench->replies); i++)
		text_deinit(&bench->replies[i].body);
	session_free(bench->session);
	assert_int_equal(atomic_load(&bench->pool.body_bytes), 0);
	assert_int_equal(atomic_load(&bench->pool.answer_bytes), 0);
	nghttp2_session_del(bench->client);
	free(bench);
	return 0;
}

struct upload {
	const char *data;
	size_t left;
	const nghttp2_nv *trailers; /* NULL: none */
	size_t trailer_count;
	bool endless; /* there is always a further message, later */
};

static ssize_t on_upload(nghttp2_session *http2, int32_t id, uint8_t *buffer, size_t size, uint32_t *flags,
			 nghttp2_data_source *source, void *arg)
{
	struct upload *upload = source->ptr;
	const size_t length = upload->left < size ? upload->left : size;

	(void)arg;
	if (!length && upload->endless)
		return NGHTTP2_ERR_DEFERRED;
	memcpy(buffer, upload->data, length);
	upload->data += length;
	upload->left -= length;
	if (!upload->left && !upload->endless)
		*flags |= NGHTTP2_DATA_FLAG_EOF;
	if (!upload->left && upload->trailers) {
		*flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
		assert_int_equal(nghttp2_submit_trailer(http2, id, upload->trailers, upload->trailer_count),
				 0);
	}
	return (ssize_t)length;
}

#define HEADER(NAME, VALUE)                                                                                  \
	{                                                                                                    \
		(uint8_t *)(NAME), (uint8_t *)(VALUE), strlen(NAME), strlen(VALUE), 0                        \
	}

static void request_submit(struct bench *bench, const char *method, const char *path, const char *type,
			   struct upload *upload)
{
	const nghttp2_nv headers[] = { HEADER(":method", method), HEADER(":scheme", "http"),
				       HEADER(":path", path), HEADER(":authority", "localhost"),
				       HEADER("content-type", type) };
	const nghttp2_data_provider provider = { .source.ptr = upload, .read_callback = on_upload };

	assert_true(nghttp2_submit_request(bench->client, NULL, headers, COUNT_OF(headers),
					   upload ? &provider : NULL, NULL) > 0);
}

/* Exchanges bytes until neither side has any to send. */
static void exchange(struct bench *bench)
{
	const uint8_t *data;
	ssize_t there, back;

	do {
		while ((there = nghttp2_session_mem_send(bench->client, &data)) > 0)
			assert_true(session_receive(bench->session, data, (size_t)there));
		while ((back = session_send(bench->session, &data)) > 0)
			assert_int_equal(nghttp2_session_mem_recv(bench->client, data, (size_t)back), back);
	} while (nghttp2_session_want_write(bench->client));
	while ((back = session_send(bench->session, &data)) > 0)
		assert_int_equal(nghttp2_session_mem_recv(bench->client, data, (size_t)back), back);
}
