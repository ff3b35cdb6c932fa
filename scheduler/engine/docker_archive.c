/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/engine/docker_archive.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scheduler/engine/docker_http.h"
#include "scheduler/engine/docker_json.h"

enum { BLOCK_BYTES = 512, NAME_BYTES = 100, ATTRIBUTES_MAX = 8192, TIMEOUT_S = 60, QUERY_SIZE = 4096 };

/* ---- writing ---- */

void archive_write(struct text *archive, const struct engine_file *files, size_t count)
{
	static const char zeros[2 * BLOCK_BYTES];

	for (const struct engine_file *file = files; file < files + count; file++) {
		char head[BLOCK_BYTES] = { 0 };
		unsigned sum = 0;

		memcpy(head, file->path + 1, strnlen(file->path + 1, NAME_BYTES));
		snprintf(head + 100, 8, "%07o", file->mode & 07777);
		memcpy(head + 108, "0000000", 8);
		memcpy(head + 116, "0000000", 8);
		snprintf(head + 124, 12, "%011zo", file->size);
		memcpy(head + 136, "00000000000", 12);
		memset(head + 148, ' ', 8);
		head[156] = '0';
		memcpy(head + 257, "ustar\00000", 8);
		for (size_t i = 0; i < BLOCK_BYTES; i++)
			sum += (unsigned char)head[i];
		snprintf(head + 148, 8, "%06o", sum & 0777777);
		text_append(archive, head, BLOCK_BYTES);
		text_append(archive, file->data, file->size);
		text_append(archive, zeros, -file->size % BLOCK_BYTES);
	}
	text_append(archive, zeros, sizeof(zeros));
}

/* ---- reading ---- */

/* A header, then the data that it tells of, in whole blocks. */
struct reading {
	const struct file_sink *sink;
	size_t bytes_left; /* of what may be taken */
	const char *problem;
	char head[BLOCK_BYTES], attributes[ATTRIBUTES_MAX + 1], name[QUERY_SIZE];
	size_t head_length, attributes_length;
	size_t data_left, padding_left;
	char type; /* of the data */
};

/* The path among extended attributes, "27 path=some/long/name\n". */
static void attributes_read(struct reading *reading)
{
	const char *at = reading->attributes, *end = at + reading->attributes_length;

	while (at < end) {
		char *word;
		const unsigned long length = strtoul(at, &word, 10);

		if (length < 2 || length > (size_t)(end - at) || *word != ' ') {
			reading->problem = "attributes that cannot be understood";
			return;
		}
		if (strncmp(word, " path=", 6) == 0)
			snprintf(reading->name, sizeof(reading->name), "%.*s",
				 (int)(at + length - 1 - word - 6), word + 6);
		at += length;
	}
}

static void head_read(struct reading *reading)
{
	const char *head = reading->head;
	char size[13] = "", *end;

	if (!*head) /* the end */
		return;
	memcpy(size, head + 124, 12);
	reading->type = head[156] ? head[156] : '0';
	reading->data_left = strtoul(size, &end, 8);
	reading->padding_left = -reading->data_left % BLOCK_BYTES;
	if (end == size || memcmp(head + 257, "ustar", 5) != 0)
		reading->problem = "an archive that cannot be understood";
	else if (reading->type == 'x' && reading->data_left > ATTRIBUTES_MAX)
		reading->problem = "attributes that are too long";
	else if (reading->type == '0' && reading->data_left > reading->bytes_left)
		reading->problem = "more than may be taken";
	if (reading->problem || reading->type != '0') {
		reading->attributes_length = 0;
		if (reading->type != 'x')
			reading->name[0] = '\0';
		return;
	}
	reading->bytes_left -= reading->data_left;
	if (!reading->name[0])
		snprintf(reading->name, sizeof(reading->name), "%.155s%s%.100s", head + 345,
			 head[345] ? "/" : "", head);
	reading->sink->begun(reading->sink->arg, reading->name, reading->data_left);
	reading->name[0] = '\0';
}

static size_t data_take(struct reading *reading, const char *data, size_t length)
{
	const size_t taken = length < reading->data_left ? length : reading->data_left;

	if (reading->type == '0') {
		reading->sink->piece(reading->sink->arg, data, taken);
	} else if (reading->type == 'x') {
		memcpy(reading->attributes + reading->attributes_length, data, taken);
		reading->attributes_length += taken;
	}
	reading->data_left -= taken;
	if (!reading->data_left && reading->type == 'x') {
		reading->attributes[reading->attributes_length] = '\0';
		attributes_read(reading);
	}
	return taken;
}

static bool archive_take(struct reading *reading, const char *data, size_t length)
{
	while (length && !reading->problem) {
		size_t taken;

		if (reading->data_left) {
			taken = data_take(reading, data, length);
		} else if (reading->padding_left) {
			taken = length < reading->padding_left ? length : reading->padding_left;
			reading->padding_left -= taken;
		} else {
			taken = BLOCK_BYTES - reading->head_length;
			taken = length < taken ? length : taken;
			memcpy(reading->head + reading->head_length, data, taken);
			reading->head_length = (reading->head_length + taken) % BLOCK_BYTES;
			if (!reading->head_length)
				head_read(reading);
		}
		data += taken;
		length -= taken;
	}
	return !reading->problem;
}

/* ---- calls ---- */

struct call {
	struct reading reading;
	bool over;
	enum status status;
	char text[DOCKER_TEXT_SIZE];
};

static enum http_verdict call_data(void *arg, const char *data, size_t length)
{
	struct call *call = arg;

	return archive_take(&call->reading, data, length) ? HTTP_TAKEN : HTTP_BREAK;
}

static void call_done(void *arg, const struct http_answer *answer)
{
	struct call *call = arg;

	call->over = true;
	if (call->reading.problem) {
		call->status = STATUS_RESOURCE_EXHAUSTED;
		snprintf(call->text, sizeof(call->text), "the engine sends %s", call->reading.problem);
	} else if (answer->status) {
		call->status = answer->status;
		snprintf(call->text, sizeof(call->text), "%s", answer->problem);
	} else if (answer->code >= 300) {
		call->status = docker_code_status(answer->code);
		docker_message(answer->body, answer->body_length, call->text);
	}
}

static enum status call_run(const struct archive_place *place, const char *path, struct http_request request,
			    struct call *call, struct error *err)
{
	char encoded[QUERY_SIZE], whole[QUERY_SIZE + DOCKER_PATH_SIZE];
	AUTO(http) struct http *http = NULL;
	enum status rc = http_new(place->socket_path, &http, err);

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

enum status docker_put_files(const struct archive_place *place, const struct engine_file *files, size_t count,
			     struct error *err)
{
	struct text archive AUTO_TEXT = { 0 };
	struct call call = { 0 };
	size_t bytes = 0;

	for (size_t i = 0; i < count; i++) {
		if (files[i].path[0] != '/' || !files[i].path[1] || strlen(files[i].path + 1) > NAME_BYTES)
			return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
					 "%s: a path of 1 to %d bytes is wanted", files[i].path, NAME_BYTES);
		if (files[i].size > ENGINE_FILES_MAX - bytes)
			return error_set(err, STATUS_RESOURCE_EXHAUSTED, NULL,
					 "the files have more than %d bytes", ENGINE_FILES_MAX);
		bytes += files[i].size;
	}
	archive_write(&archive, files, count);
	return call_run(place, "/",
			(struct http_request){ .method = "PUT",
					       .body = archive.data,
					       .body_bytes = archive.length,
					       .body_header = "Content-Type: application/x-tar" },
			&call, err);
}

enum status docker_get_files(const struct archive_place *place, const char *path, size_t bytes_max,
			     const struct file_sink *sink, struct error *err)
{
	struct call call = { .reading = { .sink = sink, .bytes_left = bytes_max } };

	return call_run(place, path, (struct http_request){ .method = "GET", .data = call_data }, &call, err);
}
