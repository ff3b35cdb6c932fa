/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/base/host_header.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

static const char field[] = "host:";
enum { FIELD_BYTES = sizeof(field) - 1, NAME_BYTES_MAX = 253 };

/* Reads the host's name from @value, the text after the header's colon. Returns false if there is no name. */
static bool name_read(const char *value, size_t length, char ret_name[HELLO_NAME_SIZE])
{
	size_t count = 0;

	while (length && (*value == ' ' || *value == '\t'))
		value++, length--;
	while (count < length && (isalnum((unsigned char)value[count]) || strchr("-_.", value[count])) &&
	       value[count])
		count++;
	if (count < length && !strchr(": \t\r", value[count]))
		return false;
	if (count && value[count - 1] == '.')
		count--;
	if (!count || count > NAME_BYTES_MAX)
		return false;
	for (size_t i = 0; i < count; i++)
		ret_name[i] = (char)tolower((unsigned char)value[i]);
	ret_name[count] = '\0';
	return true;
}

enum hello host_header_read(const uint8_t *data, size_t length, struct client_hello *ret_hello)
{
	const size_t limit = length < HELLO_MAX_BYTES ? length : HELLO_MAX_BYTES;
	const char *line = (const char *)data, *end = line + limit, *stop;

	*ret_hello = (struct client_hello){ 0 };
	if (length && !isalpha(data[0]))
		return HELLO_UNNAMED;
	for (bool is_first = true; (stop = memchr(line, '\n', (size_t)(end - line))); is_first = false) {
		const size_t bytes = (size_t)(stop - line);

		if (bytes == 0 || (bytes == 1 && *line == '\r'))
			return HELLO_UNNAMED;
		if (!is_first && bytes >= FIELD_BYTES && strncasecmp(line, field, FIELD_BYTES) == 0)
			return name_read(line + FIELD_BYTES, bytes - FIELD_BYTES, ret_hello->name)
				       ? HELLO_NAMED
				       : HELLO_UNNAMED;
		line = stop + 1;
	}
	return limit == HELLO_MAX_BYTES ? HELLO_UNNAMED : HELLO_INCOMPLETE;
}
