/* SPDX-License-Identifier: Apache-2.0 */
#include "api/storage/multipart.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "api/storage/base64_stream.h"
#include "daemon/base/memory.h"
#include "daemon/base/text.h"

enum {
	BOUNDARY_MAX_BYTES = 200, /* the RFC says 70; clients put names of theirs around a UUID */
	HEAD_MAX_BYTES = 8 << 10, /* of a part's head, and of the preamble */
};

/*
 *   PREAMBLE ──boundary──> HEAD ──empty line──> BODY ──boundary──> AFTER ──end of line──> HEAD
 *                                                                    └───"--"──> DONE (what follows is passed over)
 */
enum place { PREAMBLE, HEAD, BODY, AFTER, DONE };

struct multipart {
	struct multipart_sink sink;
	enum place place;
	enum status failed;
	/* "\r\n--boundary", or without the CR. Its first byte occurs only once in it, so when a match fails, the search
	 * continues at the current byte. */
	char delimiter[BOUNDARY_MAX_BYTES + 5];
	size_t delimiter_length;
	size_t matched;                /* number of its bytes with which the input ends */
	/* how many of these are the line end before the boundary, which does not belong to the body */
	size_t unreal;
	char head[HEAD_MAX_BYTES + 1]; /* complete lines, each as a string; then the current one */
	size_t head_length;
	size_t line; /* start of the current line */
	bool is_base64;
	struct base64_stream base64;
};

static enum status malformed(struct error *err)
{
	return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "Malformed multipart body.");
}

/* Copies the value of a parameter: a quoted string, or the text up to the next separator. */
static char *value_copy(const char *value)
{
	struct text copy AUTO_TEXT = { 0 };
	const bool quoted = *value == '"';

	if (!quoted)
		return memory_strndup(value, strcspn(value, "; \t"));
	for (value++; *value && *value != '"'; value++) {
		if (*value == '\\' && value[1])
			value++;
		text_putc(&copy, *value);
	}
	return *value ? text_take(&copy) : NULL;
}

/* The next ';' that is in no quotes. */
static const char *parameter_next(const char *at)
{
	bool quoted = false;

	for (; *at && (quoted || *at != ';'); at++) {
		if (*at == '"')
			quoted = !quoted;
		else if (quoted && *at == '\\' && at[1])
			at++;
	}
	return *at ? at + 1 : NULL;
}

char *media_type_parameter(const char *media_type, const char *name)
{
	const size_t length = strlen(name);

	for (const char *at = parameter_next(media_type); at; at = parameter_next(at)) {
		at += strspn(at, " \t");
		if (strncasecmp(at, name, length) == 0 && at[length] == '=')
			return value_copy(at + length + 1);
	}
	return NULL;
}

enum status multipart_new(const char *content_type, const struct multipart_sink *sink,
			  struct multipart **ret_multipart, struct error *err)
{
	AUTO(string) char *boundary = media_type_parameter(content_type, "boundary");
	struct multipart *multipart;

	if (!boundary || !*boundary || strlen(boundary) > BOUNDARY_MAX_BYTES)
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
				 "Missing boundary in multipart content type.");
	if (strpbrk(boundary, "\r\n"))
		return malformed(err);
	multipart = memory_calloc(1, sizeof(*multipart));
	multipart->sink = *sink;
	multipart->delimiter_length =
		(size_t)snprintf(multipart->delimiter, sizeof(multipart->delimiter), "\r\n--%s", boundary);
	*ret_multipart = multipart;
	return STATUS_OK;
}

void multipart_free(struct multipart *multipart)
{
	free(multipart);
}

const char *multipart_header(const struct multipart *multipart, const char *name)
{
	const size_t length = strlen(name);

	for (size_t at = 0; at < multipart->line; at += strlen(multipart->head + at) + 1) {
		const char *line = multipart->head + at;

		if (strncasecmp(line, name, length) == 0 && line[length] == ':')
			return line + length + 1 + strspn(line + length + 1, " \t");
	}
	return "";
}

/* Takes bytes up to the end of a line. *ret_whole: the line is complete and is, without its end, the string at `line`;
 * `bare`: it ended with LF alone. */
static enum status line_take(struct multipart *multipart, const char **data, const char *end, bool *ret_whole,
			     bool *ret_bare, struct error *err)
{
	const char *newline = memchr(*data, '\n', (size_t)(end - *data));
	const size_t length = (size_t)((newline ? newline : end) - *data);

	if (length > HEAD_MAX_BYTES - multipart->head_length || memchr(*data, '\0', length))
		return malformed(err);
	memcpy(multipart->head + multipart->head_length, *data, length);
	multipart->head_length += length;
	*data += length + (newline != NULL);
	*ret_whole = newline != NULL;
	if (!newline)
		return STATUS_OK;
	*ret_bare = multipart->head_length == multipart->line ||
		    multipart->head[multipart->head_length - 1] != '\r';
	multipart->head_length -= !*ret_bare;
	multipart->head[multipart->head_length] = '\0';
	return STATUS_OK;
}

/* Keeps the line at `line`, and begins the next one. */
static enum status line_end(struct multipart *multipart, struct error *err)
{
	if (multipart->head_length == HEAD_MAX_BYTES)
		return malformed(err);
	multipart->line = ++multipart->head_length;
	return STATUS_OK;
}

static bool is_padding(const char *text)
{
	return text[strspn(text, " \t")] == '\0';
}

static void head_begin(struct multipart *multipart)
{
	multipart->place = HEAD;
	multipart->head_length = multipart->line = 0;
}

/* gcloud puts its boundary into single quotes that are not part of it, although quotes may be part of a boundary: only
 * the first line shows which. True: the quotes were removed from the delimiter. */
static bool quotes_left_out(struct multipart *multipart, const char *line)
{
	char *const boundary = multipart->delimiter + strlen("\r\n--");
	const size_t length = strlen(boundary);

	if (length <= 2 || *boundary != '\'' || boundary[length - 1] != '\'' || strncmp(line, "--", 2) != 0 ||
	    strncmp(line + 2, boundary + 1, length - 2) != 0)
		return false;
	memmove(boundary, boundary + 1, length - 2);
	boundary[length - 2] = '\0';
	multipart->delimiter_length -= 2;
	return true;
}

/* Skips lines until the first boundary, which begins a line. */
static enum status preamble_receive(struct multipart *multipart, const char **data, const char *end,
				    struct error *err)
{
	const char *const mark = multipart->delimiter + strlen("\r\n");
	size_t length = strlen(mark);
	bool whole = false, bare = false;
	enum status rc = line_take(multipart, data, end, &whole, &bare, err);
	const char *line = multipart->head + multipart->line;

	if (rc || !whole)
		return rc;
	if (quotes_left_out(multipart, line))
		length -= 2;
	if (strncmp(line, mark, length) != 0 || !is_padding(line + length))
		return line_end(multipart, err);
	if (bare) {
		memmove(multipart->delimiter, multipart->delimiter + 1, multipart->delimiter_length);
		multipart->delimiter_length--;
	}
	head_begin(multipart);
	return STATUS_OK;
}

static enum status body_begin(struct multipart *multipart, struct error *err)
{
	multipart->place = BODY;
	multipart->is_base64 =
		strcasecmp(multipart_header(multipart, "Content-Transfer-Encoding"), "base64") == 0;
	multipart->base64 = (struct base64_stream){ .count = 0 };
	/* If the part has no body, the boundary that ends it may come next. The line end that belongs to that boundary
	 * was then read already, as that of the empty line. */
	multipart->matched = multipart->unreal = multipart->delimiter[0] == '\r' ? 2 : 1;
	return multipart->sink.begin(multipart->sink.arg, multipart, err);
}

static enum status head_receive(struct multipart *multipart, const char **data, const char *end,
				struct error *err)
{
	bool whole = false, bare = false;
	enum status rc = line_take(multipart, data, end, &whole, &bare, err);

	if (rc || !whole)
		return rc;
	if (multipart->head_length == multipart->line)
		return body_begin(multipart, err);
	return line_end(multipart, err);
}

static enum status data_put(struct multipart *multipart, const char *data, size_t length, struct error *err)
{
	char bytes[3 << 10];

	if (!multipart->is_base64)
		return length ? multipart->sink.data(multipart->sink.arg, data, length, err) : STATUS_OK;
	while (length) {
		const size_t piece = length < sizeof(bytes) ? length : sizeof(bytes);
		size_t count = 0;
		enum status rc = base64_stream_receive(&multipart->base64, data, piece, bytes, &count)
					 ? STATUS_OK
					 : malformed(err);

		if (!rc && count)
			rc = multipart->sink.data(multipart->sink.arg, bytes, count, err);
		if (rc)
			return rc;
		data += piece;
		length -= piece;
	}
	return STATUS_OK;
}

static enum status part_end(struct multipart *multipart, struct error *err)
{
	multipart->place = AFTER;
	multipart->matched = multipart->unreal = 0;
	multipart->head_length = multipart->line = 0;
	multipart->head[0] = '\0';
	if (multipart->is_base64 && !base64_stream_finished(&multipart->base64))
		return malformed(err);
	return multipart->sink.end(multipart->sink.arg, err);
}

/* How many bytes at the beginning of @data continue a delimiter that began before. */
static size_t delimiter_go_on(const struct multipart *multipart, const char *data, size_t length)
{
	const size_t missing = multipart->delimiter_length - multipart->matched;
	size_t same = 0;

	while (same < missing && same < length &&
	       data[same] == multipart->delimiter[multipart->matched + same])
		same++;
	return same;
}

/* Passes the bytes that looked like the beginning of a delimiter on as bytes of the body. */
static enum status delimiter_give_up(struct multipart *multipart, struct error *err)
{
	const size_t matched = multipart->matched, unreal = multipart->unreal;

	multipart->matched = multipart->unreal = 0;
	return matched > unreal ? data_put(multipart, multipart->delimiter + unreal, matched - unreal, err)
				: STATUS_OK;
}

/* How many bytes at the end of @data are the beginning of a delimiter. */
static size_t delimiter_begun(const struct multipart *multipart, const char *data, size_t length)
{
	const size_t window = length < multipart->delimiter_length ? length : multipart->delimiter_length - 1;
	const char *const start = memrchr(data + length - window, multipart->delimiter[0], window);
	const size_t tail = start ? (size_t)(data + length - start) : 0;

	return tail && memcmp(start, multipart->delimiter, tail) == 0 ? tail : 0;
}

static enum status body_receive(struct multipart *multipart, const char **data, const char *end,
				struct error *err)
{
	const char *const start = *data;
	const size_t length = (size_t)(end - start);
	const char *found;
	size_t begun;
	enum status rc;

	if (multipart->matched) {
		const size_t same = delimiter_go_on(multipart, start, length);

		*data += same;
		multipart->matched += same;
		if (multipart->matched == multipart->delimiter_length)
			return part_end(multipart, err);
		return same < length ? delimiter_give_up(multipart, err) : STATUS_OK;
	}
	*data = end;
	found = memmem(start, length, multipart->delimiter, multipart->delimiter_length);
	if (!found) {
		begun = delimiter_begun(multipart, start, length);
		multipart->matched = begun;
		return data_put(multipart, start, length - begun, err);
	}
	*data = found + multipart->delimiter_length;
	rc = data_put(multipart, start, (size_t)(found - start), err);
	return rc ? rc : part_end(multipart, err);
}

/* Reads what follows a boundary: a line end before the next part, or two hyphens after the last one. */
static enum status after_receive(struct multipart *multipart, const char **data, const char *end,
				 struct error *err)
{
	bool whole = false, bare = false;
	enum status rc;

	while (*data < end && **data == '-' && strspn(multipart->head, "-") == multipart->head_length) {
		multipart->head[multipart->head_length++] = *(*data)++;
		multipart->head[multipart->head_length] = '\0';
		if (multipart->head_length == strlen("--")) {
			multipart->place = DONE;
			return STATUS_OK;
		}
	}
	if (*data == end)
		return STATUS_OK;
	rc = line_take(multipart, data, end, &whole, &bare, err);
	if (rc || !whole)
		return rc;
	if (!is_padding(multipart->head))
		return malformed(err);
	head_begin(multipart);
	return STATUS_OK;
}

static enum status place_receive(struct multipart *multipart, const char **data, const char *end,
				 struct error *err)
{
	switch (multipart->place) {
	case PREAMBLE:
		return preamble_receive(multipart, data, end, err);
	case HEAD:
		return head_receive(multipart, data, end, err);
	case BODY:
		return body_receive(multipart, data, end, err);
	case AFTER:
		return after_receive(multipart, data, end, err);
	case DONE:
		*data = end;
		return STATUS_OK;
	}
	return malformed(err);
}

enum status multipart_receive(struct multipart *multipart, const char *data, size_t length, struct error *err)
{
	const char *const end = data + length;

	if (multipart->failed)
		return malformed(err);
	while (!multipart->failed && data < end)
		multipart->failed = place_receive(multipart, &data, end, err);
	return multipart->failed;
}

enum status multipart_finish(struct multipart *multipart, struct error *err)
{
	if (multipart->failed)
		return malformed(err);
	if (multipart->place != DONE)
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
				 "Missing end boundary in multipart body.");
	return STATUS_OK;
}
