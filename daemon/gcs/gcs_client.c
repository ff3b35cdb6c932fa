/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/gcs/gcs_client.h"

#include <curl/curl.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/clock.h"
#include "daemon/base/json.h"
#include "daemon/base/log.h"
#include "daemon/base/memory.h"
#include "daemon/base/text.h"
#include "daemon/gcs/gcs_endpoint.h"
#include "daemon/gcs/gcs_log.h"
#include "daemon/gcs/gcs_path.h"
#include "daemon/gcs/gcs_wait.h"

enum {
	IDLE_MAX = 16,
	ANSWER_MAX = 64 << 10,
	UPLOAD_BUFFER_BYTES = 512 << 10,
	WHOLE_BYTES = 16 << 10, /* a body up to this size is sent in one piece */
	SILENCE_S = 60, /* a request without progress for this long is made again */
	US_PER_S = 1000000,
	PAUSE_US = 50 * 1000, /* between two tries while no daemon runs */
	QUIET_US = US_PER_S,
	LOOK_US = US_PER_S / 4, /* between two checks that the caller still waits */
	/* Choice: fixed pauses, the means of gcsfuse's random ones: from 0 to 1 s at first, doubled up to 30 s.
	 * Source: gcsfuse (docs, "Network Clients and Retry Strategies"; read 2026-11-23) */
	FIRST_PAUSE_US = US_PER_S / 2,
	LAST_PAUSE_US = 15 * US_PER_S,
};

/* Results of try() other than an HTTP status. */
enum { IMPOSSIBLE = -2, UNREACHED = -1 /* no daemon is there */, NO_ANSWER = 0 };

struct gcs_client {
	char endpoint[64];
	struct gcs_waits waits;
	pthread_mutex_t lock;
	CURL *idle[IDLE_MAX];
	unsigned idle_count;
};

/* One request, which may be tried several times. */
struct request {
	const char *method;
	struct text target;
	const char *content_type;
	struct text head; /* the part of the body before the file's bytes; empty if the body is the file alone */
	const char *tail; /* the part of the body after the bytes of the file; NULL: none */
	int fd;
	int64_t size_bytes; /* of the file */
	int64_t sent_bytes; /* of the whole body: head, file and tail */
	const struct gcs_call *call;
	bool asks_only; /* ignore the answer's contents: only an injected fault matters */
	unsigned tries;
	struct text answer;
	/* Used while the request is being made: */
	struct gcs_wait wait;
	int64_t moved_bytes, moved_us, looked_us, asked_us;
	int problem; /* the errno with which the request was given up; 0: it was not */
};

struct gcs_client *gcs_client_new(int state_fd, unsigned patience_s)
{
	struct gcs_client *client = memory_calloc(1, sizeof(*client));

	if (curl_global_init_mem(CURL_GLOBAL_NOTHING, memory_alloc, free, memory_realloc, memory_strdup,
				 memory_calloc) != CURLE_OK) {
		free(client);
		return NULL;
	}
	pthread_mutex_init(&client->lock, NULL);
	client->waits = (struct gcs_waits){ .state_fd = state_fd, .patience_s = patience_s };
	/* A socket address has room for a path of 107 bytes; the path of the state directory may be longer. */
	snprintf(client->endpoint, sizeof(client->endpoint), "/proc/self/fd/%d/" GCS_SOCKET, state_fd);
	return client;
}

void gcs_client_free(struct gcs_client *client)
{
	if (!client)
		return;
	while (client->idle_count > 0)
		curl_easy_cleanup(client->idle[--client->idle_count]);
	pthread_mutex_destroy(&client->lock);
	free(client);
	curl_global_cleanup();
}

struct gcs_waits *gcs_client_waits(struct gcs_client *client)
{
	return &client->waits;
}

/* Returns an idle curl handle, with its open connection, or a new one. */
static CURL *handle_take(struct gcs_client *client)
{
	CURL *handle = NULL;

	pthread_mutex_lock(&client->lock);
	if (client->idle_count > 0)
		handle = client->idle[--client->idle_count];
	pthread_mutex_unlock(&client->lock);
	return handle ? handle : curl_easy_init();
}

static void handle_return(struct gcs_client *client, CURL *handle)
{
	curl_easy_reset(handle);
	pthread_mutex_lock(&client->lock);
	if (client->idle_count < IDLE_MAX) {
		client->idle[client->idle_count++] = handle;
		handle = NULL;
	}
	pthread_mutex_unlock(&client->lock);
	curl_easy_cleanup(handle);
}

/* ---- one try ---- */

static int64_t tail_bytes(const struct request *request)
{
	return request->tail ? (int64_t)strlen(request->tail) : 0;
}

static int64_t body_bytes(const struct request *request)
{
	return (int64_t)request->head.length + request->size_bytes + tail_bytes(request);
}

static int64_t least(int64_t one, int64_t other)
{
	return one < other ? one : other;
}

/* Copies the next bytes of the body, from one of its three parts (head, file, tail), to curl's @buffer. */
static size_t body_give(char *buffer, size_t size, size_t count, void *arg)
{
	struct request *request = arg;
	const int64_t head = (int64_t)request->head.length, room = (int64_t)(size * count);
	const int64_t at = request->sent_bytes - head, behind = at - request->size_bytes;
	ssize_t length = 0;

	if (at < 0) {
		length = (ssize_t)least(-at, room);
		memcpy(buffer, request->head.data + head + at, (size_t)length);
	} else if (behind < 0) {
		length = pread(request->fd, buffer, (size_t)least(-behind, room), at);
	} else if (behind < tail_bytes(request)) {
		length = (ssize_t)least(tail_bytes(request) - behind, room);
		memcpy(buffer, request->tail + behind, (size_t)length);
	}
	if (length < 0)
		return CURL_READFUNC_ABORT;
	request->sent_bytes += length;
	return (size_t)length;
}

/* curl rewinds the body if it finds, after it sent some bytes, that the daemon has closed an idle connection. */
static int body_seek(void *arg, curl_off_t offset, int origin)
{
	struct request *request = arg;

	if (origin != SEEK_SET)
		return CURL_SEEKFUNC_CANTSEEK;
	request->sent_bytes = offset;
	return CURL_SEEKFUNC_OK;
}

static size_t answer_take(char *data, size_t size, size_t count, void *arg)
{
	struct request *request = arg;

	if (request->answer.length + size * count > ANSWER_MAX)
		return 0;
	text_append(&request->answer, data, size * count);
	return size * count;
}

/* curl calls this function at least once a second. While bytes move, the request occupies no place (gcs_wait.h), and
 * continues unless the calling process was killed. */
static int progress_look(void *arg, curl_off_t down_all, curl_off_t down, curl_off_t up_all, curl_off_t up)
{
	struct request *request = arg;
	const int64_t now_us = clock_mono_us(&system_clock), looked_us = request->looked_us;

	(void)down_all, (void)up_all;
	if (down + up != request->moved_bytes) {
		request->moved_bytes = down + up;
		request->moved_us = now_us;
	}
	if (now_us - request->asked_us >= LOOK_US) {
		request->asked_us = now_us;
		request->problem = gcs_call_given_up(request->call);
	}
	if (request->problem || now_us - looked_us < QUIET_US)
		return request->problem != 0;
	request->looked_us = now_us;
	if (request->moved_us > looked_us)
		gcs_wait_moved(&request->wait, request->moved_us - looked_us);
	if (now_us - request->moved_us < QUIET_US)
		return 0;
	request->problem = gcs_wait_quiet(&request->wait, now_us - request->moved_us, request->size_bytes);
	return request->problem != 0;
}

/* If one option is missing, the request would be a different one: DELETE would become GET, and curl would search for
 * the daemon in the network by name. The path is a separate option, because curl (7.88, lib/url.c) leaves out a
 * URL's query if it has no memory for it. */
#define SET(option, value) (curl_easy_setopt(handle, CURLOPT_##option, value) == CURLE_OK)

/* Reads a small body into @room, which curl sends in one piece with the head: as pieces, its parts would wake the
 * daemon four times. */
static bool body_set_whole(CURL *handle, struct request *request, char room[WHOLE_BYTES])
{
	const size_t size = (size_t)body_bytes(request);
	size_t length = 0, more = 1;

	while (length < size && more > 0 && more != CURL_READFUNC_ABORT) {
		more = body_give(room + length, 1, size - length, request);
		length += more == CURL_READFUNC_ABORT ? 0 : more;
	}
	return length == size && SET(POSTFIELDS, room);
}

static bool body_set(CURL *handle, struct request *request, char room[WHOLE_BYTES])
{
	if (!SET(POST, 1L) || !SET(POSTFIELDSIZE_LARGE, (curl_off_t)body_bytes(request)))
		return false;
	if (body_bytes(request) <= WHOLE_BYTES)
		return body_set_whole(handle, request, room);
	return SET(UPLOAD_BUFFERSIZE, (long)UPLOAD_BUFFER_BYTES) && SET(READFUNCTION, body_give) &&
	       SET(READDATA, request) && SET(SEEKFUNCTION, body_seek) && SET(SEEKDATA, request);
}

static bool options_set(const struct gcs_client *client, CURL *handle, struct request *request,
			const struct curl_slist *headers, char room[WHOLE_BYTES])
{
	const bool has_body = strcmp(request->method, "POST") == 0 || strcmp(request->method, "PATCH") == 0;

	if (has_body && !body_set(handle, request, room))
		return false;
	return SET(UNIX_SOCKET_PATH, client->endpoint) && SET(URL, "http://gcs/") &&
	       SET(REQUEST_TARGET, request->target.data) && SET(CUSTOMREQUEST, request->method) &&
	       SET(NOSIGNAL, 1L) && SET(PROXY, "") && SET(PROTOCOLS_STR, "http") &&
	       SET(LOW_SPEED_LIMIT, 1L) && SET(LOW_SPEED_TIME, (long)SILENCE_S) && SET(NOPROGRESS, 0L) &&
	       SET(XFERINFOFUNCTION, progress_look) && SET(XFERINFODATA, request) &&
	       SET(WRITEFUNCTION, answer_take) && SET(WRITEDATA, request) && SET(HTTPHEADER, headers);
}

static struct curl_slist *headers_make(const struct request *request)
{
	AUTO(string) char *type = NULL;
	struct curl_slist *headers = curl_slist_append(NULL, "Expect:"), *more;

	if (!headers || !request->content_type)
		return headers;
	type = memory_printf("Content-Type: %s", request->content_type);
	more = curl_slist_append(headers, type);
	if (!more)
		curl_slist_free_all(headers);
	return more;
}

/* Makes the request once. Returns the HTTP status, or IMPOSSIBLE, UNREACHED or NO_ANSWER. */
static long try(struct gcs_client *client, struct request *request)
{
	CURL *handle = handle_take(client);
	struct curl_slist *headers = headers_make(request);
	char room[WHOLE_BYTES];
	long status = IMPOSSIBLE;

	request->sent_bytes = request->moved_bytes = 0;
	request->moved_us = request->looked_us = request->asked_us = clock_mono_us(&system_clock);
	text_clear(&request->answer);
	if (handle && headers && options_set(client, handle, request, headers, room)) {
		const CURLcode code = curl_easy_perform(handle);

		status = NO_ANSWER;
		if (code == CURLE_OK)
			curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
		else if (code == CURLE_COULDNT_CONNECT)
			status = UNREACHED;
		else if (code == CURLE_ABORTED_BY_CALLBACK || code == CURLE_OUT_OF_MEMORY)
			status = IMPOSSIBLE;
	}
	if (handle)
		handle_return(client, handle);
	curl_slist_free_all(headers);
	return status;
}

/* ---- repeating a request until it is answered ---- */

/* Choice: repeats the temporary ones of the 5xx errors; a full disk (507) is not temporary.
 * Source: gcsfuse (internal/storage/storageutil/custom_retry.go), which repeats 408, 429 and 5xx (read 2026-11-23) */
static bool is_worth_repeating(long http_status)
{
	return http_status == UNREACHED || http_status == NO_ANSWER || http_status == 408 ||
	       http_status == 429 || http_status == 500 || (http_status >= 502 && http_status <= 504);
}

static int errno_of_http(long http_status)
{
	static const struct {
		long http_status;
		int error_number;
	} rows[] = {
		{ 400, EINVAL }, { 401, EACCES }, { 403, EACCES }, { 404, ENOENT },
		{ 409, EBUSY },  { 412, EBUSY },  { 413, EFBIG },  { 507, ENOSPC },
	};

	if (http_status >= 200 && http_status < 300)
		return 0;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].http_status == http_status)
			return -rows[i].error_number;
	return -EIO;
}

static int request_repeat(struct gcs_client *client, struct request *request)
{
	int64_t pause_us = FIRST_PAUSE_US;

	for (;;) {
		int problem = gcs_call_given_up(request->call);
		long status;

		if (!problem)
			problem = gcs_wait_network(&request->wait);
		if (problem)
			return problem;
		status = try(client, request);
		request->tries++;
		if (request->problem)
			return request->problem;
		if (!is_worth_repeating(status) || (status == UNREACHED && request->asks_only))
			return request->asks_only ? 0 : errno_of_http(status);
		problem = gcs_wait_pause(&request->wait, status != UNREACHED,
					 status == UNREACHED ? PAUSE_US : pause_us);
		if (problem)
			return problem;
		if (status != UNREACHED && pause_us < LAST_PAUSE_US)
			pause_us *= 2;
	}
}

static int request_make(struct gcs_client *client, struct request *request)
{
	int problem;

	gcs_wait_begin(&request->wait, &client->waits, request->call);
	problem = request_repeat(client, request);
	gcs_wait_end(&request->wait);
	return problem;
}

/* Frees the request. Logs @problem, except ENOENT, and except for a request that was never sent because too many
 * calls were waiting. */
static void request_end(struct request *request, int problem)
{
	if (problem && problem != -ENOENT && request->tries > 0 && gcs_log_allows())
		log_event(LOG_WARNING, "gcs-request-failed", "method=%s url=%s tries=%u error=\"%s\"",
			  request->method, request->target.data, request->tries, strerrordesc_np(-problem));
	text_deinit(&request->target);
	text_deinit(&request->head);
	text_deinit(&request->answer);
}

/* ---- the requests ---- */

static void object_target_write(struct text *target, const char *bucket, const char *object)
{
	text_printf(target, "/storage/v1/b/%s/o/", bucket);
	text_percent(target, object, URL_UNRESERVED);
}

static int64_t generation_read(const struct text *answer)
{
	AUTO(json)
	json_t *object = answer->length ? json_loadb(answer->data, answer->length, 0, NULL) : NULL;

	return json_int_at(object, "generation", 0);
}

/* Appends {"metadata": {key: value}}. */
static int note_write(struct text *text, const char *key, const char *value)
{
	AUTO(json) json_t *resource = json_pack("{s{ss}}", "metadata", key, value);
	AUTO(string) char *words = resource ? json_dumps(resource, JSON_COMPACT) : NULL;

	if (!words)
		return -EINVAL;
	text_puts(text, words);
	return 0;
}

/* The separator of the body's two parts. It is random, so files do not contain it. */
struct boundary {
	char text[33], media[80], tail[48];
};

static int boundary_draw(struct boundary *boundary)
{
	unsigned char drawn[16];

	if (getrandom(drawn, sizeof(drawn), 0) != (ssize_t)sizeof(drawn))
		return -EIO;
	for (size_t i = 0; i < sizeof(drawn); i++)
		snprintf(boundary->text + 2 * i, 3, "%02x", drawn[i]);
	snprintf(boundary->media, sizeof(boundary->media), "multipart/related; boundary=%s", boundary->text);
	snprintf(boundary->tail, sizeof(boundary->tail), "\r\n--%s--\r\n", boundary->text);
	return 0;
}

/* Makes the head and the tail of a body with two parts: the object's metadata as JSON, then the bytes of the file. */
static int parts_write(struct request *request, const struct gcs_content *content, struct boundary *boundary)
{
	int problem = boundary_draw(boundary);

	if (problem)
		return problem;
	text_printf(&request->head, "--%s\r\nContent-Type: application/json\r\n\r\n", boundary->text);
	problem = note_write(&request->head, content->key, content->value);
	text_printf(&request->head, "\r\n--%s\r\nContent-Type: %s\r\n\r\n", boundary->text,
		    request->content_type);
	request->tail = boundary->tail;
	request->content_type = boundary->media;
	return problem;
}

int gcs_upload(struct gcs_client *client, const struct gcs_call *call, const char *bucket, const char *object,
	       const struct gcs_content *content, int64_t *ret_generation)
{
	struct request request = {
		.method = "POST",
		.content_type = gcs_content_type(object),
		.fd = content->fd,
		.size_bytes = content->size_bytes,
		.call = call,
	};
	struct boundary boundary;
	int problem = content->key ? parts_write(&request, content, &boundary) : 0;

	text_printf(&request.target, "/upload/storage/v1/b/%s/o?uploadType=%s&name=", bucket,
		    content->key ? "multipart" : "media");
	text_percent(&request.target, object, URL_UNRESERVED);
	if (!problem)
		problem = request_make(client, &request);
	*ret_generation = problem ? 0 : generation_read(&request.answer);
	request_end(&request, problem);
	return problem;
}

int gcs_note(struct gcs_client *client, const struct gcs_call *call, const char *bucket, const char *object,
	     const char *key, const char *value, int64_t generation)
{
	struct request request = { .method = "PATCH", .content_type = "application/json", .call = call };
	int problem = note_write(&request.head, key, value);

	object_target_write(&request.target, bucket, object);
	if (generation)
		text_printf(&request.target, "?ifGenerationMatch=%" PRId64, generation);
	if (!problem)
		problem = request_make(client, &request);
	request_end(&request, problem);
	return problem;
}

int gcs_delete(struct gcs_client *client, const struct gcs_call *call, const char *bucket, const char *object,
	       int64_t generation)
{
	struct request request = { .method = "DELETE", .call = call };
	int problem;

	object_target_write(&request.target, bucket, object);
	if (generation)
		text_printf(&request.target, "?ifGenerationMatch=%" PRId64, generation);
	problem = request_make(client, &request);
	if (problem == -ENOENT && request.tries > 1)
		problem = 0;
	request_end(&request, problem);
	return problem;
}

int gcs_copy(struct gcs_client *client, const struct gcs_call *call, const char *bucket, const char *object,
	     const char *to_bucket, const char *to_object)
{
	struct request request = { .method = "POST", .call = call };
	int problem;

	object_target_write(&request.target, bucket, object);
	text_printf(&request.target, "/copyTo/b/%s/o/", to_bucket);
	text_percent(&request.target, to_object, URL_UNRESERVED);
	problem = request_make(client, &request);
	request_end(&request, problem);
	return problem;
}

/* ---- reads, which ask the daemon only while it has fault rules ---- */

static int ask(struct gcs_client *client, struct request *request)
{
	const int problem = gcs_waits_have_rules(&client->waits) ? request_make(client, request) : 0;

	request_end(request, problem);
	return problem;
}

int gcs_ask_object(struct gcs_client *client, const struct gcs_call *call, const char *bucket,
		   const char *object)
{
	struct request request = { .method = "GET", .call = call, .asks_only = true };

	object_target_write(&request.target, bucket, object);
	text_puts(&request.target, "?fields=name");
	return ask(client, &request);
}

int gcs_ask_list(struct gcs_client *client, const struct gcs_call *call, const char *bucket)
{
	struct request request = { .method = "GET", .call = call, .asks_only = true };

	text_printf(&request.target, "/storage/v1/b/%s/o?maxResults=1&fields=kind", bucket);
	return ask(client, &request);
}
