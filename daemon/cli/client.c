/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/client.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "daemon/base/text.h"
#include "daemon/config.h"
#include "daemon/env.h"

/* A page of 1,000 jobs has some megabytes; answers that are read whole end here. */
enum { ANSWER_BYTES_MAX = 256 << 20, CONNECT_MS = 5000, TOKEN_BYTES_MAX = 4096 };

struct client {
	CURL *curl;
	struct curl_slist *headers; /* Authorization, if there is a token */
	char *endpoint;             /* as the user knows it */
	char *socket;               /* of "unix:/PATH"; NULL: by TCP */
	bool unreached;
};

/* One request on its way. */
struct exchange_state {
	struct client *client;
	struct text answer; /* of a failure, or of all where there is no @take */
	bool overflow;
	bool (*take)(void *arg, const char *data, size_t length);
	void *arg;
	bool ended; /* @take wants no more */
};

/* ---- where the daemon is ---- */

static char *default_state_dir(void)
{
	struct config config AUTO_CONFIG = { 0 };
	static const char *const none[] = { NULL };

	if (config_read(&config, CONFIG_ENV, none, NULL))
		return NULL;
	return TAKE(config.state_dir);
}

/* Where this client goes, and whose token it has: see client_open(). The caller frees both. */
static void daemon_find(const char *endpoint, const char *token_file, char **ret_endpoint,
			char **ret_token_file)
{
	const char *own_endpoint = getenv("TRAINYARD_ENDPOINT"), *own_token = getenv("TRAINYARD_TOKEN_FILE");
	AUTO(string) char *state_dir = NULL;

	if (!endpoint && own_endpoint && *own_endpoint)
		endpoint = own_endpoint;
	if (!token_file && own_token && *own_token)
		token_file = own_token;
	*ret_endpoint = memory_strdup(endpoint);
	*ret_token_file = memory_strdup(token_file);
	state_dir = endpoint ? NULL : default_state_dir();
	if (state_dir)
		*ret_endpoint = env_address_read(state_dir);
	if (*ret_endpoint && state_dir && !*ret_token_file)
		*ret_token_file = env_token_file_read(state_dir);
	if (!*ret_endpoint)
		*ret_endpoint = memory_strdup("http://127.0.0.1:8090");
}

static enum status token_read(const char *path, struct curl_slist **headers, struct error *err)
{
	char token[TOKEN_BYTES_MAX];
	struct text header AUTO_TEXT = { 0 };
	FILE *file = fopen(path, "re");
	const bool read = file && fgets(token, sizeof(token), file);

	if (file)
		fclose(file);
	if (!read)
		return error_set(err, STATUS_FAILED_PRECONDITION, NULL, "the token in %s cannot be read: %s",
				 path, file ? "it is empty" : strerror(errno));
	token[strcspn(token, "\r\n")] = '\0';
	text_printf(&header, "Authorization: Bearer %s", token);
	*headers = curl_slist_append(*headers, header.data);
	return STATUS_OK;
}

enum status client_open(const char *endpoint, const char *token_file, struct client **ret_client,
			struct error *err)
{
	AUTO(client) struct client *client = memory_calloc(1, sizeof(*client));
	AUTO(string) char *path = NULL;
	enum status rc = STATUS_OK;

	daemon_find(endpoint, token_file, &client->endpoint, &path);
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
	if (path)
		rc = token_read(path, &client->headers, err);
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
	free(client->endpoint);
	free(client->socket);
	free(client);
}

const char *client_endpoint(const struct client *client)
{
	return client->endpoint;
}

bool client_is_unreached(const struct client *client)
{
	return client->unreached;
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
	enum status rc = http_status == 404 ? STATUS_NOT_FOUND : STATUS_INTERNAL;

	for (int status = STATUS_OK + 1; name && status <= STATUS_UNAUTHENTICATED; status++)
		if (strcmp(status_name((enum status)status), name) == 0)
			rc = (enum status)status;
	if (message)
		return error_set(err, rc, NULL, "%s", message);
	return error_set(err, rc, NULL, "%s answers with HTTP status %ld", state->client->endpoint,
			 http_status);
}

static enum status exchange_end(struct exchange_state *state, CURLcode code, json_t **ret_answer,
				struct error *err)
{
	struct client *client = state->client;
	long http_status = 0;
	AUTO(json) json_t *answer = NULL;

	curl_easy_getinfo(client->curl, CURLINFO_RESPONSE_CODE, &http_status);
	client->unreached = code != CURLE_OK && http_status == 0;
	if (client->unreached)
		return error_set(
			err, STATUS_UNAVAILABLE, NULL,
			"no daemon answers at %s (%s): start one with \"trainyard start\", or give --endpoint",
			client->endpoint, curl_easy_strerror(code));
	if (state->overflow)
		return error_set(err, STATUS_INTERNAL, NULL, "the answer of %s is too long",
				 client->endpoint);
	if (http_status / 100 != 2)
		return http_failure(state, http_status, err);
	if (code != CURLE_OK && !state->ended)
		return error_set(err, STATUS_UNAVAILABLE, NULL, "the connection to %s broke: %s",
				 client->endpoint, curl_easy_strerror(code));
	if (!ret_answer)
		return STATUS_OK;
	answer = state->answer.length ? json_parse_foreign(state->answer.data, state->answer.length, 0, NULL)
				      : json_null();
	if (!answer)
		return error_set(err, STATUS_INTERNAL, NULL,
				 "what answers at %s is no trainyard: its answer is no JSON",
				 client->endpoint);
	*ret_answer = TAKE(answer);
	return STATUS_OK;
}

static enum status exchange(struct exchange_state *state, const char *method, const char *path,
			    json_t **ret_answer, struct error *err)
{
	struct client *client = state->client;
	struct text url AUTO_TEXT = { 0 };
	CURLcode code;
	enum status rc;

	text_printf(&url, "%s%s", client->socket ? "http://localhost" : client->endpoint, path);
	curl_easy_setopt(client->curl, CURLOPT_URL, url.data);
	curl_easy_setopt(client->curl, CURLOPT_UNIX_SOCKET_PATH, client->socket);
	curl_easy_setopt(client->curl, CURLOPT_CUSTOMREQUEST, method);
	curl_easy_setopt(client->curl, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
	curl_easy_setopt(client->curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(client->curl, CURLOPT_NOPROXY, "*"); /* a proxy knows no daemon of this machine */
	curl_easy_setopt(client->curl, CURLOPT_WRITEFUNCTION, answer_take);
	curl_easy_setopt(client->curl, CURLOPT_WRITEDATA, state);
	code = curl_easy_perform(client->curl);
	rc = exchange_end(state, code, ret_answer, err);
	curl_easy_reset(client->curl); /* keeps the connection */
	text_deinit(&state->answer);
	return rc;
}

enum status client_call(struct client *client, const char *method, const char *path, const json_t *body,
			json_t **ret_answer, struct error *err)
{
	struct exchange_state state = { .client = client };
	AUTO(string) char *text = body ? json_dumps(body, JSON_COMPACT) : NULL;

	curl_easy_setopt(client->curl, CURLOPT_HTTPHEADER, client->headers);
	if (text) {
		curl_easy_setopt(client->curl, CURLOPT_POSTFIELDS, text);
		curl_easy_setopt(client->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(text));
	}
	return exchange(&state, method, path, ret_answer, err);
}

enum status client_read(struct client *client, const char *path,
			bool (*take)(void *arg, const char *data, size_t length), void *arg,
			struct error *err)
{
	struct exchange_state state = { .client = client, .take = take, .arg = arg };

	curl_easy_setopt(client->curl, CURLOPT_HTTPHEADER, client->headers);
	return exchange(&state, "GET", path, NULL, err);
}
