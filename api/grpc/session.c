/* SPDX-License-Identifier: Apache-2.0 */
#include "api/grpc/session.h"

#include <arpa/inet.h>
#include <nghttp2/nghttp2.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/grpc/outcome.h"
#include "api/http/hold.h"
#include "daemon/base/memory.h"

enum {
	STREAMS_MAX = 100,
	FEEDS_MAX = 10,
	WINDOW_BYTES = 1 << 20,
	HEADER_LIST_BYTES = 32 << 10,
	HEADER_ENTRY_BYTES = 32,    /* added to the size of each header, as in RFC 9113 section 6.5.2 */
	BLOCK_BYTES_MAX = 64 << 10, /* of the compressed frames of one head */
	BLOCK_FRAMES_MAX = 8,       /* CONTINUATION frames after the first; nghttp2 from 1.61 on has the same limit */
	USELESS_HEADS_BYTES_MAX = 1 << 20,
	BODY_BYTES_MAX = 10 << 20,
	BODIES_BYTES_MAX = 16 << 20, /* of the bodies of all calls on a connection */
	ANSWERS_BYTES_MAX =
		32 << 20, /* unsent answers of all calls of a connection; one further call may exceed it */
	POOL_ANSWER_BYTES_MAX = 128 << 20,
	PATH_BYTES_MAX = 512,
	SECRET_BYTES_MAX = 8192,
	FRAME_BYTES = 5, /* the prefix of a message: a flag (compressed) and the length */
};

/* Headers that are kept. */
enum copy {
	COPY_PATH,
	COPY_AUTHORITY,
	COPY_AUTHORIZATION,
	COPY_API_KEY,
	COPY_ORIGIN,
	COPY_SEC_FETCH_SITE,
	COPY_COUNT
};

static const struct {
	const char *name;
	size_t bytes_max;
} copied[COPY_COUNT] = {
	[COPY_PATH] = { ":path", PATH_BYTES_MAX },
	[COPY_AUTHORITY] = { ":authority", PATH_BYTES_MAX },
	[COPY_AUTHORIZATION] = { "authorization", SECRET_BYTES_MAX },
	[COPY_API_KEY] = { "x-goog-api-key", SECRET_BYTES_MAX },
	[COPY_ORIGIN] = { "origin", PATH_BYTES_MAX },
	[COPY_SEC_FETCH_SITE] = { "sec-fetch-site", PATH_BYTES_MAX },
};

/* A call under way. */
struct stream {
	struct stream *next,
		**link; /* list of open calls: nghttp2 does not report those that it closes with the session */
	int32_t id;
	char *copies[COPY_COUNT];
	bool is_post, is_grpc, is_coded, is_refused;
	size_t head_bytes;    /* decompressed, with trailers */
	bool is_too_long;     /* its head was too long: the stream was reset, its data dropped */
	const char *too_much; /* why its body was dropped; NULL: it was not */
	struct rpc_outcome refusal;
	struct text body;
	struct text answer;
	size_t body_held, answer_held; /* the bytes that are counted in the session and its pool */
	size_t sent;
	bool has_feed, is_answered; /* is_answered: the answer or a refusal was submitted */
	struct feed *feed;
};

struct session {
	struct session_options options;
	nghttp2_session *http2;
	struct stream *streams;
	struct hold bodies, answers;
	/* Decompressed bytes that are dropped. Limited, because a client can compress 500 MB to 2.5 MB. */
	size_t useless_head_bytes;
	size_t block_bytes, block_frames; /* size and number of frames of the head that is arriving, compressed */
	bool block_is_claimed;            /* the head belongs to a stream of ours */
};

/* ---- receiving ---- */

static void body_drop(struct session *session, struct stream *stream)
{
	hold_change(&session->bodies, session->bodies.bytes - stream->body_held);
	stream->body_held = 0;
	text_deinit(&stream->body);
}

static void copies_drop(struct stream *stream)
{
	for (size_t i = 0; i < COPY_COUNT; i++) {
		free(stream->copies[i]);
		stream->copies[i] = NULL;
	}
}

static void stream_free(struct session *session, struct stream *stream)
{
	body_drop(session, stream);
	hold_change(&session->answers, session->answers.bytes - stream->answer_held);
	*stream->link = stream->next;
	if (stream->next)
		stream->next->link = stream->link;
	copies_drop(stream);
	rpc_outcome_deinit(&stream->refusal);
	feed_free(stream->feed);
	text_deinit(&stream->answer);
	free(stream);
}

static int on_begin_headers(nghttp2_session *http2, const nghttp2_frame *frame, void *arg)
{
	struct session *session = arg;
	struct stream *stream;

	session->block_is_claimed = true;
	session->useless_head_bytes -= frame->hd.length; /* added by on_begin_frame() */
	if (frame->hd.type != NGHTTP2_HEADERS || frame->headers.cat != NGHTTP2_HCAT_REQUEST)
		return 0;
	stream = memory_calloc(1, sizeof(*stream));
	stream->body.may_fail = stream->answer.may_fail = true;
	stream->id = frame->hd.stream_id;
	stream->next = session->streams;
	stream->link = &session->streams;
	if (stream->next)
		stream->next->link = &stream->next;
	session->streams = stream;
	nghttp2_session_set_stream_user_data(http2, stream->id, stream);
	return 0;
}

static bool text_is(const uint8_t *text, size_t length, const char *wanted)
{
	return length == strlen(wanted) && memcmp(text, wanted, length) == 0;
}

/* "application/grpc", "application/grpc+proto". */
static bool media_is_grpc(const uint8_t *value, size_t length)
{
	static const char grpc[] = "application/grpc";
	const size_t bytes = sizeof(grpc) - 1;

	return length >= bytes && strncasecmp((const char *)value, grpc, bytes) == 0 &&
	       (length == bytes || value[bytes] == ';' || text_is(value + bytes, length - bytes, "+proto"));
}

/* Ends the connection with ENHANCE_YOUR_CALM. Bytes that have already arrived are still decompressed. */
static int session_calm(struct session *session)
{
	nghttp2_session_terminate_session(session->http2, NGHTTP2_ENHANCE_YOUR_CALM);
	return 0;
}

static void useless_add(struct session *session, size_t bytes)
{
	session->useless_head_bytes += bytes;
	if (session->useless_head_bytes > USELESS_HEADS_BYTES_MAX)
		session_calm(session);
}

/* Counts a header of a call's head. False: the head exceeds HEADER_LIST_BYTES, which the client knows: the stream is
 * reset, and further bytes of the head are counted as useless. */
static bool head_count(struct session *session, struct stream *stream, size_t bytes)
{
	const bool is_first = !stream->is_too_long;

	stream->head_bytes += bytes;
	if (stream->head_bytes <= HEADER_LIST_BYTES)
		return true;
	stream->is_too_long = true;
	useless_add(session, is_first ? stream->head_bytes : bytes);
	if (is_first) {
		copies_drop(stream);
		body_drop(session, stream);
		nghttp2_submit_rst_stream(session->http2, NGHTTP2_FLAG_NONE, stream->id,
					  NGHTTP2_ENHANCE_YOUR_CALM);
	}
	return false;
}

/* Counts the frames of heads before nghttp2 decompresses them, even those of a head without a stream. */
static int on_begin_frame(nghttp2_session *http2, const nghttp2_frame_hd *head, void *arg)
{
	struct session *session = arg;

	(void)http2;
	if (head->type == NGHTTP2_HEADERS) {
		session->block_bytes = session->block_frames = 0;
		session->block_is_claimed = false;
	} else if (head->type == NGHTTP2_CONTINUATION) {
		session->block_frames++;
	} else {
		return 0;
	}
	session->block_bytes += head->length;
	if (!session->block_is_claimed)
		useless_add(session, head->length);
	return session->block_bytes > BLOCK_BYTES_MAX || session->block_frames > BLOCK_FRAMES_MAX
		       ? session_calm(session)
		       : 0;
}

/* Copies a header's value. A value longer than @most cannot be valid: it is stored as empty, not as absent. */
static void copy_take(char **copy, const uint8_t *value, size_t length, size_t most)
{
	free(*copy);
	*copy = memory_strndup((const char *)value, length > most ? 0 : length);
}

static int on_header(nghttp2_session *http2, const nghttp2_frame *frame, const uint8_t *name,
		     size_t name_length, const uint8_t *value, size_t length, uint8_t flags, void *arg)
{
	struct stream *stream = nghttp2_session_get_stream_user_data(http2, frame->hd.stream_id);

	(void)flags;
	if (!stream || !head_count(arg, stream, name_length + length + HEADER_ENTRY_BYTES) ||
	    frame->headers.cat != NGHTTP2_HCAT_REQUEST) /* trailers are ignored */
		return 0;
	if (text_is(name, name_length, ":method"))
		stream->is_post = text_is(value, length, "POST");
	else if (text_is(name, name_length, "content-type"))
		stream->is_grpc = media_is_grpc(value, length);
	else if (text_is(name, name_length, "grpc-encoding"))
		stream->is_coded = !text_is(value, length, "identity");
	for (size_t i = 0; i < COPY_COUNT; i++)
		if (text_is(name, name_length, copied[i].name))
			copy_take(&stream->copies[i], value, length, copied[i].bytes_max);
	return 0;
}

static int request_look(struct session *session, struct stream *stream);

/* Drops a refused or too large body. The error is sent at its end: curl 7.88 does not understand an earlier one. */
static int on_data(nghttp2_session *http2, uint8_t flags, int32_t id, const uint8_t *data, size_t length,
		   void *arg)
{
	struct session *session = arg;
	struct stream *stream = nghttp2_session_get_stream_user_data(http2, id);

	(void)flags;
	if (!stream || stream->is_refused || stream->is_too_long || stream->too_much ||
	    (stream->is_answered && !stream->feed))
		return 0;
	hold_change(&session->bodies, session->bodies.bytes + length);
	stream->body_held += length;
	if (stream->body_held > BODY_BYTES_MAX + FRAME_BYTES || session->bodies.bytes > BODIES_BYTES_MAX)
		stream->too_much = "The request is too large.";
	else if (hold_is_crowded(&session->bodies, HOLD_POOL_BODY_BYTES))
		stream->too_much = "Too many large requests are being received: try again later.";
	else
		text_append(&stream->body, data, length);
	if (stream->body.failed)
		stream->too_much = "There is no memory for the request now.";
	if (stream->too_much)
		body_drop(session, stream);
	if (stream->has_feed && !stream->too_much)
		return request_look(session, stream) ? NGHTTP2_ERR_CALLBACK_FAILURE : 0;
	return 0;
}

/* ---- sending ---- */

static int failure_submit(nghttp2_session *http2, const struct stream *stream,
			  const struct rpc_outcome *outcome)
{
	return outcome_submit(http2, stream->id, outcome, ENDING_WHOLE);
}

static int http_failure_submit(nghttp2_session *http2, const struct stream *stream, const char *http_status)
{
	const nghttp2_nv headers[] = { HEADER(":status", http_status) };

	return nghttp2_submit_response(http2, stream->id, headers, 1, NULL);
}

static ssize_t on_answer_read(nghttp2_session *http2, int32_t id, uint8_t *buffer, size_t size,
			      uint32_t *flags, nghttp2_data_source *source, void *arg)
{
	static const nghttp2_nv trailers[] = { HEADER("grpc-status", "0") };
	struct stream *stream = source->ptr;
	const size_t left = stream->answer.length - stream->sent;
	const size_t length = left < size ? left : size;

	(void)arg;
	memcpy(buffer, stream->answer.data + stream->sent, length);
	stream->sent += length;
	if (length == left) {
		*flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
		if (nghttp2_submit_trailer(http2, id, trailers, 1) != 0)
			return NGHTTP2_ERR_CALLBACK_FAILURE;
	}
	return (ssize_t)length;
}

static int answer_submit(struct session *session, struct stream *stream, const struct text *bytes)
{
	static const nghttp2_nv headers[] = { HEADER(":status", "200"),
					      HEADER("content-type", "application/grpc") };
	const nghttp2_data_provider provider = { .source.ptr = stream, .read_callback = on_answer_read };

	feed_frame(&stream->answer, bytes);
	if (stream->answer.failed)
		return NGHTTP2_ERR_CALLBACK_FAILURE;
	stream->answer_held = stream->answer.length;
	hold_change(&session->answers, session->answers.bytes + stream->answer_held);
	return nghttp2_submit_response(session->http2, stream->id, headers, 2, &provider);
}

/* Reads the call's single message. False: the body is not exactly one message. */
static bool message_take(const struct session *session, const struct stream *stream,
			 struct session_call *call, struct rpc_outcome *outcome)
{
	uint32_t length = 0;

	if (session->answers.bytes > ANSWERS_BYTES_MAX ||
	    hold_is_crowded(&session->answers, POOL_ANSWER_BYTES_MAX)) {
		rpc_outcome_fail(outcome, GRPC_RESOURCE_EXHAUSTED, "Too many answers wait to be read.");
		return false;
	}
	if (stream->too_much) {
		rpc_outcome_fail(outcome, GRPC_RESOURCE_EXHAUSTED, stream->too_much);
		return false;
	}
	if (stream->body.length >= FRAME_BYTES)
		memcpy(&length, stream->body.data + 1, sizeof(length));
	if (stream->is_coded || (stream->body.length && stream->body.data[0])) {
		rpc_outcome_fail(outcome, GRPC_UNIMPLEMENTED, "Compressed requests are not understood.");
		return false;
	}
	if (stream->body.length < FRAME_BYTES || ntohl(length) != stream->body.length - FRAME_BYTES) {
		rpc_outcome_fail(outcome, GRPC_INTERNAL, "The request is not one whole message.");
		return false;
	}
	call->data = stream->body.data + FRAME_BYTES;
	call->length = stream->body.length - FRAME_BYTES;
	return true;
}

static struct session_call head_of(const struct stream *stream)
{
	char *const *copies = stream->copies;

	return (struct session_call){ .path = copies[COPY_PATH] ? copies[COPY_PATH] : "",
				      .authority = copies[COPY_AUTHORITY] ? copies[COPY_AUTHORITY] : "",
				      .authorization = copies[COPY_AUTHORIZATION],
				      .api_key = copies[COPY_API_KEY],
				      .origin = copies[COPY_ORIGIN],
				      .sec_fetch_site = copies[COPY_SEC_FETCH_SITE] };
}

/* Call when a call's head is complete: admits or refuses the call. Of a refused call, only the error is kept. */
static void stream_admit(struct session *session, struct stream *stream)
{
	const struct session_call call = head_of(stream);

	stream->is_refused = !stream->is_post || !stream->is_grpc ||
			     !session->options.admit(session->options.arg, &call, &stream->refusal);
	stream->has_feed = !stream->is_refused && session->options.has_feed &&
			   session->options.has_feed(session->options.arg, call.path);
	if (stream->is_refused) {
		copies_drop(stream);
		useless_add(session, stream->head_bytes);
	}
}

static int refusal_submit(nghttp2_session *http2, const struct stream *stream)
{
	if (!stream->is_post || !stream->is_grpc)
		return http_failure_submit(http2, stream, stream->is_post ? "415" : "405");
	return failure_submit(http2, stream, &stream->refusal);
}

static int stream_answer(struct session *session, struct stream *stream)
{
	struct rpc_outcome outcome AUTO_RPC_OUTCOME = { 0 };
	struct text bytes AUTO_TEXT = { .may_fail = true };
	struct session_call call = head_of(stream);

	if (stream->is_refused)
		return refusal_submit(session->http2, stream);
	if (message_take(session, stream, &call, &outcome))
		session->options.call(session->options.arg, &call, &bytes, &outcome);
	body_drop(session, stream);
	if (outcome.code != GRPC_OK)
		return failure_submit(session->http2, stream, &outcome);
	return answer_submit(session, stream, &bytes);
}

/* ---- feeds ---- */

static void answer_hold(struct session *session, struct stream *stream, size_t bytes)
{
	hold_change(&session->answers, session->answers.bytes - stream->answer_held + bytes);
	stream->answer_held = bytes;
}

static ssize_t on_feed_read(nghttp2_session *http2, int32_t id, uint8_t *buffer, size_t size, uint32_t *flags,
			    nghttp2_data_source *source, void *arg)
{
	struct session *session = arg;
	struct stream *stream = source->ptr;
	ssize_t length;

	if (session->answers.bytes > ANSWERS_BYTES_MAX ||
	    hold_is_crowded(&session->answers, POOL_ANSWER_BYTES_MAX))
		feed_end(stream->feed, GRPC_RESOURCE_EXHAUSTED, "Too many answers wait to be read.");
	length = feed_read(stream->feed, buffer, size);
	answer_hold(session, stream, stream->feed->message.length);
	stream->feed->waits = length == FEED_WAITS;
	if (length == FEED_WAITS)
		return NGHTTP2_ERR_DEFERRED;
	if (length != FEED_OVER)
		return length;
	*flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
	return outcome_submit(http2, id, &stream->feed->outcome, ENDING_TRAILERS)
		       ? NGHTTP2_ERR_CALLBACK_FAILURE
		       : 0;
}

static unsigned feed_count(const struct session *session)
{
	unsigned count = 0;

	for (const struct stream *stream = session->streams; stream; stream = stream->next)
		count += stream->feed && !stream->feed->is_over;
	return count;
}

static int feed_submit(struct session *session, struct stream *stream, const struct session_feed *source)
{
	static const nghttp2_nv headers[] = { HEADER(":status", "200"),
					      HEADER("content-type", "application/grpc") };
	const nghttp2_data_provider provider = { .source.ptr = stream, .read_callback = on_feed_read };

	stream->feed = feed_new(source);
	return nghttp2_submit_response(session->http2, stream->id, headers, 2, &provider);
}

static int feed_begin(struct session *session, struct stream *stream)
{
	struct rpc_outcome outcome AUTO_RPC_OUTCOME = { 0 };
	struct session_call call = head_of(stream);
	struct session_feed source = { 0 };

	stream->is_answered = true;
	if (feed_count(session) >= FEEDS_MAX)
		rpc_outcome_fail(&outcome, GRPC_RESOURCE_EXHAUSTED, "There are too many streams open.");
	else if (message_take(session, stream, &call, &outcome))
		session->options.feed(session->options.arg, &call, &source, &outcome);
	body_drop(session, stream);
	return outcome.code != GRPC_OK ? failure_submit(session->http2, stream, &outcome)
				       : feed_submit(session, stream, &source);
}

static void stream_wake(struct session *session, struct stream *stream)
{
	if (stream->feed && stream->feed->waits)
		nghttp2_session_resume_data(session->http2, stream->id);
}

/* Begins the feed once its single request has arrived. Further bytes end the feed with an error. */
static int request_look(struct session *session, struct stream *stream)
{
	if (stream->feed) {
		body_drop(session, stream);
		feed_end(stream->feed, GRPC_INVALID_ARGUMENT, "The stream takes one request only.");
		stream_wake(session, stream);
		return 0;
	}
	return feed_request_length(&stream->body) ? feed_begin(session, stream) : 0;
}

void session_wake(struct session *session)
{
	for (struct stream *stream = session->streams; stream; stream = stream->next)
		stream_wake(session, stream);
}

int64_t session_wake_us(const struct session *session)
{
	int64_t wake_us = INT64_MAX;

	for (const struct stream *stream = session->streams; stream; stream = stream->next)
		if (stream->feed && stream->feed->waits && stream->feed->wake_us < wake_us)
			wake_us = stream->feed->wake_us;
	return wake_us;
}

bool session_has_feeds(const struct session *session)
{
	return feed_count(session) > 0;
}

void session_feeds_end(struct session *session, unsigned code, const char *text)
{
	for (struct stream *stream = session->streams; stream; stream = stream->next)
		if (stream->feed)
			feed_end(stream->feed, code, text);
	session_wake(session);
}

static int on_frame(nghttp2_session *http2, const nghttp2_frame *frame, void *arg)
{
	struct stream *stream;

	if (frame->hd.type != NGHTTP2_DATA && frame->hd.type != NGHTTP2_HEADERS)
		return 0;
	stream = nghttp2_session_get_stream_user_data(http2, frame->hd.stream_id);
	if (!stream || stream->is_too_long)
		return 0;
	if (frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST)
		stream_admit(arg, stream);
	if (!(frame->hd.flags & NGHTTP2_FLAG_END_STREAM) || stream->is_answered)
		return 0;
	return stream_answer(arg, stream) ? NGHTTP2_ERR_CALLBACK_FAILURE : 0;
}

static int on_stream_close(nghttp2_session *http2, int32_t id, uint32_t code, void *arg)
{
	struct stream *stream = nghttp2_session_get_stream_user_data(http2, id);

	(void)code;
	if (stream)
		stream_free(arg, stream);
	return 0;
}

/* ---- the session ---- */

static int http2_make(struct session *session)
{
	static const nghttp2_settings_entry settings[] = {
		{ NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, STREAMS_MAX },
		{ NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, WINDOW_BYTES },
		{ NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, HEADER_LIST_BYTES },
	};
	nghttp2_session_callbacks *callbacks = NULL;
	int failure = nghttp2_session_callbacks_new(&callbacks);

	if (failure)
		return failure;
	nghttp2_session_callbacks_set_on_begin_frame_callback(callbacks, on_begin_frame);
	nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin_headers);
	nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
	nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
	nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_stream_close);
	failure = nghttp2_session_server_new(&session->http2, callbacks, session);
	nghttp2_session_callbacks_del(callbacks);
	if (!failure)
		failure = nghttp2_submit_settings(session->http2, NGHTTP2_FLAG_NONE, settings,
						  sizeof(settings) / sizeof(settings[0]));
	return failure;
}

struct session *session_new(const struct session_options *options)
{
	AUTO(session) struct session *session = memory_calloc(1, sizeof(*session));

	session->options = *options;
	session->bodies.pool = &options->pool->body_bytes;
	session->answers.pool = &options->pool->answer_bytes;
	return http2_make(session) == 0 ? TAKE(session) : NULL;
}

void session_free(struct session *session)
{
	if (!session)
		return;
	while (session->streams)
		stream_free(session, session->streams);
	nghttp2_session_del(session->http2);
	free(session);
}

bool session_receive(struct session *session, const void *data, size_t length)
{
	return nghttp2_session_mem_recv(session->http2, data, length) == (ssize_t)length;
}

ssize_t session_send(struct session *session, const uint8_t **ret_data)
{
	return nghttp2_session_mem_send(session->http2, ret_data);
}

bool session_lives(const struct session *session)
{
	return nghttp2_session_want_read(session->http2) || nghttp2_session_want_write(session->http2);
}

void session_end(struct session *session)
{
	nghttp2_session_terminate_session(session->http2, NGHTTP2_NO_ERROR);
}
