/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "daemon/base/text.h"
#include "store/objects/objects.h"

enum { PART_MIN = 3, PART_MAX = 63, NAME_MAX_WITH_DOTS = 222, OBJECT_NAME_MAX = 1024 };

static bool is_letter_or_digit(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/* What is wrong with a part between dots, which must have 1 to 63 bytes; NULL: nothing. */
static const char *parts_fault(const char *name)
{
	for (;;) {
		size_t length = strcspn(name, ".");

		if (length == 0)
			return "has two dots in a row";
		if (length > PART_MAX)
			return "is too long: it has at most 63 characters, or 222 with at most 63 between dots";
		if (!name[length])
			return NULL;
		name += length + 1;
	}
}

/* "192.168.5.4" */
static bool looks_like_address(const char *name)
{
	unsigned dots = 0;

	for (; *name; name++) {
		if (*name == '.')
			dots++;
		else if (*name < '0' || *name > '9')
			return false;
	}
	return dots == 3;
}

bool bucket_name_is_googles(const char *name)
{
	return strncmp(name, "goog", 4) == 0 || strstr(name, "google") || strstr(name, "g00gle");
}

const char *bucket_name_fault(const char *name)
{
	size_t length = strlen(name);

	if (strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_.") != length)
		return "has other characters than lowercase letters, digits, '-', '_' and '.'";
	if (length < PART_MIN)
		return "is too short: it has at least 3 characters";
	if (length > NAME_MAX_WITH_DOTS)
		return "is too long: it has at most 63 characters, or 222 with at most 63 between dots";
	if (!is_letter_or_digit(name[0]) || !is_letter_or_digit(name[length - 1]))
		return "does not begin and end with a letter or a digit";
	if (looks_like_address(name))
		return "has the form of an IP address";
	return parts_fault(name);
}

bool bucket_name_valid(const char *name)
{
	return !bucket_name_fault(name) && !bucket_name_is_googles(name);
}

bool object_name_valid(const char *name)
{
	static const char challenge[] = ".well-known/acme-challenge/";
	size_t length = strlen(name);

	return length >= 1 && length <= OBJECT_NAME_MAX && !strpbrk(name, "\r\n") && strcmp(name, ".") != 0 &&
	       strcmp(name, "..") != 0 && strncmp(name, challenge, sizeof(challenge) - 1) != 0 &&
	       utf8_valid(name, length);
}

/* Choice: the service's sentences as far as they are known from memory of its answers; no record of them is at hand. */
enum status object_name_check(const char *name, struct error *err)
{
	size_t length = strlen(name);

	if (object_name_valid(name))
		return STATUS_OK;
	if (length == 0)
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "Required");
	if (length > OBJECT_NAME_MAX)
		return error_set(
			err, STATUS_INVALID_ARGUMENT, NULL,
			"The maximum object length is 1024 characters, but got a name with %zu characters: "
			"'%.16s...'",
			length, name);
	if (strpbrk(name, "\r\n") || !utf8_valid(name, length))
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
				 "Disallowed unicode characters present in object name '%s'", name);
	return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "Invalid object name '%s'", name);
}
