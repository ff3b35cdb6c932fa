/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/engine/docker_archive.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "daemon/base/archive.h"
#include "scheduler/engine/docker_http.h"
#include "scheduler/engine/docker_json.h"

enum { NAME_BYTES = 100, TIMEOUT_S = 60, QUERY_SIZE = 4096 };

void archive_add(struct text *archive, const struct engine_file *file)
{
	archive_entry_add(archive, &(struct archive_entry){ .name = file->path + 1,
							    .type = S_ISDIR(file->mode) ? '5' : '0',
							    .mode = file->mode,
							    .size = (int64_t)file->size });
	text_append(archive, file->data, file->size);
	archive_padding_add(archive, (int64_t)file->size);
}

/* ---- calls ---- */

struct call {
	struct archive archive;
	bool over;
	enum status status;
	char text[DOCKER_TEXT_SIZE];
};

static enum http_outcome call_data(void *arg, const char *data, size_t length)
{
	struct call *call = arg;

	return archive_take(&call->archive, data, length) ? HTTP_TAKEN : HTTP_BREAK;
}

static void call_done(void *arg, const struct http_answer *answer)
{
	struct call *call = arg;

	call->over = true;
	/* An invalid archive comes first: it made this call end the exchange, so the exchange's own status is only a
	 * result of it. */
	if (call->archive.status || (!answer->status && answer->code < 300 && !archive_end(&call->archive))) {
		call->status = call->archive.status;
		snprintf(call->text, sizeof(call->text), "the engine sends %s", call->archive.problem);
	} else if (answer->status) {
		call->status = answer->status;
		snprintf(call->text, sizeof(call->text), "%s", answer->problem);
	} else if (answer->code >= 300) {
		call->status = docker_code_status(answer->code);
		docker_message(answer->body, answer->body_length, call->text);
	}
}

static enum status call_run(const struct archive_target *place, const char *path, struct http_request request,
			    struct call *call, struct error *err)
{
	char encoded[QUERY_SIZE], whole[QUERY_SIZE + DOCKER_PATH_SIZE];
	AUTO(http) struct http *http = NULL;
	enum status rc = http_new(place->endpoint, &http, err);

	if (rc)
		return rc;
	docker_query_encode(path, encoded, sizeof(encoded));
	snprintf(whole, sizeof(whole), "/containers/%s/archive?path=%s", place->container, encoded);
	http_set_version(http, place->api_version);
	request.path = whole;
	request.timeout_s = TIMEOUT_S;
	request.done = call_done;
	request.arg = call;
	http_start(http, &request);
	for (http_move(http); !call->over; http_move(http))
		http_wait(http, TIMEOUT_S * 1000);
	return call->status ? error_set(err, call->status, NULL, "%s", call->text) : STATUS_OK;
}

enum status docker_put_files(const struct archive_target *place, const struct engine_file *files,
			     size_t count, struct error *err)
{
	struct text archive AUTO_TEXT = { 0 };
	struct call call = { 0 };
	size_t bytes = 0;

	for (size_t i = 0; i < count; i++) {
		if (files[i].path[0] != '/' || !files[i].path[1] || strlen(files[i].path + 1) > NAME_BYTES)
			return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "%s: a path has 1 to %d bytes",
					 files[i].path, NAME_BYTES);
		if (files[i].size > ENGINE_FILES_MAX - bytes)
			return error_set(err, STATUS_RESOURCE_EXHAUSTED, NULL,
					 "the files have more than %d bytes", ENGINE_FILES_MAX);
		bytes += files[i].size;
		archive_add(&archive, &files[i]);
	}
	archive_finish(&archive);
	return call_run(place, "/",
			(struct http_request){ .method = "PUT",
					       .body = archive.data,
					       .body_bytes = archive.length,
					       .body_header = "Content-Type: application/x-tar" },
			&call, err);
}

enum status docker_get_files(const struct archive_target *place, const char *path, size_t bytes_max,
			     const struct file_sink *sink, struct error *err)
{
	struct call call = { .archive = { .sink = sink, .bytes_left = bytes_max } };

	return call_run(place, path, (struct http_request){ .method = "GET", .data = call_data }, &call, err);
}
