/* SPDX-License-Identifier: Apache-2.0 */
#include "store/objects/file_name.h"

#include <string.h>

/* Writes one character to @ret_written, as itself or as an escape. part_write() never cuts a long part within it. */
static size_t character_write(const char *at, char ret_written[8])
{
	static const char digits[] = "0123456789ABCDEF";
	unsigned char c = (unsigned char)*at;
	size_t length = c < 0xc0 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;

	if (c < 0x20 || c == 0x7f || c == '%') {
		ret_written[0] = '%';
		ret_written[1] = digits[c >> 4];
		ret_written[2] = digits[c & 15];
		ret_written[3] = '\0';
		return 1;
	}
	length = strnlen(at, length);
	memcpy(ret_written, at, length);
	ret_written[length] = '\0';
	return length;
}

/* Writes "." and ".." as escapes, because as file names they mean directories. False: it is another name. */
static bool dots_write(struct text *path, const char *at, size_t length)
{
	if (length > 2 || strncmp(at, "..", length) != 0)
		return false;
	text_puts(path, length == 1 ? "%2E" : "%2E%2E");
	return true;
}

static void part_write(struct text *path, const char *part, size_t length)
{
	size_t begin = path->length;
	char written[8];

	if (length == 0) {
		text_puts(path, "%2F");
		return;
	}
	if (dots_write(path, part, length))
		return;
	for (const char *end = part + length; part < end;) {
		const char *here = part;

		part += character_write(part, written);
		if (path->length - begin + strlen(written) > FILE_PART_MAX) {
			text_puts(path, "%~/");
			begin = path->length;
			if (dots_write(path, here, (size_t)(end - here)))
				return;
		}
		text_puts(path, written);
	}
}

void file_name_write(struct text *path, const char *object_name)
{
	for (;;) {
		size_t length = strcspn(object_name, "/");

		part_write(path, object_name, length);
		if (!object_name[length])
			return;
		text_putc(path, '/');
		object_name += length + 1;
	}
}
