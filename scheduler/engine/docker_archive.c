/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/engine/docker_archive.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "scheduler/engine/docker_http.h"
#include "scheduler/engine/docker_json.h"

enum {
	BLOCK_BYTES = ARCHIVE_BLOCK_BYTES,
	NAME_BYTES = 100,
	PREFIX_BYTES = 155,
	TIMEOUT_S = 60,
	QUERY_SIZE = 4096,
};

static const char too_much[] = "more than may be taken";

/* ---- writing ---- */

/* A name that is too long for its field goes into two, parted at a slash. */
static void name_write(char head[BLOCK_BYTES], const char *name)
{
	const size_t length = strlen(name);
	const char *rest = length > NAME_BYTES ? strchr(name + length - NAME_BYTES - 1, '/') : NULL;

	if (rest)
		memcpy(head + 345, name, strnlen(name, (size_t)(rest - name)));
	memcpy(head, rest ? rest + 1 : name, strnlen(rest ? rest + 1 : name, NAME_BYTES));
}

bool archive_has_room_for(const char *name)
{
	const size_t length = strlen(name);
	const char *rest = length > NAME_BYTES ? strchr(name + length - NAME_BYTES - 1, '/') : name;

	return rest && rest - name <= PREFIX_BYTES;
}

void archive_add(struct text *archive, const struct engine_file *file)
{
	static const char zeros[BLOCK_BYTES];
	char head[BLOCK_BYTES] = { 0 };
	unsigned sum = 0;

	name_write(head, file->path + 1);
	snprintf(head + 100, 8, "%07o", file->mode & 07777);
	memcpy(head + 108, "0000000", 8);
	memcpy(head + 116, "0000000", 8);
	snprintf(head + 124, 12, "%011zo", file->size);
	memcpy(head + 136, "00000000000", 12);
	memset(head + 148, ' ', 8);
	head[156] = S_ISDIR(file->mode) ? '5' : '0';
	memcpy(head + 257, "ustar\00000", 8);
	for (size_t i = 0; i < BLOCK_BYTES; i++)
		sum += (unsigned char)head[i];
	snprintf(head + 148, 8, "%06o", sum & 0777777);
	text_append(archive, head, BLOCK_BYTES);
	text_append(archive, file->data, file->size);
	text_append(archive, zeros, -file->size % BLOCK_BYTES);
}

void archive_finish(struct text *archive)
{
	static const char zeros[2 * BLOCK_BYTES];

	text_append(archive, zeros, sizeof(zeros));
}

/* ---- reading ---- */

/* No file of a directory has another name; what takes the files may make paths of them. */
static bool name_is_inside(const char *name)
{
	for (const char *part = name;; part += strcspn(part, "/") + 1) {
		const size_t length = strcspn(part, "/");

		if (length == 0 || (length == 2 && strncmp(part, "..", 2) == 0))
			return false;
		if (!part[length])
			return true;
	}
}

static void fail(struct archive *archive, enum status status, const char *problem)
{
	archive->status = status;
	archive->problem = problem;
}

/* The path among extended attributes, "27 path=some/long/name\n". A size is among them where the header has no room for
 * it: then the header's is not that of the data. */
static void attributes_read(struct archive *archive)
{
	const char *at = archive->attributes, *end = at + archive->attributes_length;

	while (at < end) {
		static const char path[] = " path=", size[] = " size=";
		char *word;
		const unsigned long length = strtoul(at, &word, 10);
		const char *next = length <= (size_t)(end - at) ? at + length : end;

		if (next <= word || next != at + length || *word != ' ' || next[-1] != '\n') {
			fail(archive, STATUS_INTERNAL, "attributes that cannot be understood");
			return;
		}
		if (strncmp(word, size, strlen(size)) == 0)
			fail(archive, STATUS_RESOURCE_EXHAUSTED, too_much);
		if (strncmp(word, path, strlen(path)) == 0)
			snprintf(archive->name, sizeof(archive->name), "%.*s",
				 (int)(next - 1 - (word + strlen(path))), word + strlen(path));
		at = next;
	}
}

/* Octal digits with a space or NUL behind them. */
static bool size_read(const char *field, size_t *ret_size)
{
	char digits[13] = "";
	size_t length;

	memcpy(digits, field, 12);
	length = strspn(digits, "01234567");
	*ret_size = strtoul(digits, NULL, 8);
	return length && (!digits[length] || digits[length] == ' ');
}

static void file_begin(struct archive *archive)
{
	const char *head = archive->head;

	if (archive->data_left > archive->bytes_left) {
		fail(archive, STATUS_RESOURCE_EXHAUSTED, too_much);
		return;
	}
	archive->bytes_left -= archive->data_left;
	if (!archive->name[0])
		snprintf(archive->name, sizeof(archive->name), "%.155s%s%.100s", head + 345,
			 head[345] ? "/" : "", head);
	if (name_is_inside(archive->name))
		archive->sink->begun(archive->sink->arg, archive->name, archive->data_left);
	else
		fail(archive, STATUS_INTERNAL, "a file with a name that leads elsewhere");
}

static void head_read(struct archive *archive)
{
	const char *head = archive->head;

	if (!*head) /* the end */
		return;
	archive->type = head[156] ? head[156] : '0';
	if (!size_read(head + 124, &archive->data_left) || memcmp(head + 257, "ustar", 5) != 0) {
		fail(archive, STATUS_INTERNAL, "an archive that cannot be understood");
		return;
	}
	archive->padding_left = -archive->data_left % BLOCK_BYTES;
	archive->attributes_length = 0;
	if (archive->type == 'x') {
		if (archive->data_left > ARCHIVE_ATTRIBUTES_MAX)
			fail(archive, STATUS_INTERNAL, "attributes that are too long");
		return;
	}
	if (archive->type == '0')
		file_begin(archive);
	archive->name[0] = '\0';
}

static size_t data_take(struct archive *archive, const char *data, size_t length)
{
	const size_t taken = length < archive->data_left ? length : archive->data_left;

	if (archive->type == '0') {
		archive->sink->piece(archive->sink->arg, data, taken);
	} else if (archive->type == 'x') {
		memcpy(archive->attributes + archive->attributes_length, data, taken);
		archive->attributes_length += taken;
	}
	archive->data_left -= taken;
	if (!archive->data_left && archive->type == 'x') {
		archive->attributes[archive->attributes_length] = '\0';
		attributes_read(archive);
	}
	return taken;
}

bool archive_take(struct archive *archive, const char *data, size_t length)
{
	while (length && !archive->status) {
		size_t taken;

		if (archive->data_left) {
			taken = data_take(archive, data, length);
		} else if (archive->padding_left) {
			taken = length < archive->padding_left ? length : archive->padding_left;
			archive->padding_left -= taken;
		} else {
			taken = BLOCK_BYTES - archive->head_length;
			taken = length < taken ? length : taken;
			memcpy(archive->head + archive->head_length, data, taken);
			archive->head_length = (archive->head_length + taken) % BLOCK_BYTES;
			if (!archive->head_length)
				head_read(archive);
		}
		data += taken;
		length -= taken;
	}
	return !archive->status;
}

bool archive_end(struct archive *archive)
{
	if (!archive->status && (archive->data_left || archive->padding_left || archive->head_length))
		fail(archive, STATUS_INTERNAL, "an archive that ends early");
	return !archive->status;
}

/* ---- calls ---- */

struct call {
	struct archive archive;
	bool over;
	enum status status;
	char text[DOCKER_TEXT_SIZE];
};

static enum http_verdict call_data(void *arg, const char *data, size_t length)
{
	struct call *call = arg;

	return archive_take(&call->archive, data, length) ? HTTP_TAKEN : HTTP_BREAK;
}

static void call_done(void *arg, const struct http_answer *answer)
{
	struct call *call = arg;

	call->over = true;
	/* A problem of the archive is what broke the exchange. */
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

static enum status call_run(const struct archive_place *place, const char *path, struct http_request request,
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

enum status docker_get_files(const struct archive_place *place, const char *path, size_t bytes_max,
			     const struct file_sink *sink, struct error *err)
{
	struct call call = { .archive = { .sink = sink, .bytes_left = bytes_max } };

	return call_run(place, path, (struct http_request){ .method = "GET", .data = call_data }, &call, err);
}
