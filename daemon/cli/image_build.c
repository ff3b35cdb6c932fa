/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/image_build.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "daemon/base/text.h"
#include "daemon/cli/pack.h"
#include "daemon/cli/terminal.h"
#include "scheduler/engine/docker_endpoint.h"
#include "scheduler/engine/docker_host.h"
#include "scheduler/engine/docker_route.h"
#include "store/objects/glob.h"

enum { LINE_BYTES_MAX = 1 << 20, LAST_LINES = 20, STEP_WIDTH = 100, CONNECT_MS = 5000, ENGINE_ID_SIZE = 256 };

/* ---- .dockerignore ---- */

/* The patterns of .dockerignore. The last pattern that matches a path, or a directory above the path, decides.
 * Source: https://docs.docker.com/build/concepts/context/#dockerignore-files */
struct ignoring {
	struct ignored {
		struct glob *glob;
		bool kept; /* the line began with '!' */
	} * patterns;
	size_t count;
	bool keeps; /* some pattern begins with '!' */
};

static void ignoring_deinit(struct ignoring *ignoring)
{
	for (size_t i = 0; i < ignoring->count; i++)
		glob_free(ignoring->patterns[i].glob);
	free(ignoring->patterns);
}

static enum status pattern_add(struct ignoring *ignoring, char *line, struct error *err)
{
	const bool kept = *line == '!';
	char *pattern = line + kept;
	enum status rc;
	size_t length;

	while (strncmp(pattern, "./", 2) == 0)
		pattern += 2;
	pattern += strspn(pattern, "/");
	length = strlen(pattern);
	while (length && strchr("/ \t\r\n", pattern[length - 1]))
		pattern[--length] = '\0';
	if (!length || *line == '#')
		return STATUS_OK;
	ignoring->patterns =
		memory_resize(ignoring->patterns, ignoring->count + 1, sizeof(*ignoring->patterns));
	ignoring->keeps |= kept;
	ignoring->patterns[ignoring->count].kept = kept;
	rc = glob_new(pattern, &ignoring->patterns[ignoring->count].glob, err);
	ignoring->count += !rc;
	return rc;
}

static enum status ignoring_read(struct ignoring *ignoring, const char *directory, struct error *err)
{
	AUTO(string) char *path = memory_printf("%s/.dockerignore", directory);
	struct error cause AUTO_ERROR = { 0 };
	enum status rc = STATUS_OK;
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t size = 0;

	if (!file && errno == ENOENT)
		return STATUS_OK;
	if (!file)
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "%s: %s", path, strerror(errno));
	while (!rc && getline(&line, &size, file) > 0)
		rc = pattern_add(ignoring, line + strspn(line, " \t"), &cause);
	free(line);
	fclose(file);
	return rc ? error_set(err, STATUS_INVALID_ARGUMENT, NULL, "%s: %s", path, cause.text) : STATUS_OK;
}

/* Returns true if the pattern matches a path or a directory above the path. */
static bool fits(const struct glob *glob, const char *path)
{
	for (size_t length = strcspn(path, "/");; length += 1 + strcspn(path + length + 1, "/")) {
		if (glob_match(glob, path, length))
			return true;
		if (!path[length])
			return false;
	}
}

static bool leaves_out(void *arg, const char *path, bool is_directory)
{
	const struct ignoring *ignoring = arg;
	bool out = false;

	/* The builder always needs these two files. */
	if (strcmp(path, "Dockerfile") == 0 || strcmp(path, ".dockerignore") == 0)
		return false;
	for (size_t i = 0; i < ignoring->count; i++)
		if (fits(ignoring->patterns[i].glob, path))
			out = !ignoring->patterns[i].kept;
	return out && !(is_directory && ignoring->keeps);
}

static enum status context_pack(const char *directory, struct pack *pack, struct error *err)
{
	__attribute__((cleanup(ignoring_deinit))) struct ignoring ignoring = { 0 };
	AUTO(string) char *file = memory_printf("%s/Dockerfile", directory);
	enum status rc;

	if (access(file, R_OK) != 0)
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "--image-build: %s: %s", file,
				 strerror(errno));
	rc = ignoring_read(&ignoring, directory, err);
	return rc ? rc : pack_directory(pack, directory, "", leaves_out, &ignoring, err);
}

/* ---- the engine's progress ----  */

struct building {
	const char *tag;
	struct text line; /* the beginning of an incomplete line of the answer */
	char *last[LAST_LINES];
	size_t said;   /* number of lines of output */
	char *failure; /* NULL: none was reported */
	int fd;
};

static void building_deinit(struct building *building)
{
	text_deinit(&building->line);
	for (size_t i = 0; i < LAST_LINES; i++)
		free(building->last[i]);
	free(building->failure);
}

/* Handles a piece of the builder's output: keeps the last lines, and shows the current step. */
static void said_take(struct building *building, const char *said)
{
	for (const char *line = said; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		struct text reported AUTO_TEXT = { 0 };
		AUTO(string) char *alone = memory_strndup(line, strcspn(line, "\n"));
		char **slot = &building->last[building->said % LAST_LINES];

		text_one_line(&reported, alone, 0);
		if (!reported.length)
			continue;
		free(*slot);
		*slot = memory_strdup(reported.data);
		building->said++;
		text_clear(&reported);
		text_one_line(&reported, alone, STEP_WIDTH);
		progress_show("building %s: %s", building->tag, reported.data);
	}
}

static void line_take(struct building *building)
{
	AUTO(json) json_t *value = json_loadb(building->line.data, building->line.length, 0, NULL);
	const char *said = json_text_at(value, "stream"), *failure = json_text_at(value, "error");

	if (!failure)
		failure = json_text_at(value, "message"); /* where the engine says why it refuses a build */
	if (said)
		said_take(building, said);
	if (failure && !building->failure)
		building->failure = memory_strdup(failure);
}

static size_t answer_take(char *data, size_t size, size_t count, void *arg)
{
	struct building *building = arg;
	const size_t length = size * count;

	for (size_t at = 0; at < length; at++) {
		if (data[at] != '\n' && building->line.length < LINE_BYTES_MAX) {
			text_putc(&building->line, data[at]);
			continue;
		}
		if (data[at] != '\n')
			continue; /* drops the rest of a line that is too long: it is then not JSON, and ignored */
		line_take(building);
		text_clear(&building->line);
	}
	return length;
}

static size_t context_give(char *data, size_t size, size_t count, void *arg)
{
	const struct building *building = arg;
	const ssize_t got = read(building->fd, data, size * count);

	return got < 0 ? CURL_READFUNC_ABORT : (size_t)got;
}

static size_t info_take(char *data, size_t size, size_t count, void *arg)
{
	struct text *info = arg;

	if (info->length + size * count > LINE_BYTES_MAX)
		return 0;
	text_append(info, data, size * count);
	return size * count;
}

/* Returns false if @curl's engine reports another id than @engine_id; true also if it reports none. */
static bool engine_is(CURL *curl, const struct endpoint *endpoint, const char *engine_id)
{
	struct text url AUTO_TEXT = { 0 }, answer AUTO_TEXT = { 0 };
	AUTO(json) json_t *info = NULL;
	char id[ENGINE_ID_SIZE];

	text_printf(&url, "%s/info", endpoint_base(endpoint));
	curl_easy_setopt(curl, CURLOPT_URL, url.data);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, info_take);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, &answer);
	curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	if (curl_easy_perform(curl) == CURLE_OK)
		info = json_parse_foreign(answer.data ? answer.data : "", answer.length, 0, NULL);
	docker_engine_id(info, id, sizeof(id));
	return !id[0] || strcmp(id, engine_id) == 0; /* true without an id: if the engine does not answer, the build
	                                              * reports the problem */
}

static CURLcode build_send(CURL *curl, const struct endpoint *endpoint, struct building *building,
			   int64_t bytes, long *ret_code)
{
	struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/x-tar");
	struct text url AUTO_TEXT = { 0 };
	CURLcode code;

	text_printf(&url, "%s/build?rm=1&forcerm=1&t=", endpoint_base(endpoint));
	text_percent(&url, building->tag, URL_UNRESERVED);
	curl_easy_setopt(curl, CURLOPT_URL, url.data);
	curl_easy_setopt(curl, CURLOPT_POST, 1L);
	curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)bytes);
	curl_easy_setopt(curl, CURLOPT_READFUNCTION, context_give);
	curl_easy_setopt(curl, CURLOPT_READDATA, building);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, answer_take);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, building);
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	code = curl_easy_perform(curl);
	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, ret_code);
	curl_slist_free_all(headers);
	return code;
}

static enum status request_send(const char *engine, const char *engine_id, struct building *building,
				int64_t bytes, long *ret_code, struct error *err)
{
	AUTO(endpoint) struct endpoint *endpoint = NULL;
	char problem[ENDPOINT_PROBLEM_SIZE] = "";
	CURLcode code = CURLE_FAILED_INIT;
	bool another = false;
	CURL *curl;
	enum status rc = route_endpoint_open(engine, &endpoint, err);

	if (rc)
		return rc;
	curl = curl_easy_init();
	if (curl && endpoint_configure(endpoint, curl)) {
		another = engine_id && !engine_is(curl, endpoint, engine_id);
		if (!another)
			code = build_send(curl, endpoint, building, bytes, ret_code);
	}
	endpoint_problem(endpoint, problem);
	curl_easy_cleanup(curl);
	if (another)
		return error_set(
			err, STATUS_FAILED_PRECONDITION, NULL,
			"the image would be built in the engine at %s, but the daemon runs jobs in another one: "
			"name the daemon's engine with TRAINYARD_ENGINE or DOCKER_HOST",
			endpoint_name(endpoint));
	/* An engine that refuses the build may close the connection before it has read the whole archive. */
	return code == CURLE_OK || *ret_code >= 400
		       ? STATUS_OK
		       : error_set(err, STATUS_UNAVAILABLE, NULL, "the engine at %s: %s",
				   endpoint_name(endpoint), problem[0] ? problem : curl_easy_strerror(code));
}

static enum status failure_report(const struct building *building, long code, struct error *err)
{
	const size_t first = building->said > LAST_LINES ? building->said - LAST_LINES : 0;
	struct text reported AUTO_TEXT = { 0 }, reason AUTO_TEXT = { 0 };

	text_one_line(&reason, building->failure ? building->failure : "the engine gave no reason", 0);
	text_printf(&reported, "the image %s could not be built: %s", building->tag, reason.data);
	if (!building->failure)
		text_printf(&reported, " (HTTP %ld)", code);
	for (size_t i = first; i < building->said; i++)
		text_printf(&reported, "\n    %s", building->last[i % LAST_LINES]);
	return error_set(err, STATUS_FAILED_PRECONDITION, NULL, "%s", reported.data);
}

enum status image_build(const char *engine, const char *engine_id, const char *directory, const char *tag,
			struct error *err)
{
	__attribute__((cleanup(building_deinit))) struct building building = { .tag = tag };
	AUTO(pack) struct pack *pack = NULL;
	int64_t bytes;
	long code = 0;
	enum status rc = pack_open(false, &pack, err);

	if (!rc)
		rc = context_pack(directory, pack, err);
	if (!rc)
		rc = pack_finish(pack, &building.fd, &bytes, err);
	if (!rc)
		rc = request_send(engine, engine_id, &building, bytes, &code, err);
	progress_clear();
	if (rc)
		return rc;
	if (building.line.length)
		line_take(&building); /* an error answer may end without a line end */
	return building.failure || code >= 300 ? failure_report(&building, code, err) : STATUS_OK;
}
