/* SPDX-License-Identifier: Apache-2.0 */
#include "api/storage/base64_stream.h"

static int digit_value(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	if (c == '+' || c == '-')
		return 62;
	if (c == '/' || c == '_')
		return 63;
	return -1;
}

static bool is_space(char c)
{
	return c == '\r' || c == '\n' || c == ' ' || c == '\t';
}

/* Takes one character. False: it is invalid here. Padding needs two characters before it, and only padding may follow. */
static bool digit_take(struct base64_stream *stream, char c)
{
	const int value = c == '=' ? 0 : digit_value(c);

	if (value < 0 || (c == '=' ? stream->count < 2 : stream->padding > 0))
		return false;
	stream->padding += c == '=';
	stream->bits = stream->bits << 6 | (uint32_t)value;
	stream->count++;
	return true;
}

bool base64_stream_receive(struct base64_stream *stream, const char *data, size_t length, char *bytes,
			   size_t *ret_count)
{
	size_t count = 0;

	for (size_t i = 0; i < length; i++) {
		if (is_space(data[i]))
			continue;
		if (!digit_take(stream, data[i]))
			return false;
		if (stream->count < 4)
			continue;
		for (unsigned byte = 0; byte < 3 - stream->padding; byte++)
			bytes[count++] = (char)(stream->bits >> (16 - 8 * byte));
		stream->count = 0;
	}
	*ret_count = count;
	return true;
}

bool base64_stream_finished(const struct base64_stream *stream)
{
	return stream->count == 0;
}
