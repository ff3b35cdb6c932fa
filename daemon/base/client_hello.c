/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/base/client_hello.h"

#include <stdbool.h>
#include <string.h>

enum {
	RECORD_HEAD_BYTES = 5,
	RECORD_HANDSHAKE = 22,
	RECORD_MAX_BYTES = 16384,
	MESSAGE_HEAD_BYTES = 4,
	MESSAGE_CLIENT_HELLO = 1,
	VERSION_AND_RANDOM_BYTES = 34,
	EXTENSION_SERVER_NAME = 0,
	EXTENSION_PROTOCOLS = 16,
	NAME_HOST = 0,
	NAME_MAX_BYTES = 253,
};

/* Bytes that were not read yet. */
struct span {
	const uint8_t *at;
	size_t length;
};

static bool bytes_take(struct span *from, size_t length, struct span *ret_part)
{
	if (from->length < length)
		return false;
	*ret_part = (struct span){ from->at, length };
	from->at += length;
	from->length -= length;
	return true;
}

static bool number_take(struct span *from, size_t bytes, size_t *ret_number)
{
	struct span part;

	if (!bytes_take(from, bytes, &part))
		return false;
	*ret_number = 0;
	for (size_t i = 0; i < bytes; i++)
		*ret_number = *ret_number << 8 | part.at[i];
	return true;
}

/* Takes a part from @from; a length of @bytes bytes precedes the part. Returns false if the part is incomplete. */
static bool vector_take(struct span *from, size_t bytes, struct span *ret_part)
{
	size_t length;

	return number_take(from, bytes, &length) && bytes_take(from, length, ret_part);
}

static bool name_copy(const struct span *host, char ret_name[HELLO_NAME_SIZE])
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789-_.";
	char name[HELLO_NAME_SIZE] = { 0 };

	if (host->length < 1 || host->length > NAME_MAX_BYTES)
		return false;
	for (size_t i = 0; i < host->length; i++) {
		uint8_t byte = host->at[i];

		name[i] = (char)(byte >= 'A' && byte <= 'Z' ? byte - 'A' + 'a' : byte);
		if (!name[i] || !strchr(allowed, name[i]))
			return false;
	}
	memcpy(ret_name, name, sizeof(name));
	return true;
}

static bool name_find(struct span extension, char ret_name[HELLO_NAME_SIZE])
{
	struct span names, host;
	size_t kind;

	if (!vector_take(&extension, 2, &names))
		return false;
	while (number_take(&names, 1, &kind) && vector_take(&names, 2, &host))
		if (kind == NAME_HOST)
			return name_copy(&host, ret_name);
	return false;
}

static bool span_is(const struct span *span, const char *text)
{
	return span->length == strlen(text) && memcmp(span->at, text, span->length) == 0;
}

static bool protocols_are_http2_only(struct span extension)
{
	struct span protocols, protocol;
	bool http2 = false, http1 = false;

	if (!vector_take(&extension, 2, &protocols))
		return false;
	while (vector_take(&protocols, 1, &protocol)) {
		http2 |= span_is(&protocol, "h2");
		http1 |= span_is(&protocol, "http/1.1");
	}
	return http2 && !http1;
}

/* Searches a ClientHello for the host's name and the protocols. Returns false if it names no host. If an extension is
 * repeated, which no client does, the last one counts. */
static bool hello_search(struct span hello, struct client_hello *ret_hello)
{
	struct span skipped, extensions, extension;
	bool named = false;
	size_t kind;

	if (!bytes_take(&hello, VERSION_AND_RANDOM_BYTES, &skipped) || !vector_take(&hello, 1, &skipped) ||
	    !vector_take(&hello, 2, &skipped) || !vector_take(&hello, 1, &skipped) ||
	    !vector_take(&hello, 2, &extensions))
		return false;
	while (number_take(&extensions, 2, &kind) && vector_take(&extensions, 2, &extension)) {
		if (kind == EXTENSION_SERVER_NAME)
			named = name_find(extension, ret_hello->name);
		else if (kind == EXTENSION_PROTOCOLS)
			ret_hello->http2_only = protocols_are_http2_only(extension);
	}
	return named;
}

/* Joins the bytes of the handshake from its TLS records. Returns false if this is no handshake. */
static bool records_join(struct span records, uint8_t message[HELLO_MAX_BYTES], size_t *ret_length)
{
	struct span head;
	size_t length = 0;

	while (bytes_take(&records, RECORD_HEAD_BYTES, &head)) {
		size_t wanted = (size_t)head.at[3] << 8 | head.at[4];
		struct span payload = { 0 };

		if (head.at[0] != RECORD_HANDSHAKE || head.at[1] != 3 || !wanted || wanted > RECORD_MAX_BYTES)
			return false;
		if (wanted > records.length)
			wanted = records.length; /* the rest of the record has not arrived yet */
		bytes_take(&records, wanted, &payload);
		memcpy(message + length, payload.at, payload.length);
		length += payload.length;
	}
	*ret_length = length;
	return true;
}

enum hello client_hello_read(const uint8_t *data, size_t length, struct client_hello *ret_hello)
{
	uint8_t message[HELLO_MAX_BYTES];
	struct span rest = { message, 0 };
	struct span hello;
	size_t kind, wanted;
	const bool full = length >= HELLO_MAX_BYTES;

	*ret_hello = (struct client_hello){ 0 };
	if (!records_join((struct span){ data, full ? HELLO_MAX_BYTES : length }, message, &rest.length))
		return HELLO_UNNAMED;
	if (length && data[0] != RECORD_HANDSHAKE)
		return HELLO_UNNAMED;
	if (!number_take(&rest, 1, &kind))
		return full ? HELLO_UNNAMED : HELLO_INCOMPLETE;
	if (kind != MESSAGE_CLIENT_HELLO)
		return HELLO_UNNAMED;
	if (!number_take(&rest, MESSAGE_HEAD_BYTES - 1, &wanted))
		return full ? HELLO_UNNAMED : HELLO_INCOMPLETE;
	if (!bytes_take(&rest, wanted, &hello))
		return full || wanted > HELLO_MAX_BYTES ? HELLO_UNNAMED : HELLO_INCOMPLETE;
	return hello_search(hello, ret_hello) ? HELLO_NAMED : HELLO_UNNAMED;
}
