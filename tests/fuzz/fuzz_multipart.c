/* SPDX-License-Identifier: Apache-2.0 */
/* A body of several parts, with its media type as the first line: whole and in pieces it must come to the same.
 * And the headers of ranges, as which the first line is read, too. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api/storage/gunzip.h"
#include "api/storage/http_date.h"
#include "api/storage/multipart.h"
#include "api/storage/range.h"
#include "daemon/base/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static enum status on_begin(void *arg, const struct multipart *multipart, struct error *err)
{
	(void)err;
	text_printf(arg, "<%s|%s>", multipart_header(multipart, "Content-Type"),
		    multipart_header(multipart, "x"));
	return STATUS_OK;
}

static enum status on_data(void *arg, const char *data, size_t length, struct error *err)
{
	(void)err;
	require(length > 0);
	text_append(arg, data, length);
	return STATUS_OK;
}

static enum status on_end(void *arg, struct error *err)
{
	(void)err;
	text_puts(arg, "</>");
	return STATUS_OK;
}

static enum status parts_read(const char *type, const char *body, size_t length, size_t piece,
			      struct text *seen)
{
	const struct multipart_sink sink = { on_begin, on_data, on_end, seen };
	AUTO(multipart) struct multipart *multipart = NULL;
	enum status rc = multipart_new(type, &sink, &multipart, NULL);

	for (size_t at = 0; !rc && at < length; at += piece)
		rc = multipart_receive(multipart, body + at, length - at < piece ? length - at : piece, NULL);
	return rc ? rc : multipart_finish(multipart, NULL);
}

static void parts_check(const char *type, const char *body, size_t length)
{
	struct text whole AUTO_TEXT = { 0 };
	const enum status rc = parts_read(type, body, length, length + 1, &whole);

	for (size_t piece = 1; piece <= 7; piece += 3) {
		struct text cut AUTO_TEXT = { 0 };

		require(parts_read(type, body, length, piece, &cut) == rc);
		require(rc || (cut.length == whole.length &&
			       (!cut.length || memcmp(cut.data, whole.data, cut.length) == 0)));
	}
}

static void ranges_check(const char *header)
{
	static const int64_t sizes[] = { 0, 1, 1000, INT64_MAX };
	struct content_range brought;
	int64_t wall_s;

	http_date_read(header, &wall_s);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct byte_range range;

		if (range_choose(header, sizes[i], &range) == RANGE_PART)
			require(range.first >= 0 && range.length > 0 && range.length <= sizes[i] &&
				range.first <= sizes[i] - range.length);
	}
	if (!content_range_parse(header, &brought))
		return;
	require(brought.first >= 0 && brought.last >= -1 && brought.total >= -1);
	require(!brought.brings_bytes || brought.total < 0 || brought.first <= brought.total);
	require(brought.last < 0 || brought.first <= brought.last);
}

struct packed {
	const char *data;
	size_t length;
};

static ssize_t on_packed(void *arg, int64_t offset, char *buffer, size_t size)
{
	const struct packed *packed = arg;
	const size_t left = packed->length - (size_t)offset;

	if (size > left)
		size = left;
	memcpy(buffer, packed->data + offset, size);
	return (ssize_t)size;
}

static void unpack(const char *data, size_t length)
{
	struct packed packed = { data, length };
	AUTO(gunzip) struct gunzip *gunzip = gunzip_new(on_packed, &packed);
	char plain[512];
	size_t pieces = 0;

	while (gunzip && pieces++ < 1000 && gunzip_read(gunzip, plain, sizeof(plain)) > 0)
		;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = size ? memchr(data, '\n', size) : NULL;
	const size_t head = end ? (size_t)(end - data) : size;
	AUTO(string) char *line = strndup(size ? (const char *)data : "", head);
	AUTO(string) char *body = malloc(size + 1);
	const size_t length = end ? size - head - 1 : 0;

	if (!line || !body)
		return 0;
	if (length)
		memcpy(body, end + 1, length);
	ranges_check(line);
	parts_check(line, body, length);
	unpack(body, length);
	return 0;
}
