/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/base/archive.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = ARCHIVE_BLOCK_BYTES, NAME_BYTES = 100, PREFIX_BYTES = 155 };

/* The largest size that a header's eleven octal digits can hold. */
#define HEADER_SIZE_MAX INT64_C(077777777777)

static const char zeros[2 * BLOCK_BYTES];
static const char too_much[] = "more data than is accepted";

/* ---- writing ---- */

/* Writes octal digits and a NUL. Higher digits of a number that is too large are dropped; no caller has such a number. */
static void octal_write(char *field, size_t size, uint64_t value)
{
	field[size - 1] = '\0';
	for (size_t i = size - 1; i-- > 0; value >>= 3)
		field[i] = (char)('0' + (value & 7));
}

/* Finds the slash at which a name that is too long for its field is split into prefix and name; NULL: no slash fits. */
static const char *name_part(const char *name)
{
	const size_t length = strlen(name);
	const char *slash = length > NAME_BYTES ? strchr(name + length - NAME_BYTES - 1, '/') : NULL;

	return slash && slash[1] && slash > name && slash - name <= PREFIX_BYTES ? slash : NULL;
}

static void name_write(char head[BLOCK_BYTES], const char *name)
{
	const char *slash = name_part(name);

	if (slash)
		memcpy(head + 345, name, (size_t)(slash - name));
	name = slash ? slash + 1 : name;
	memcpy(head, name, strnlen(name, NAME_BYTES));
}

static void header_add(struct text *archive, const struct archive_entry *entry)
{
	char head[BLOCK_BYTES] = { 0 };
	unsigned sum = 0;

	/* A name that does not fit, even when split, is in the attributes before this header. */
	name_write(head, entry->name);
	octal_write(head + 100, 8, entry->mode & 07777);
	octal_write(head + 108, 8, 0);
	octal_write(head + 116, 8, 0);
	octal_write(head + 124, 12, entry->size <= HEADER_SIZE_MAX ? (uint64_t)entry->size : 0);
	octal_write(head + 136, 12, entry->time_s > 0 ? (uint64_t)entry->time_s : 0);
	memset(head + 148, ' ', 8);
	head[156] = entry->type;
	if (entry->link)
		memcpy(head + 157, entry->link, strnlen(entry->link, NAME_BYTES));
	memcpy(head + 257, "ustar\00000", 8);
	for (size_t i = 0; i < BLOCK_BYTES; i++)
		sum += (unsigned char)head[i];
	octal_write(head + 148, 7, sum);
	text_append(archive, head, BLOCK_BYTES);
}

/* Appends an attribute such as "27 path=some/long/name\n": the number is the length of the whole line, with its own
 * digits. */
static void attribute_write(struct text *text, const char *name, const char *value)
{
	const size_t rest = strlen(name) + strlen(value) + 3; /* blank, '=', '\n' */
	size_t length = rest;

	for (size_t before = 0; before != length;) {
		before = length;
		length = rest + (size_t)snprintf(NULL, 0, "%zu", before);
	}
	text_printf(text, "%zu %s=%s\n", length, name, value);
}

void archive_entry_add(struct text *archive, const struct archive_entry *entry)
{
	struct text attributes AUTO_TEXT = { 0 };

	if (strlen(entry->name) > NAME_BYTES && !name_part(entry->name))
		attribute_write(&attributes, "path", entry->name);
	if (entry->link && strlen(entry->link) > NAME_BYTES)
		attribute_write(&attributes, "linkpath", entry->link);
	if (entry->size > HEADER_SIZE_MAX) {
		char size[24];

		snprintf(size, sizeof(size), "%lld", (long long)entry->size);
		attribute_write(&attributes, "size", size);
	}
	if (attributes.length) {
		header_add(archive, &(struct archive_entry){ .name = "attributes",
							     .type = 'x',
							     .mode = 0644,
							     .size = (int64_t)attributes.length });
		text_append(archive, attributes.data, attributes.length);
		archive_padding_add(archive, (int64_t)attributes.length);
	}
	header_add(archive, entry);
}

void archive_padding_add(struct text *archive, int64_t size)
{
	text_append(archive, zeros, (size_t)(-size & (BLOCK_BYTES - 1)));
}

void archive_finish(struct text *archive)
{
	text_append(archive, zeros, sizeof(zeros));
}

/* ---- reading ---- */

/* Returns true if the name has no empty part and no "..", so that callers may build paths from it. */
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

/* Reads the size attribute: decimal digits up to the end of the line. Returns false if it is malformed. */
static bool size_attribute_read(struct archive *archive, const char *digits, const char *line_end)
{
	int64_t size = 0;

	if (digits == line_end || line_end - digits > 18)
		return false;
	for (; digits < line_end; digits++) {
		if (*digits < '0' || *digits > '9')
			return false;
		size = size * 10 + *digits - '0';
	}
	archive->size_attribute = size;
	archive->has_size_attribute = true;
	return true;
}

/* Reads the extended attributes "27 path=some/long/name\n" and "size". An archive has the size attribute if the size
 * does not fit the header; then the header's size is wrong. */
static void attributes_read(struct archive *archive)
{
	const char *at = archive->attributes, *end = at + archive->attributes_length;

	while (at < end) {
		static const char path[] = " path=", size[] = " size=";
		char *word;
		const unsigned long length = strtoul(at, &word, 10);
		const bool fits = length <= (size_t)(end - at);
		const char *next = fits ? at + length : end;

		if (next <= word || !fits || *word != ' ' || next[-1] != '\n') {
			fail(archive, STATUS_INTERNAL, "attributes that cannot be understood");
			return;
		}
		if (strncmp(word, size, strlen(size)) == 0 &&
		    !size_attribute_read(archive, word + strlen(size), next - 1)) {
			fail(archive, STATUS_INTERNAL, "a size that cannot be understood");
			return;
		}
		if (strncmp(word, path, strlen(path)) == 0)
			snprintf(archive->name, sizeof(archive->name), "%.*s",
				 (int)(next - 1 - (word + strlen(path))), word + strlen(path));
		at = next;
	}
}

/* Reads the size in a header: octal digits followed by a space or NUL. Returns false if it is malformed. */
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
	archive->type = head[156];
	if (!archive->type)
		archive->type = '0';
	if (!size_read(head + 124, &archive->data_left) || memcmp(head + 257, "ustar", 5) != 0) {
		fail(archive, STATUS_INTERNAL, "an archive that cannot be understood");
		return;
	}
	if (archive->has_size_attribute && archive->type != 'x') {
		archive->data_left = (size_t)archive->size_attribute;
		archive->has_size_attribute = false;
	}
	archive->padding_left = -archive->data_left % BLOCK_BYTES;
	archive->attributes_length = 0;
	if (archive->plain_files && !strchr("05x", archive->type)) {
		fail(archive, STATUS_INTERNAL, "a link, or another entry that is no plain file");
		return;
	}
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
