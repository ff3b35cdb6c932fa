/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/client.h"

#include <curl/curl.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "daemon/address_file.h"
#include "daemon/base/clock.h"
#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "daemon/base/text.h"
#include "daemon/cli/invocation.h"
#include "daemon/cli/terminal.h"
#include "daemon/config.h"
#include "daemon/config_listen.h"

/* ANSWER_BYTES_MAX: the limit of an answer that is kept in memory; a page of 1,000 jobs has some megabytes. */
enum {
	ANSWER_BYTES_MAX = 256 << 20,
	CONNECT_MS = 5000,
	CALL_MS = 60000,
	TOKEN_BYTES_MAX = 4096,
	STILL_S = 120,
	CONTINUE_MS = 10000, /* how long the daemon may take to say that it takes a body */
	AWAY_PAUSE_MS = 200,
	HTTP_UNAUTHORIZED = 401,
	HTTP_RESUME_INCOMPLETE = 308 /* of a resumable upload: more bytes are expected */
};

#define AUTHORIZATION "Authorization: Bearer "

struct client {
	CURL *curl;
	struct curl_slist *headers; /* Content-Type and, if there is a token, Authorization */
	char *authorization;        /* NULL: there is no token */
	char *endpoint;             /* in the form that users see */
	bool is_variable;           /* the endpoint comes from TRAINYARD_ENDPOINT */
	/* the command is for this state directory, but no daemon runs on it; NULL otherwise */
	char *absent_dir;
	bool is_named;              /* the command line names the state directory */
	char *socket;               /* the PATH of "unix:/PATH"; NULL: TCP is used */
	bool has_token, unreached, late;
	long limit_ms; /* time limit of a call in ms */
	bool has_answered;
	bool away_reported;  /* a line has reported that the daemon does not answer */
	int64_t away_us; /* how long a call waits for a daemon that has answered before */
};

/* The state of one request. */
struct exchange_state {
	struct client *client;
	struct text answer; /* the body of a failure, or of every answer if @take is NULL */
	bool overflow;
	bool (*take)(void *arg, const char *data, size_t length);
	bool (*tick)(void *arg); /* NULL: none */
	void *arg;
	bool ended;                       /* @take or @tick returned false: the request ends early */
	struct client_response *response; /* NULL: only the body of a 2xx answer counts */
};

/* ---- the daemon's address ---- */

static char *state_dir_find(const char *config_file, const char *state_dir, struct error *err)
{
	struct config config AUTO_CONFIG = { 0 };
	const char *arguments[5] = { NULL };
	size_t count = 0;

	if (config_file) {
		arguments[count++] = "--config";
		arguments[count++] = config_file;
	}
	if (state_dir) {
		arguments[count++] = "--state-dir";
		arguments[count++] = state_dir;
	}
	return config_read(&config, CONFIG_STOP, arguments, err) ? NULL : TAKE(config.state_dir);
}

static const char *variable(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

static bool endpoints_are_same(const char *one, const char *other)
{
	const size_t length = strlen(other) - (*other && other[strlen(other) - 1] == '/');

	return strncmp(one, other, length) == 0 && strcmp(one + length + (one[length] == '/'), "") == 0;
}

/* Adds the Authorization header; does nothing if @token is NULL. */
static void token_add(struct client *client, const char *token)
{
	if (!token)
		return;
	client->authorization = memory_printf(AUTHORIZATION "%s", token);
	client->headers = curl_slist_append(client->headers, client->authorization);
	client->has_token = true;
}

enum status client_of(const struct invocation *invocation, struct client **ret_client, struct error *err)
{
	const char *endpoint = invocation_value(invocation, "endpoint");
	const char *token_file = invocation_value(invocation, "token-file");
	const char *config_file = invocation_value(invocation, "config");
	const char *named_dir = invocation_value(invocation, "state-dir");
	const char *own = config_file || named_dir ? NULL : variable("TRAINYARD_ENDPOINT");
	const bool is_variable = own && !endpoint;
	const char *own_token = own || !named_dir ? variable("TRAINYARD_TOKEN_FILE") : NULL;
	AUTO(string) char *state_dir = own ? NULL : state_dir_find(config_file, named_dir, err);
	struct address address AUTO_ADDRESS = { 0 };

	if (state_dir)
		address_file_read(state_dir, &address);
	else if (config_file || named_dir)
		return STATUS_INVALID_ARGUMENT;
	if (!own)
		own = address.url ? address.url : "http://127.0.0.1:8090";
	if (!own_token && address_is_live(&address, state_dir))
		own_token = address.token_file;

	const bool is_other = endpoint && !endpoints_are_same(endpoint, own);
	const char *token = token_file || is_other ? token_file : own_token;
	enum status rc = client_open(endpoint ? endpoint : own, token, ret_client, err);

	if (rc)
		return rc;
	(*ret_client)->is_variable = is_variable;
	if (!endpoint && (address.is_outdated || ((config_file || named_dir) && !address.url)))
		(*ret_client)->absent_dir = TAKE(state_dir);
	(*ret_client)->is_named = config_file || named_dir;
	if (!token && !is_other && !named_dir)
		token_add(*ret_client, variable("TRAINYARD_TOKEN"));
	return STATUS_OK;
}

static enum status token_read(const char *path, char **ret_authorization, struct error *err)
{
	char token[TOKEN_BYTES_MAX];
	FILE *file = fopen(path, "re");
	const bool read = file && fgets(token, sizeof(token), file);

	if (file)
		fclose(file);
	if (!read)
		return error_set(err, STATUS_FAILED_PRECONDITION, NULL, "the token in %s cannot be read: %s",
				 path, file ? "it is empty" : strerror(errno));
	token[strcspn(token, "\r\n")] = '\0';
	*ret_authorization = memory_printf(AUTHORIZATION "%s", token);
	return STATUS_OK;
}

enum status client_open(const char *endpoint, const char *token_file, struct client **ret_client,
			struct error *err)
{
	AUTO(client) struct client *client = memory_calloc(1, sizeof(*client));
	enum status rc = STATUS_OK;

	*client = (struct client){ .endpoint = memory_strdup(endpoint), .limit_ms = CALL_MS };
	for (size_t length = strlen(client->endpoint); length && client->endpoint[length - 1] == '/';)
		client->endpoint[--length] = '\0';
	if (config_listen_path(client->endpoint))
		client->socket = memory_strdup(config_listen_path(client->endpoint));
	else if (strncmp(client->endpoint, "http://", 7) != 0 &&
		 strncmp(client->endpoint, "https://", 8) != 0)
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
				 "the endpoint \"%s\" is neither http://HOST:PORT nor unix:/PATH",
				 client->endpoint);
	client->headers = curl_slist_append(NULL, "Content-Type: application/json");
	if (token_file)
		rc = token_read(token_file, &client->authorization, err);
	if (client->authorization)
		client->headers = curl_slist_append(client->headers, client->authorization);
	client->has_token = token_file != NULL;
	client->curl = curl_easy_init();
	if (!rc)
		*ret_client = TAKE(client);
	return rc;
}

void client_close(struct client *client)
{
	if (!client)
		return;
	if (client->curl)
		curl_easy_cleanup(client->curl);
	curl_slist_free_all(client->headers);
	free(client->authorization);
	free(client->endpoint);
	free(client->absent_dir);
	free(client->socket);
	free(client);
}

const char *client_endpoint(const struct client *client)
{
	return client->endpoint;
}

bool client_has_token(const struct client *client)
{
	return client->has_token;
}

const char *client_token(const struct client *client)
{
	return client->authorization ? client->authorization + strlen(AUTHORIZATION) : NULL;
}

/* Converts a limit for libcurl, for which 0 would mean no limit. */
static long limit_ms_of(int64_t limit_us)
{
	return limit_us <= 0 ? 1 : limit_us / 1000 < INT_MAX ? (long)((limit_us + 999) / 1000) : INT_MAX;
}

void client_limit(struct client *client, int64_t limit_us)
{
	client->limit_ms = limit_ms_of(limit_us);
}

void client_wait_out(struct client *client, int64_t away_us)
{
	client->away_us = away_us;
}

bool client_is_unreached(const struct client *client)
{
	return client->unreached;
}

bool client_is_late(const struct client *client)
{
	return client->late;
}

/* ---- one request ---- */

static size_t answer_take(char *data, size_t size, size_t count, void *arg)
{
	struct exchange_state *state = arg;
	const size_t length = size * count;
	long http_status = 0;

	curl_easy_getinfo(state->client->curl, CURLINFO_RESPONSE_CODE, &http_status);
	if (state->take && http_status / 100 == 2) {
		state->ended = !state->take(state->arg, data, length);
		return state->ended ? 0 : length;
	}
	state->overflow = state->answer.length + length > ANSWER_BYTES_MAX;
	if (state->overflow)
		return 0;
	text_append(&state->answer, data, length);
	return length;
}

static enum status http_failure(const struct exchange_state *state, long http_status, struct error *err)
{
	AUTO(json)
	json_t *answer = json_parse_foreign(state->answer.data ? state->answer.data : "",
					    state->answer.length, 0, NULL);
	const json_t *error = json_object_get(answer, "error");
	const char *message = json_text_at(error, "message");
	const char *name = json_text_at(error, "status");
	enum status rc = http_status == 404   ? STATUS_NOT_FOUND
			 : http_status == 409 ? STATUS_ALREADY_EXISTS
					      : STATUS_INTERNAL;

	for (int status = STATUS_OK + 1; name && status <= STATUS_UNAUTHENTICATED; status++)
		if (strcmp(status_name((enum status)status), name) == 0)
			rc = (enum status)status;
	if (http_status == HTTP_UNAUTHORIZED)
		return error_set(err, STATUS_UNAUTHENTICATED, NULL,
				 state->client->has_token
					 ? "%s does not accept this token: give the daemon's own with --token-file or "
					   "TRAINYARD_TOKEN"
					 : "%s asks for a token: give it with --token-file or TRAINYARD_TOKEN",
				 state->client->endpoint);
	if (message)
		return error_set(err, rc, NULL, "%s", message);
	return error_set(err, rc, NULL, "%s answers with HTTP status %ld", state->client->endpoint,
			 http_status);
}

/* Returns true if the call failed after the connection was made, which shows that a daemon was there. */
static bool connection_was_there(CURLcode code)
{
	return code == CURLE_SEND_ERROR || code == CURLE_RECV_ERROR || code == CURLE_GOT_NOTHING;
}

static enum status exchange_end(struct exchange_state *state, CURLcode code, json_t **ret_answer,
				struct error *err)
{
	struct client *client = state->client;
	long http_status = 0;
	AUTO(json) json_t *answer = NULL;

	curl_easy_getinfo(client->curl, CURLINFO_RESPONSE_CODE, &http_status);
	if (code == CURLE_ABORTED_BY_CALLBACK && !state->ended)
		return error_set(err, STATUS_CANCELLED, NULL, "the data to send cannot be read to its end");
	client->unreached = code != CURLE_OK && http_status == 0 && !state->ended;
	client->late = code == CURLE_OPERATION_TIMEDOUT;
	if (client->unreached && client->late)
		return error_set(err, STATUS_UNAVAILABLE, NULL, "%s did not answer in time",
				 client->endpoint);
	if (client->unreached && connection_was_there(code))
		return error_set(err, STATUS_UNAVAILABLE, NULL, "the connection to %s broke: %s",
				 client->endpoint, curl_easy_strerror(code));
	if (client->unreached)
		return error_set(err, STATUS_UNAVAILABLE, NULL, "no daemon answers at %s (%s): %s",
				 client->endpoint, curl_easy_strerror(code),
				 client->is_variable ? "TRAINYARD_ENDPOINT names it; unset that, or give --endpoint"
						     : "start one with \"trainyard start\", or give --endpoint");
	if (state->overflow)
		return error_set(err, STATUS_INTERNAL, NULL, "the answer of %s is too long",
				 client->endpoint);
	if (state->response)
		state->response->http_status = http_status;
	if (state->ended)
		return STATUS_OK;
	if (http_status / 100 == 1) /* the daemon agreed to take the body, and the connection broke */
		return error_set(err, STATUS_UNAVAILABLE, NULL, "the connection to %s broke: %s",
				 client->endpoint, curl_easy_strerror(code));
	if (http_status / 100 != 2 && !(state->response && http_status == HTTP_RESUME_INCOMPLETE))
		return http_failure(state, http_status, err);
	if (code != CURLE_OK)
		return error_set(err, STATUS_UNAVAILABLE, NULL, "the connection to %s broke: %s",
				 client->endpoint, curl_easy_strerror(code));
	if (!ret_answer)
		return STATUS_OK;
	answer = state->answer.length ? json_parse_foreign(state->answer.data, state->answer.length, 0, NULL)
				      : json_null();
	if (!answer)
		return error_set(err, STATUS_INTERNAL, NULL,
				 "the server at %s is not trainyard: its answer is not JSON",
				 client->endpoint);
	*ret_answer = TAKE(answer);
	return STATUS_OK;
}

/* Stores the headers that struct client_response has a member for. */
static size_t header_take(char *data, size_t size, size_t count, void *arg)
{
	struct client_response *response = arg;
	const struct {
		const char *name;
		char **place;
	} wanted[] = { { "Location:", &response->location }, { "Range:", &response->range } };

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		const size_t length = strlen(wanted[i].name);

		if (size * count > length && strncasecmp(data, wanted[i].name, length) == 0) {
			struct text value AUTO_TEXT = { 0 };

			text_append(&value, data + length, size * count - length);
			free(*wanted[i].place);
			*wanted[i].place =
				memory_strndup(value.data + strspn(value.data, " "),
					       strcspn(value.data + strspn(value.data, " "), "\r\n"));
		}
	}
	return size * count;
}

static enum status exchange(struct exchange_state *state, const char *method, const char *path,
			    json_t **ret_answer, struct error *err)
{
	struct client *client = state->client;
	struct text url AUTO_TEXT = { 0 };
	CURLcode code;
	enum status rc;

	/* Send nothing if no daemon runs on the state directory: another daemon may serve the default address, and
	 * another program may have the port of a daemon that was killed. They must not get the request. */
	if (client->absent_dir) {
		client->unreached = true;
		if (client->is_named)
			return error_set(err, STATUS_UNAVAILABLE, NULL,
					 "no daemon runs on %s: start one with \"trainyard start --state-dir %s\"",
					 client->absent_dir, client->absent_dir);
		return error_set(err, STATUS_UNAVAILABLE, NULL,
				 "no daemon runs on %s: start one with \"trainyard start\", or give --endpoint",
				 client->absent_dir);
	}
	text_printf(&url, "%s%s", client->socket ? "http://localhost" : client->endpoint, path);
	curl_easy_setopt(client->curl, CURLOPT_URL, url.data);
	curl_easy_setopt(client->curl, CURLOPT_UNIX_SOCKET_PATH, client->socket);
	curl_easy_setopt(client->curl, CURLOPT_CUSTOMREQUEST, method);
	curl_easy_setopt(client->curl, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
	curl_easy_setopt(client->curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(client->curl, CURLOPT_USERAGENT, "trainyard/" PACKAGE_VERSION);
	curl_easy_setopt(client->curl, CURLOPT_NOPROXY, "*"); /* a proxy cannot reach a daemon on this machine */
	curl_easy_setopt(client->curl, CURLOPT_WRITEFUNCTION, answer_take);
	curl_easy_setopt(client->curl, CURLOPT_WRITEDATA, state);
	code = curl_easy_perform(client->curl);
	rc = exchange_end(state, code, ret_answer, err);
	curl_easy_reset(client->curl); /* keeps the connection */
	text_deinit(&state->answer);
	return rc;
}

static enum status call_once(struct client *client, const char *method, const char *path, const char *body,
			     json_t **ret_answer, struct error *err)
{
	struct exchange_state state = { .client = client };

	curl_easy_setopt(client->curl, CURLOPT_HTTPHEADER, client->headers);
	curl_easy_setopt(client->curl, CURLOPT_TIMEOUT_MS, client->limit_ms);
	if (body) {
		curl_easy_setopt(client->curl, CURLOPT_POSTFIELDS, body);
		curl_easy_setopt(client->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(body));
	}
	return exchange(&state, method, path, ret_answer, err);
}

/* Returns true if the daemon is away and the call may be repeated. A daemon that is stopping answers 503 or closes the
 * connection. */
static bool is_away(const struct client *client, const char *method, enum status rc)
{
	return rc == STATUS_UNAVAILABLE && client->has_answered && client->away_us > 0 &&
	       strcmp(method, "GET") == 0;
}

void client_show_away(struct client *client, int64_t end_us)
{
	const long long left_s = (end_us - clock_mono_us(&system_clock) + 999999) / 1000000;

	if (terminal_width(stderr))
		progress_show("%s does not answer: waiting %lld s more for it to come back", client->endpoint,
			      left_s);
	else if (!client->away_reported)
		fprintf(stderr, "trainyard: %s does not answer: waiting %lld s for it to come back\n",
			client->endpoint, left_s);
	client->away_reported = true;
}

enum status client_call(struct client *client, const char *method, const char *path, const json_t *body,
			json_t **ret_answer, struct error *err)
{
	AUTO(string) char *text = body ? json_dumps(body, JSON_COMPACT) : NULL;
	const int64_t end_us = clock_mono_us(&system_clock) + client->away_us;
	enum status rc = call_once(client, method, path, text, ret_answer, err);
	const bool was_away = is_away(client, method, rc);

	while (is_away(client, method, rc) && clock_mono_us(&system_clock) < end_us) {
		client_show_away(client, end_us);
		poll(NULL, 0, AWAY_PAUSE_MS);
		rc = call_once(client, method, path, text, ret_answer, err);
	}
	if (was_away)
		progress_clear();
	client->has_answered |= !rc;
	client->away_reported &= rc != STATUS_OK;
	return rc;
}

enum status client_read(struct client *client, const char *path,
			bool (*take)(void *arg, const char *data, size_t length), void *arg,
			struct error *err)
{
	return client_follow(client, path, &(struct client_following){ .take = take, .arg = arg }, err);
}

/* Calls @tick. libcurl calls this about once a second while no data arrives, and more often otherwise. */
static int tick_give(void *arg, curl_off_t total, curl_off_t now, curl_off_t sent_total, curl_off_t sent)
{
	struct exchange_state *state = arg;

	(void)total, (void)now, (void)sent_total, (void)sent;
	state->ended |= !state->tick(state->arg);
	return state->ended;
}

enum status client_follow(struct client *client, const char *path, const struct client_following *following,
			  struct error *err)
{
	struct exchange_state state = {
		.client = client, .take = following->take, .tick = following->tick, .arg = following->arg
	};

	curl_easy_setopt(client->curl, CURLOPT_HTTPHEADER, client->headers);
	if (following->limit_us > 0)
		curl_easy_setopt(client->curl, CURLOPT_TIMEOUT_MS, limit_ms_of(following->limit_us));
	if (following->tick) {
		curl_easy_setopt(client->curl, CURLOPT_NOPROGRESS, 0L);
		curl_easy_setopt(client->curl, CURLOPT_XFERINFOFUNCTION, tick_give);
		curl_easy_setopt(client->curl, CURLOPT_XFERINFODATA, &state);
	}
	return exchange(&state, "GET", path, NULL, err);
}

void client_response_deinit(struct client_response *response)
{
	free(response->location);
	free(response->range);
	json_decref(response->json);
	*response = (struct client_response){ 0 };
}

static size_t body_give(char *buffer, size_t size, size_t count, void *arg)
{
	const struct client_request *request = arg;
	const ssize_t length = request->give(request->give_arg, buffer, size * count);

	return length < 0 ? CURL_READFUNC_ABORT : (size_t)length;
}

enum status client_send(struct client *client, const struct client_request *request,
			struct client_response *ret_response, struct error *err)
{
	struct exchange_state state = {
		.client = client, .take = request->take, .arg = request->arg, .response = ret_response
	};
	struct curl_slist *headers = NULL;
	enum status rc;

	*ret_response = (struct client_response){ 0 };
	if (client->authorization)
		headers = curl_slist_append(headers, client->authorization);
	for (const char *const *header = request->headers; header && *header; header++)
		headers = curl_slist_append(headers, *header);
	/* A body of unknown length may be large: curl sends it only once the daemon has agreed to take it. A refusal in
	 * the middle of the body would be lost with the connection. */
	headers = curl_slist_append(headers, request->give ? "Expect: 100-continue" : "Expect:");
	curl_easy_setopt(client->curl, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(client->curl, CURLOPT_LOW_SPEED_LIMIT, request->quiet ? 0L : 1L);
	curl_easy_setopt(client->curl, CURLOPT_LOW_SPEED_TIME, (long)STILL_S);
	curl_easy_setopt(client->curl, CURLOPT_HEADERFUNCTION, header_take);
	curl_easy_setopt(client->curl, CURLOPT_HEADERDATA, ret_response);
	if (request->body) {
		curl_easy_setopt(client->curl, CURLOPT_POSTFIELDS, request->body);
		curl_easy_setopt(client->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body_bytes);
	}
	if (request->give) {
		curl_easy_setopt(client->curl, CURLOPT_EXPECT_100_TIMEOUT_MS, (long)CONTINUE_MS);
		curl_easy_setopt(client->curl, CURLOPT_UPLOAD, 1L);
		curl_easy_setopt(client->curl, CURLOPT_READFUNCTION, body_give);
		curl_easy_setopt(client->curl, CURLOPT_READDATA, (void *)(uintptr_t)request);
	}
	rc = exchange(&state, request->method, request->path, request->take ? NULL : &ret_response->json,
		      err);
	curl_slist_free_all(headers);
	if (rc)
		client_response_deinit(ret_response);
	return rc;
}
