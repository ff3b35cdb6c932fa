/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/engine/docker_http.h"
#include "daemon/base/memory.h"

#include <curl/curl.h>
#include <errno.h>
#include <poll.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "daemon/base/clock.h"
#include "daemon/base/tally.h"
#include "daemon/base/text.h"
#include "scheduler/engine/docker_endpoint.h"

/* CONNECTIONS_KEPT limits the idle connections that curl keeps for later calls, because no lane does; by default
 * curl keeps four for each running call. Choice: few, because a new connection costs little on a unix socket. */
enum {
	CONNECT_TIMEOUT_MS = 2000,
	STREAM_BUFFER_BYTES = 64 * 1024,
	CONNECTIONS_KEPT = 16,
	FAILED_WAIT_MS = 100,
	FLOOD_GAP_US = 200,
	FLOOD_WAKES = 4,
	FLOOD_PAUSE_MS = 1,
	PROBLEM_BYTES = CURL_ERROR_SIZE + ENDPOINT_PROBLEM_SIZE + 256
};

static const unsigned lane_limits[LANE_COUNT] = {
	[LANE_CALL] = 64,  [LANE_START] = 4,     [LANE_STOP] = 128, [LANE_PULL] = 8,
	[LANE_EVENTS] = 4, [LANE_FOLLOW] = 1024, [LANE_READ] = 128,
};

struct http_exchange {
	struct http *http;
	struct http_exchange *next;     /* the next in its lane's queue, or in the list of running exchanges */
	struct http_exchange *previous; /* the previous one in the list of running exchanges */
	struct http_request request;    /* its strings are not kept, only callbacks */
	CURL *easy;
	struct curl_slist *headers;
	char *target, *body;
	size_t body_bytes;
	struct text collected;
	char problem[CURL_ERROR_SIZE];
	char api_version[16];
	unsigned code;
	bool running, paused, cancelled, too_large;
	CURLcode broken; /* a failure outside of curl's own callbacks, which curl does not report */
};

struct lane {
	struct http_exchange *first, *last;
	unsigned running, limit;
};

struct http {
	CURLM *multi;
	struct endpoint *endpoint;
	char version[16];
	struct lane lanes[LANE_COUNT];
	struct http_exchange *running;
	bool any_over; /* at least one running exchange is cancelled or broken */
	bool has_followed; /* bytes of a followed log have arrived since the last wait */
	unsigned flood_wakes; /* how many waits in a row ended at once and brought bytes of a followed log */
};

enum status http_new(struct endpoint *endpoint, struct http **ret_http, struct error *err)
{
	struct http *http;

	if (curl_global_init_mem(CURL_GLOBAL_NOTHING, memory_alloc, free, memory_realloc, memory_strdup,
				 memory_calloc) != CURLE_OK)
		return error_set(err, STATUS_INTERNAL, NULL, "libcurl cannot be initialised");
	http = memory_calloc(1, sizeof(*http));
	http->multi = curl_multi_init();
	http->endpoint = endpoint_hold(endpoint);
	for (int i = 0; i < LANE_COUNT; i++)
		http->lanes[i].limit = lane_limits[i];
	if (!http->multi ||
	    curl_multi_setopt(http->multi, CURLMOPT_MAXCONNECTS, (long)CONNECTIONS_KEPT) != CURLM_OK) {
		http_free(http);
		return error_set(err, STATUS_UNAVAILABLE, NULL, "libcurl cannot make its handle for connections");
	}
	*ret_http = http;
	return STATUS_OK;
}

void http_free(struct http *http)
{
	if (!http)
		return;
	curl_multi_cleanup(http->multi);
	endpoint_close(http->endpoint);
	free(http);
	curl_global_cleanup();
}

void http_set_version(struct http *http, const char *version)
{
	snprintf(http->version, sizeof(http->version), "%s", version);
}

void http_set_limit(struct http *http, enum http_lane lane, unsigned limit)
{
	http->lanes[lane].limit = limit ? limit : 1;
}

void http_wakeup(struct http *http)
{
	curl_multi_wakeup(http->multi);
}

/* Overwrites the header lines before freeing them, because they may have credentials. */
static void headers_free(struct curl_slist *headers)
{
	for (struct curl_slist *line = headers; line; line = line->next)
		sodium_memzero(line->data, strlen(line->data));
	curl_slist_free_all(headers);
}

static void exchange_free(struct http_exchange *exchange)
{
	curl_easy_cleanup(exchange->easy);
	headers_free(exchange->headers);
	text_deinit(&exchange->collected);
	free(exchange->target);
	free(exchange->body);
	free(exchange);
}

/* Receives one header line, or the empty line that ends the head. Interim answers (1xx) also end with an empty line. */
static size_t on_header(char *data, size_t size, size_t count, void *arg)
{
	static const char wanted[] = "api-version:";
	struct http_exchange *exchange = arg;
	size_t length = size * count;
	long code = 0;

	if (length > sizeof(wanted) && strncasecmp(data, wanted, sizeof(wanted) - 1) == 0) {
		char value[64];

		snprintf(value, sizeof(value), "%.*s", (int)(length - sizeof(wanted) + 1),
			 data + sizeof(wanted) - 1);
		(void)sscanf(value, " %15[0-9.]", exchange->api_version);
	}
	if (length > 2 || length == 0 || (data[0] != '\r' && data[0] != '\n'))
		return length;
	curl_easy_getinfo(exchange->easy, CURLINFO_RESPONSE_CODE, &code);
	exchange->code = (unsigned)code;
	if (code >= 200 && code < 300 && exchange->request.opened && !exchange->cancelled)
		exchange->request.opened(exchange->request.arg);
	return length;
}

static size_t body_max(const struct http_exchange *exchange)
{
	return exchange->request.body_max ? exchange->request.body_max : HTTP_BODY_MAX;
}

static size_t on_data(char *data, size_t size, size_t count, void *arg)
{
	struct http_exchange *exchange = arg;
	size_t length = size * count;

	if (exchange->cancelled || exchange->broken)
		return 0;
	exchange->http->has_followed |= exchange->request.lane == LANE_FOLLOW;
	if (exchange->request.data && exchange->code < 300) {
		switch (exchange->request.data(exchange->request.arg, data, length)) {
		case HTTP_TAKEN:
			return length;
		case HTTP_PAUSE:
			exchange->paused = true;
			return CURL_WRITEFUNC_PAUSE;
		case HTTP_BREAK:
			break;
		}
		return 0;
	}
	if (length > body_max(exchange) - exchange->collected.length) {
		exchange->too_large = true;
		return 0;
	}
	text_append(&exchange->collected, data, length);
	return exchange->collected.failed ? 0 : length;
}

static bool header_add(struct http_exchange *exchange, const char *line)
{
	struct curl_slist *longer = curl_slist_append(exchange->headers, line);

	if (longer)
		exchange->headers = longer;
	return longer != NULL;
}

static bool headers_make(struct http_exchange *exchange, const struct http_request *request)
{
	const char *type = request->body_header ? request->body_header : "Content-Type: application/json";
	char *line;
	bool added;

	if (!header_add(exchange, "Expect:"))
		return false;
	if (!header_add(exchange, request->body ? type : "Content-Type:"))
		return false;
	if (!request->registry_auth)
		return true;
	line = memory_printf("X-Registry-Auth: %s", request->registry_auth);
	added = header_add(exchange, line);
	sodium_memzero(line, strlen(line));
	free(line);
	return added;
}

/* Sets an option of a curl handle; false: it failed, and the call must not be made. A call without one of its
 * options would be another call: DELETE would be GET, and curl would look for the engine on the network, by its
 * name. The path is an option of its own, because curl (7.88, lib/url.c) leaves out a URL's query if it has no
 * memory for it. */
#define SET(option, value) (curl_easy_setopt(easy, CURLOPT_##option, value) == CURLE_OK)

static bool easy_configure(struct http_exchange *exchange, const struct http_request *request)
{
	CURL *easy = exchange->easy;
	const bool posts = strcmp(request->method, "POST") == 0, gets = strcmp(request->method, "GET") == 0;
	struct endpoint *endpoint = exchange->http->endpoint;
	const unsigned patience_s = endpoint_patience_s(endpoint);
	const long timeout_ms = request->timeout_s ? ((long)request->timeout_s + patience_s) * 1000 : 0;

	if ((posts || exchange->body) && !(SET(POSTFIELDS, exchange->body ? exchange->body : "") &&
					   SET(POSTFIELDSIZE_LARGE, (curl_off_t)exchange->body_bytes)))
		return false;
	/* If a request on a reused connection gets no answer, curl repeats it by itself. The engine may have executed
	 * the first: a repeated start would run a program again that has ended. */
	if (posts && !SET(FRESH_CONNECT, 1L))
		return false;
	if (request->lane >= LANE_EVENTS && !SET(BUFFERSIZE, (long)STREAM_BUFFER_BYTES))
		return false;
	if (strcmp(request->method, "HEAD") == 0 && !SET(NOBODY, 1L)) /* otherwise curl would wait for a body */
		return false;
	return endpoint_configure(endpoint, easy) && SET(URL, endpoint_base(endpoint)) &&
	       SET(REQUEST_TARGET, exchange->target) &&
	       SET(CUSTOMREQUEST, posts || gets ? NULL : request->method) && SET(PROTOCOLS_STR, "http") &&
	       SET(NOSIGNAL, 1L) && SET(FOLLOWLOCATION, 0L) &&
	       SET(CONNECTTIMEOUT_MS, (long)CONNECT_TIMEOUT_MS) &&
	       SET(TIMEOUT_MS, timeout_ms) && SET(ERRORBUFFER, exchange->problem) &&
	       SET(HTTPHEADER, exchange->headers) && SET(HEADERFUNCTION, on_header) &&
	       SET(HEADERDATA, exchange) && SET(WRITEFUNCTION, on_data) && SET(WRITEDATA, exchange) &&
	       SET(PRIVATE, exchange);
}

static void body_keep(struct http_exchange *exchange, const struct http_request *request)
{
	if (!request->body)
		return;
	exchange->body_bytes = request->body_bytes ? request->body_bytes : strlen(request->body);
	exchange->body = memory_alloc(exchange->body_bytes + 1);
	memcpy(exchange->body, request->body, exchange->body_bytes);
}

/* Returns NULL if libcurl does not accept the request. */
static struct http_exchange *exchange_new(struct http *http, const struct http_request *request)
{
	struct http_exchange *exchange = memory_calloc(1, sizeof(*exchange));

	exchange->http = http;
	exchange->request = *request;
	exchange->collected.may_fail = true;
	exchange->target = memory_printf("%s%s%s", request->without_version ? "" : "/v",
					 request->without_version ? "" : http->version, request->path);
	exchange->easy = curl_easy_init();
	body_keep(exchange, request);
	if (!exchange->easy || !headers_make(exchange, request) || !easy_configure(exchange, request)) {
		exchange_free(exchange);
		return NULL;
	}
	exchange->request.path = exchange->request.body = exchange->request.registry_auth = NULL;
	return exchange;
}

void http_start(struct http *http, const struct http_request *request)
{
	struct http_exchange *exchange = exchange_new(http, request);
	struct lane *lane = &http->lanes[request->lane];

	if (!exchange) {
		request->done(request->arg,
			      &(struct http_answer){ .status = STATUS_UNAVAILABLE,
						     .problem = "libcurl does not take the request",
						     .body = "",
						     .api_version = "" });
		return;
	}
	if (request->slot)
		*request->slot = exchange;
	if (lane->last)
		lane->last->next = exchange;
	else
		lane->first = exchange;
	lane->last = exchange;
}

bool http_is_queued(const struct http_exchange *exchange)
{
	return !exchange->running;
}

void http_cancel(struct http_exchange *exchange)
{
	if (exchange->request.slot)
		*exchange->request.slot = NULL;
	exchange->cancelled = true;
	exchange->http->any_over = true;
}

void http_resume(struct http_exchange *exchange)
{
	if (!exchange->paused || exchange->cancelled)
		return;
	exchange->paused = false;
	/* Makes curl hand over the bytes that it kept. If that fails, the bytes are lost, so the exchange must not
	 * continue. */
	exchange->broken = curl_easy_pause(exchange->easy, CURLPAUSE_CONT);
	exchange->http->any_over |= exchange->broken != CURLE_OK;
}

static void running_remove(struct http_exchange *exchange)
{
	struct http *http = exchange->http;

	curl_multi_remove_handle(http->multi, exchange->easy);
	if (exchange->previous)
		exchange->previous->next = exchange->next;
	else
		http->running = exchange->next;
	if (exchange->next)
		exchange->next->previous = exchange->previous;
	exchange->running = false;
	http->lanes[exchange->request.lane].running--;
}

static void answer_count(const struct http_exchange *exchange, const struct http_answer *answer)
{
	if (answer->status == STATUS_OK)
		tally_add(exchange->code < 400 ? TALLY_ENGINE_OK : TALLY_ENGINE_REFUSED, 1);
	else if (answer->status != STATUS_CANCELLED)
		tally_add(TALLY_ENGINE_FAILED, 1);
}

static void exchange_end(struct http_exchange *exchange, struct http_answer answer)
{
	if (!exchange->cancelled) {
		answer_count(exchange, &answer);
		if (exchange->request.slot)
			*exchange->request.slot = NULL;
		answer.code = exchange->code;
		answer.body = exchange->collected.data ? exchange->collected.data : "";
		answer.body_length = exchange->collected.length;
		answer.api_version = exchange->api_version;
		exchange->request.done(exchange->request.arg, &answer);
	}
	exchange_free(exchange);
}

/* Whether the exchange failed because the connection's carrier could not reach the engine; @why then has the reason. */
static bool was_unreachable(const struct http_exchange *exchange, CURLcode result,
			    char why[ENDPOINT_PROBLEM_SIZE])
{
	why[0] = '\0';
	if (result == CURLE_GOT_NOTHING || result == CURLE_RECV_ERROR || result == CURLE_SEND_ERROR ||
	    result == CURLE_OPERATION_TIMEDOUT)
		endpoint_problem(exchange->http->endpoint, why);
	return why[0] != '\0';
}

/* Makes the answer of a finished exchange from curl's result; the error text is written to @problem. */
static struct http_answer answer_of(struct http_exchange *exchange, CURLcode result, char *problem,
				    size_t size)
{
	struct http_answer answer = { .status = STATUS_UNAVAILABLE, .problem = problem };
	const char *words = exchange->problem[0] ? exchange->problem : curl_easy_strerror(result);
	char why[ENDPOINT_PROBLEM_SIZE];
	long os_error = 0;

	if (was_unreachable(exchange, result, why)) {
		snprintf(problem, size, "cannot reach the engine at %s: %s",
			 endpoint_name(exchange->http->endpoint), why);
		answer.unreachable = true;
		return answer;
	}
	switch (result) {
	case CURLE_OK:
		if (!memory_holds_json(exchange->collected.length)) {
			snprintf(problem, size, "there is no memory for the engine's answer");
			break;
		}
		/* If the connection ends within the head, curl reports success with an empty body. */
		if (exchange->code < 200) {
			snprintf(problem, size,
				 "the connection to the engine broke in the head of an answer");
			break;
		}
		answer.status = STATUS_OK;
		problem[0] = '\0';
		if (endpoint_patience_s(exchange->http->endpoint))
			endpoint_problem_set(exchange->http->endpoint, "");
		break;
	case CURLE_COULDNT_RESOLVE_HOST: /* also if the path is too long for a socket address */
	case CURLE_COULDNT_CONNECT:
		curl_easy_getinfo(exchange->easy, CURLINFO_OS_ERRNO, &os_error);
		snprintf(problem, size, "cannot reach the engine at %s: %s",
			 endpoint_name(exchange->http->endpoint),
			 os_error ? strerrordesc_np((int)os_error) : words);
		answer.unreachable = true;
		break;
	case CURLE_OPERATION_TIMEDOUT:
		snprintf(problem, size, "the engine did not answer in time: %s", words);
		break;
	case CURLE_WRITE_ERROR:
		answer.status = exchange->collected.failed ? STATUS_UNAVAILABLE : STATUS_INTERNAL;
		if (exchange->collected.failed)
			snprintf(problem, size, "there is no memory for the engine's answer");
		else if (exchange->too_large)
			snprintf(problem, size, "the engine's answer is larger than %zu bytes",
				 body_max(exchange));
		else
			snprintf(problem, size, "the engine's answer could not be taken");
		break;
	default:
		snprintf(problem, size, "the connection to the engine broke: %s", words);
		break;
	}
	return answer;
}

static void finished_collect(struct http *http)
{
	CURLMsg *message;
	int left;

	while ((message = curl_multi_info_read(http->multi, &left)) != NULL) {
		struct http_exchange *exchange = NULL;
		struct http_answer answer;
		char problem[PROBLEM_BYTES];
		CURLcode result = message->data.result;

		if (message->msg != CURLMSG_DONE)
			continue;
		curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&exchange);
		answer = answer_of(exchange, result, problem, sizeof(problem));
		running_remove(exchange);
		exchange_end(exchange, answer);
	}
}

static void exchange_run(struct http *http, struct lane *lane, struct http_exchange *exchange)
{
	exchange->running = true;
	exchange->previous = NULL;
	exchange->next = http->running;
	if (http->running)
		http->running->previous = exchange;
	http->running = exchange;
	lane->running++;
	if (curl_multi_add_handle(http->multi, exchange->easy) != CURLM_OK) {
		exchange->broken = CURLE_OUT_OF_MEMORY; /* the only reason for which curl refuses a new handle */
		http->any_over = true;
	}
}

static void lane_pump(struct http *http, struct lane *lane)
{
	while (lane->first && (lane->first->cancelled || lane->running < lane->limit)) {
		struct http_exchange *exchange = lane->first;

		lane->first = exchange->next;
		if (!lane->first)
			lane->last = NULL;
		if (exchange->cancelled)
			exchange_free(exchange);
		else
			exchange_run(http, lane, exchange);
	}
}

/* Ends the exchanges that were cancelled or are broken. done() may begin or cancel other exchanges, but that only
 * changes the lanes' queues, not the list of running exchanges. */
static void over_drop(struct http *http)
{
	struct http_exchange *next;

	if (!http->any_over)
		return;
	http->any_over = false;
	for (struct http_exchange *exchange = http->running; exchange; exchange = next) {
		char problem[PROBLEM_BYTES];
		struct http_answer answer;

		next = exchange->next;
		if (!exchange->cancelled && !exchange->broken)
			continue;
		answer = answer_of(exchange, exchange->broken, problem, sizeof(problem));
		running_remove(exchange);
		exchange_end(exchange, answer);
	}
}

static bool lanes_ready(const struct http *http)
{
	for (int i = 0; i < LANE_COUNT; i++)
		if (http->lanes[i].first && http->lanes[i].running < http->lanes[i].limit)
			return true;
	return false;
}

void http_move(struct http *http)
{
	int running;

	do {
		over_drop(http);
		for (int i = 0; i < LANE_COUNT; i++)
			lane_pump(http, &http->lanes[i]);
		curl_multi_perform(http->multi, &running);
		finished_collect(http);
	} while (http->any_over || lanes_ready(http));
}

/* Docker Engine writes each line of a log to the connection alone. While a container prints without pause, each line or
 * two woke this thread, which took five times as much CPU time as reading the lines; pauses let lines gather in the
 * socket. Choice: FLOOD_PAUSE_MS is short beside the time for which an entry waits for others in the store, and the
 * socket's buffer has room for the lines of twice that time. */
static void flood_pause(struct http *http, int64_t waited_us)
{
	if (!http->has_followed || waited_us > FLOOD_GAP_US)
		http->flood_wakes = 0;
	else if (++http->flood_wakes > FLOOD_WAKES)
		poll(NULL, 0, FLOOD_PAUSE_MS);
	http->has_followed = false;
}

void http_wait(struct http *http, int timeout_ms)
{
	const int64_t begun_us = clock_mono_us(&system_clock);

	if (curl_multi_poll(http->multi, NULL, 0, timeout_ms, NULL) != CURLM_OK)
		poll(NULL, 0,
		     timeout_ms < FAILED_WAIT_MS ? timeout_ms
						 : FAILED_WAIT_MS); /* a pause, so that a failing poll is not repeated
								     * without end */
	flood_pause(http, clock_mono_us(&system_clock) - begun_us);
}

bool http_fail_all(struct http *http)
{
	struct http_answer answer = { .status = STATUS_CANCELLED, .problem = "the engine is being closed" };
	bool any = false;

	for (int i = 0; i < LANE_COUNT; i++)
		http->lanes[i].limit = ~0u;
	for (int i = 0; i < LANE_COUNT; i++)
		lane_pump(http, &http->lanes[i]);
	while (http->running) {
		struct http_exchange *exchange = http->running;

		running_remove(exchange);
		exchange_end(exchange, answer);
		any = true;
	}
	return any;
}
