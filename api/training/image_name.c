/* SPDX-License-Identifier: Apache-2.0 */
#include "api/training/image_name.h"

#include <string.h>
#include <strings.h>

#define DIGITS  "0123456789"
#define LOWER   "abcdefghijklmnopqrstuvwxyz"
#define UPPER   "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define HEX     DIGITS "abcdef"
#define IN_PATH LOWER DIGITS

enum { PATH_BYTES_MAX = 255, TAG_BYTES_MAX = 128, ID_HEX_DIGITS = 64 };

static bool is_one_of(char c, const char *set)
{
	return c && strchr(set, c);
}

/* The length of the registry at the beginning of @text; 0: it names none. By the rule of normalize.go, the part before
 * the first slash is a registry if it is "localhost" or has a dot, a colon or a capital; otherwise it belongs to the
 * path. */
static size_t registry_length(const char *text)
{
	size_t length = strcspn(text, "/");

	if (text[length] != '/')
		return 0;
	if (length == strlen("localhost") && strncmp(text, "localhost", length) == 0)
		return length;
	return strcspn(text, ".:" UPPER) < length ? length : 0;
}

/* Letters, digits and inner dashes between dots. */
static bool is_host(const char *host, size_t length)
{
	if (!length)
		return false;
	for (size_t i = 0; i < length; i++) {
		bool first = i == 0 || host[i - 1] == '.';
		bool last = i + 1 == length || host[i + 1] == '.';

		if (host[i] == '.' ? first || last : !is_one_of(host[i], LOWER UPPER DIGITS "-"))
			return false;
		if (host[i] == '-' && (first || last))
			return false;
	}
	return true;
}

/* The length of the host without its port. The brackets of an IPv6 address, "[::1]", belong to the host. */
static size_t host_length(const char *registry, size_t length)
{
	const char *end = *registry == '[' ? memchr(registry, ']', length) : memchr(registry, ':', length);

	if (!end)
		return length;
	return (size_t)(end - registry) + (*registry == '[');
}

/* Whether @host, which begins with "[", has the form of an IPv6 address in brackets: "[::1]". */
static bool is_bracketed(const char *host, size_t length)
{
	return length >= 4 && host[length - 1] == ']' && strspn(host + 1, HEX "ABCDEF:") == length - 2;
}

static bool is_registry(const char *registry, size_t length)
{
	size_t host = host_length(registry, length);
	const char *port = registry + host;

	if (*registry == '[' ? !is_bracketed(registry, host) : !is_host(registry, host))
		return false;
	if (host == length)
		return true;
	return *port == ':' && length - host > 1 && strspn(port + 1, DIGITS) == length - host - 1;
}

/* Valid separators between letters: a dot, one or two underscores, any number of dashes. */
static bool is_separator(const char *text, size_t length)
{
	if (strspn(text, "-") >= length)
		return true;
	return (length == 1 && (*text == '.' || *text == '_')) ||
	       (length == 2 && strncmp(text, "__", 2) == 0);
}

static bool is_component(const char *text, size_t length)
{
	size_t i = 0;

	while (i < length) {
		size_t word = strspn(text + i, IN_PATH);
		size_t between;

		if (!word)
			return false;
		i += word;
		if (i >= length)
			return true;
		between = strcspn(text + i, IN_PATH "/");
		if (i + between >= length || !is_separator(text + i, between))
			return false;
		i += between;
	}
	return false;
}

/* Whether @path is valid: an image's id (64 hexadecimal digits) is not. */
static bool is_path(const char *path, size_t length)
{
	if (length > PATH_BYTES_MAX || (length == ID_HEX_DIGITS && strspn(path, HEX) == length))
		return false;
	for (const char *at = path;; at++) {
		size_t component = strcspn(at, "/");
		size_t left = (size_t)(path + length - at);

		if (component >= left)
			return is_component(at, left);
		if (!is_component(at, component))
			return false;
		at += component;
	}
}

static bool is_tag(const char *tag, size_t length)
{
	return length >= 1 && length <= TAG_BYTES_MAX && !is_one_of(*tag, ".-") &&
	       strspn(tag, LOWER UPPER DIGITS "_.-") >= length;
}

static bool is_digest(const char *digest)
{
	static const struct {
		const char *algorithm;
		size_t hex_digits;
	} rows[] = { { "sha256:", 64 }, { "sha384:", 96 }, { "sha512:", 128 } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t prefix = strlen(rows[i].algorithm);

		if (strncmp(digest, rows[i].algorithm, prefix) == 0)
			return strspn(digest + prefix, HEX) == rows[i].hex_digits &&
			       !digest[prefix + rows[i].hex_digits];
	}
	return false;
}

bool image_name_parse(const char *text, struct image_name *ret_name)
{
	struct image_name name = { .registry_length = registry_length(text) };
	const char *path = text + (name.registry_length ? name.registry_length + 1 : 0);
	const char *rest = path + strcspn(path, ":@");

	name.name_length = (size_t)(rest - text);
	if (name.registry_length && !is_registry(text, name.registry_length))
		return false;
	if (!is_path(path, (size_t)(rest - path)))
		return false;
	if (*rest == ':') {
		size_t length = strcspn(++rest, "@");

		if (!is_tag(rest, length))
			return false;
		name.has_tag = true;
		rest += length;
	}
	if (*rest) {
		if (!is_digest(rest + 1))
			return false;
		name.has_digest = true;
	}
	*ret_name = name;
	return true;
}

static bool ends_with(const char *text, size_t length, const char *tail)
{
	size_t bytes = strlen(tail);

	return length > bytes && strncasecmp(text + length - bytes, tail, bytes) == 0;
}

/* Whether the registry is one of Google's: "gcr.io", "eu.gcr.io", "us-central1-docker.pkg.dev".
 * Source: https://cloud.google.com/ai-platform/training/docs/using-containers (push the container image) */
static bool is_of_google(const char *registry, size_t length)
{
	return (length == strlen("gcr.io") && strncasecmp(registry, "gcr.io", length) == 0) ||
	       ends_with(registry, length, ".gcr.io") || ends_with(registry, length, "-docker.pkg.dev");
}

static bool is_loopback(const char *registry, size_t length)
{
	size_t host = host_length(registry, length);

	return (host == strlen("localhost") && strncasecmp(registry, "localhost", host) == 0) ||
	       ends_with(registry, host, ".localhost") ||
	       (strncmp(registry, "127.", 4) == 0 && strspn(registry, DIGITS ".") == host) ||
	       strncmp(registry, "[::1]", 5) == 0;
}

enum image_origin image_origin(const char *text)
{
	size_t length = registry_length(text);

	if (length && is_loopback(text, length))
		return IMAGE_OF_MACHINE;
	return length && is_of_google(text, length) ? IMAGE_OF_GOOGLE : IMAGE_OF_OTHERS;
}
