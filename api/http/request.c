/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/request.h"

#include <ctype.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "daemon/base/memory.h"
#include "daemon/base/text.h"

/* Writes the decoded text and its NUL at *at and moves *at past them. NULL when it cannot be decoded. */
static const char *decode(const char *raw, size_t length, bool plus_is_space, char **at)
{
	char *const start = *at;
	char *out = start;

	for (size_t i = 0; i < length; i++) {
		char c = raw[i];

		if (c == '%') {
			if (i + 2 >= length ||
			    sodium_hex2bin((unsigned char *)&c, 1, raw + i + 1, 2, NULL, NULL, NULL) != 0 ||
			    !c)
				return NULL;
			i += 2;
		} else if (c == '+' && plus_is_space) {
			c = ' ';
		} else if (c == '\0') {
			return NULL;
		}
		*out++ = c;
	}
	*out = '\0';
	*at = out + 1;
	return utf8_valid(start, (size_t)(out - start)) ? start : NULL;
}

static enum status refuse_target(struct error *err, const char *why)
{
	return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "Invalid request target: %s.", why);
}

static bool printable(const char *raw)
{
	for (const unsigned char *c = (const unsigned char *)raw; *c; c++)
		if (*c <= ' ' || *c == 0x7f || *c == '#')
			return false;
	return true;
}

/* Moves *raw of "http://host/path" to its path, and copies the authority to *at. */
static void authority_take(const char **raw, struct target *target, char **at)
{
	static const char *const schemes[] = { "http://", "https://" };

	for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
		size_t length = strlen(schemes[i]);
		size_t authority;

		if (strncasecmp(*raw, schemes[i], length) != 0)
			continue;
		*raw += length;
		authority = strcspn(*raw, "/?");
		target->authority = *at;
		memcpy(*at, *raw, authority);
		(*at)[authority] = '\0';
		*at += authority + 1;
		*raw += authority;
		return;
	}
}

/* Splits the last segment into stem and verb at its last colon that is not percent-encoded. False: it has none. */
static bool verb_take(const char *raw, size_t length, struct target *target, char **at)
{
	const char *colon = memrchr(raw, ':', length);

	if (!colon)
		return true;
	target->stem = decode(raw, (size_t)(colon - raw), false, at);
	target->verb = decode(colon + 1, length - (size_t)(colon - raw) - 1, false, at);
	return target->stem && target->verb;
}

static bool is_dots(const char *segment)
{
	return strcmp(segment, ".") == 0 || strcmp(segment, "..") == 0;
}

static bool path_split(const char *path, size_t length, struct target *target, char **at)
{
	const char *const end = path + length;

	target->path = decode(path + 1, length - 1, false, at);
	if (!target->path)
		return false;
	for (const char *segment = path + 1;; segment++) {
		const char *slash = memchr(segment, '/', (size_t)(end - segment));
		size_t segment_length = (size_t)((slash ? slash : end) - segment);
		const char *decoded = decode(segment, segment_length, false, at);

		if (!decoded || (!slash && !verb_take(segment, segment_length, target, at)))
			return false;
		target->has_dots |= is_dots(decoded);
		if (target->segment_count < SEGMENT_LIMIT)
			target->segments[target->segment_count++] = decoded;
		else
			target->too_deep = true;
		if (!slash)
			return true;
		segment = slash;
	}
}

enum status target_parse(const char *raw, struct target *ret_target, struct error *err)
{
	/* Room for the path, its segments, the stem and the verb of the last one, the authority and the query. The NUL of a
	 * segment takes the place of its slash. */
	const size_t raw_length = strlen(raw);
	struct target target = { .memory = memory_alloc(3 * raw_length + 8) };
	char *at = target.memory;
	size_t path_length;
	enum status rc = STATUS_OK;

	authority_take(&raw, &target, &at);
	path_length = strcspn(raw, "?");
	if (!printable(raw) || (target.authority && !printable(target.authority)))
		rc = refuse_target(err, "it holds a space, a control character or a fragment");
	else if (raw[0] != '/')
		rc = refuse_target(err, "it is not a path");
	else if (!path_split(raw, path_length, &target, &at))
		rc = refuse_target(err, "its path holds an escape or a character that cannot be read");
	if (rc) {
		target_deinit(&target);
		return rc;
	}
	raw += path_length;
	raw += *raw == '?';
	target.query = memcpy(at, raw, strlen(raw) + 1);
	*ret_target = target;
	return STATUS_OK;
}

void target_deinit(struct target *target)
{
	free(target->memory);
	*target = (struct target){ 0 };
}

enum status target_check_plain(const struct target *target, struct error *err)
{
	if (target->has_dots)
		return refuse_target(err, "its path holds a dot segment");
	if (target->too_deep)
		return error_set(err, STATUS_NOT_FOUND, NULL, "Method not found: the path is too deep.");
	return STATUS_OK;
}

static size_t pairs_bound(const char *raw, size_t length)
{
	size_t bound = 1;

	for (size_t i = 0; i < length; i++)
		bound += raw[i] == '&';
	return bound;
}

static enum status pair_add(struct query *query, const char *raw, size_t length, char **at, struct error *err)
{
	const char *equals = memchr(raw, '=', length);
	size_t name_length = equals ? (size_t)(equals - raw) : length;
	struct query_pair pair = {
		.name = decode(raw, name_length, true, at),
		.value = equals ? decode(equals + 1, length - name_length - 1, true, at) : "",
	};

	if (!pair.name || !pair.value)
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
				 "Invalid query: it holds an escape or a character that cannot be read.");
	query->pairs[query->count++] = pair;
	return STATUS_OK;
}

enum status query_parse(const char *raw, size_t length, struct query *ret_query, struct error *err)
{
	const size_t bound = pairs_bound(raw, length);
	struct query query = { 0 };
	enum status rc = STATUS_OK;
	char *at;

	if (length == 0) {
		*ret_query = query;
		return STATUS_OK;
	}
	if (bound > PAIR_LIMIT)
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
				 "Invalid query: more than %d parameters.", PAIR_LIMIT);
	query.memory = at = memory_alloc(length + 2 * bound);
	query.pairs = memory_calloc(bound, sizeof(*query.pairs));
	for (const char *pair = raw, *end = raw + length; !rc && pair < end; pair++) {
		const char *next = memchr(pair, '&', (size_t)(end - pair));
		size_t pair_length = (size_t)((next ? next : end) - pair);

		if (pair_length)
			rc = pair_add(&query, pair, pair_length, &at, err);
		pair += pair_length;
	}
	if (rc) {
		query_deinit(&query);
		return rc;
	}
	*ret_query = query;
	return STATUS_OK;
}

void query_deinit(struct query *query)
{
	free(query->memory);
	free(query->pairs);
	*query = (struct query){ 0 };
}

#define HEADER(header_name, is_single)                                                                       \
	{                                                                                                    \
		header_name, sizeof(header_name) - 1, is_single                                              \
	}

static const struct {
	const char *name;
	size_t length;
	bool single; /* a request that has it twice is refused */
} header_fields[HEADER_COUNT] = {
	[HEADER_AUTHORIZATION] = HEADER("Authorization", true),
	[HEADER_CONTENT_ENCODING] = HEADER("Content-Encoding", true),
	[HEADER_CONTENT_LENGTH] = HEADER("Content-Length", true),
	[HEADER_CONTENT_TYPE] = HEADER("Content-Type", true),
	[HEADER_EXPECT] = HEADER("Expect", true),
	[HEADER_FIELD_MASK] = HEADER("X-Goog-FieldMask", true),
	[HEADER_HOST] = HEADER("Host", true),
	[HEADER_METHOD_OVERRIDE] = HEADER("X-HTTP-Method-Override", true),
	[HEADER_ORIGIN] = HEADER("Origin", true),
	[HEADER_SEC_FETCH_SITE] = HEADER("Sec-Fetch-Site", true),
	[HEADER_TRANSFER_ENCODING] = HEADER("Transfer-Encoding", true),
	[HEADER_USER_AGENT] = HEADER("User-Agent", false),
};

/* How much of @name is a token. Source: RFC 9110 section 5.6.2 */
static size_t token_length(const char *name)
{
	size_t length = 0;

	while (isalnum((unsigned char)name[length]) ||
	       (name[length] && strchr("!#$%&'*+-.^_`|~", name[length])))
		length++;
	return length;
}

/* Whether the value has a control character. Some programs take a bare CR as the end of a line.
 * Source: RFC 9110 section 5.5, RFC 9112 section 2.2 */
static bool holds_control(const char *value)
{
	for (; *value; value++)
		if (((unsigned char)*value < ' ' && *value != '\t') || *value == 0x7f)
			return true;
	return false;
}

void head_add(struct head *head, const char *name, const char *value)
{
	const size_t length = token_length(name);

	head->malformed |= length == 0 || name[length] != '\0';
	head->controlled |= value && holds_control(value);
	for (size_t i = 0; i < HEADER_COUNT; i++) {
		if (length != header_fields[i].length ||
		    strncasecmp(name, header_fields[i].name, length) != 0)
			continue;
		if (!head->counts[i]++)
			head->values[i] = value ? value : "";
		return;
	}
}

bool header_name_valid(const char *name)
{
	return *name && name[token_length(name)] == '\0';
}

const char *head_find(const struct head *head, const char *name)
{
	for (size_t i = 0; i < HEADER_COUNT; i++)
		if (strcasecmp(name, header_fields[i].name) == 0)
			return head->values[i];
	return head->find ? head->find(head->find_arg, name) : NULL;
}

static enum status check_single(const struct head *head, struct error *err)
{
	for (size_t i = 0; i < HEADER_COUNT; i++)
		if (header_fields[i].single && head->counts[i] > 1)
			return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
					 "Invalid request: the header %s is given more than once.",
					 header_fields[i].name);
	return STATUS_OK;
}

static bool is_digits(const char *value)
{
	return *value && strspn(value, "0123456789") == strlen(value);
}

bool head_says_identity(const struct head *head)
{
	const char *length = head->values[HEADER_CONTENT_LENGTH];
	const char *coding = head->values[HEADER_TRANSFER_ENCODING];

	return length && coding && strcmp(length, "0") == 0 && strcasecmp(coding, "identity") == 0;
}

bool head_says_coding(const struct head *head)
{
	return head->values[HEADER_TRANSFER_ENCODING] != NULL;
}

enum status head_check_framing(const struct head *head, const char *version, enum framing framing,
			       struct error *err)
{
	const char *length = head->values[HEADER_CONTENT_LENGTH];
	const char *coding = head->values[HEADER_TRANSFER_ENCODING];
	const bool old = strcmp(version, "HTTP/1.0") == 0;
	enum status rc;

	if (!old && strcmp(version, "HTTP/1.1") != 0)
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "Invalid request: not HTTP/1.1.");
	if (head->torn)
		return error_set(
			err, STATUS_INVALID_ARGUMENT, NULL,
			"Invalid request: a line of its head holds a NUL, has no name or does not end with CR and LF.");
	if (head->malformed)
		return error_set(
			err, STATUS_INVALID_ARGUMENT, NULL,
			"Invalid request: the name of a header holds a character that no name may hold.");
	if (head->controlled)
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
				 "Invalid request: a header holds a control character.");
	if (head->folded)
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
				 "Invalid request: a header has more than one line.");
	rc = check_single(head, err);
	if (rc)
		return rc;
	if (!old && !head->values[HEADER_HOST])
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
				 "Invalid request: the header Host is missing.");
	if (head_says_identity(head))
		return STATUS_OK;
	if (length && coding && framing == FRAMING_STRICT)
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
				 "Invalid request: both Content-Length and Transfer-Encoding are given.");
	if (length && !is_digits(length))
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
				 "Invalid request: Content-Length is not a number.");
	if (coding && (old || strcasecmp(coding, "chunked") != 0))
		return error_set(err, STATUS_UNIMPLEMENTED, NULL,
				 "Transfer codings other than chunked are not implemented.");
	return STATUS_OK;
}

unsigned long long head_declared_bytes(const struct head *head)
{
	const char *length = head->values[HEADER_CONTENT_LENGTH];

	return length ? strtoull(length, NULL, 10) : 0;
}

bool head_says_gzip(const struct head *head)
{
	const char *coding = head->values[HEADER_CONTENT_ENCODING];

	return coding && (strcasecmp(coding, "gzip") == 0 || strcasecmp(coding, "x-gzip") == 0);
}

enum status head_check_coding(const struct head *head, enum refusal *ret_refusal, struct error *err)
{
	const char *coding = head->values[HEADER_CONTENT_ENCODING];

	if (!coding || !*coding || strcasecmp(coding, "identity") == 0 || head_says_gzip(head))
		return STATUS_OK;
	*ret_refusal = REFUSAL_MEDIA_TYPE;
	return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
			 "Unsupported Content-Encoding: a body may be sent plain or with gzip.");
}

/* Whether "; charset=..." is UTF-8, quoted or not, or missing. */
static bool charset_ok(const char *parameters)
{
	const char *charset = strcasestr(parameters, "charset=");
	size_t length;

	if (!charset)
		return true;
	charset += strlen("charset=");
	charset += *charset == '"';
	length = strcspn(charset, "\"; \t");
	return (length == 5 && strncasecmp(charset, "utf-8", 5) == 0) ||
	       (length == 4 && strncasecmp(charset, "utf8", 4) == 0);
}

/* The rest of @value after the media type @type; NULL: @value has another type. */
static const char *media_type_skip(const char *value, const char *type)
{
	const size_t length = strlen(type);

	value += strspn(value, " \t");
	if (strncasecmp(value, type, length) != 0)
		return NULL;
	value += length;
	value += strspn(value, " \t");
	return *value == '\0' || *value == ';' ? value : NULL;
}

bool media_type_named(const char *value, const char *type)
{
	return media_type_skip(value, type) != NULL;
}

bool media_type_is(const char *value, const char *type)
{
	const char *parameters = media_type_skip(value, type);

	return parameters && charset_ok(parameters);
}
