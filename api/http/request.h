/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/http/request.h: parses a request's target and head, and refuses ambiguous ones.
 *
 * The path is split at its raw slashes and colons first and decoded after that: %2F never makes a segment, %3A never
 * makes a verb, and no byte cuts the text short. Pure. Thread: any.
 * Source: RFC 3986 section 2 and 3, RFC 9112 section 3.2 and 6.3 */
#include <stdbool.h>
#include <stddef.h>

#include "daemon/base/error.h"

/* Errors that only HTTP has, with a code of their own; 0: the code follows from the canonical status. */
enum refusal {
	REFUSAL_BY_STATUS = 0,
	REFUSAL_METHOD_NOT_ALLOWED = 405,
	REFUSAL_TOO_LARGE = 413,
	REFUSAL_MEDIA_TYPE = 415,
};

enum { SEGMENT_LIMIT = 32, PAIR_LIMIT = 2000 };

struct target {
	char *memory;          /* owns the memory that the pointers below point into */
	const char *authority; /* "host:port" of an absolute-form target, NULL for the usual form */
	const char *path;      /* everything after the first slash, decoded */
	const char *segments[SEGMENT_LIMIT]; /* decoded; the first SEGMENT_LIMIT if the path is too deep */
	size_t segment_count;
	bool too_deep;     /* has more than SEGMENT_LIMIT segments: matches only rows that take the rest of a path */
	bool has_dots;     /* a segment is "." or "..": matches only rows that take the rest of a path */
	const char *stem;  /* the last segment up to its last raw colon, decoded; NULL: it has no colon */
	const char *verb;  /* the text after that colon, decoded */
	const char *query; /* the text after the question mark, raw; "": none */
};

/* Parses a request's target. INVALID_ARGUMENT: no path, a bad escape, %00, not UTF-8, a raw control character. Only
 * after OK must @ret_target be deinitialized. */
enum status target_parse(const char *raw, struct target *ret_target, struct error *err);
void target_deinit(struct target *target);
/* Call if routing found no row: refuses a path with dot segments (INVALID_ARGUMENT), or too deep a path (NOT_FOUND). */
enum status target_check_plain(const struct target *target, struct error *err);

struct query_pair {
	const char *name, *value; /* decoded; a name without "=" has the value "" */
};

struct query {
	char *memory;
	struct query_pair *pairs;
	size_t count;
};

/* Parses "a=b&c=d" of a target or of a form body; a plus means a space. Refuses the same texts as target_parse(). */
enum status query_parse(const char *raw, size_t length, struct query *ret_query, struct error *err);
void query_deinit(struct query *query);

enum header {
	HEADER_AUTHORIZATION,
	HEADER_CONTENT_ENCODING,
	HEADER_CONTENT_LENGTH,
	HEADER_CONTENT_TYPE,
	HEADER_EXPECT,
	HEADER_FIELD_MASK,
	HEADER_HOST,
	HEADER_METHOD_OVERRIDE,
	HEADER_ORIGIN,
	HEADER_SEC_FETCH_SITE,
	HEADER_TRANSFER_ENCODING,
	HEADER_USER_AGENT,
	HEADER_COUNT
};

typedef void (*head_seen)(void *arg, const char *name, const char *value);

struct head {
	const char *values[HEADER_COUNT]; /* the first value of each header, borrowed; NULL: absent */
	unsigned counts[HEADER_COUNT];
	bool malformed;  /* a header's name is not a token */
	bool controlled; /* a header's value has a control character */
	bool folded;     /* a header has several lines; RFC 9112 section 5.2 */
	bool torn;       /* its lines are not adjacent, so another program could see other line ends */
	/* Returns the value of the first header @name, for headers without an entry in @values; NULL: it is absent.
	 * @find itself is NULL if the head has only the headers in @values. */
	const char *(*find)(void *arg, const char *name);
	/* Calls @seen for each header. @each itself is NULL if the headers cannot be listed. */
	void (*each)(void *arg, head_seen seen, void *seen_arg);
	void *find_arg;
};

/* The first header @name, in any case; NULL if absent. */
const char *head_find(const struct head *head, const char *name);
/* True if @name is valid as the name of a header. */
bool header_name_valid(const char *name);

void head_add(struct head *head, const char *name, const char *value);

enum framing {
	/* a request with both a length and a transfer coding is refused: a proxy might see another end than we do */
	FRAMING_STRICT,
	/* with both, the transfer coding counts. Only for clients without a proxy: libcurl also sends a coding if the
	 * program sets the header Content-Length */
	FRAMING_CODING_WINS,
};

/* True if chunks determine the end of the body. libmicrohttpd lets a chunk's line end with a bare LF, and another
 * program may read the following bytes differently, so the connection must be closed after the answer; also if there
 * is a length too. Source: process_request_body() of its connection.c; RFC 9112 (6.1, 7.1.1) */
bool head_says_coding(const struct head *head);

/* True for "Content-Length: 0" with "Transfer-Encoding: identity", a coding without meaning that HTTP had before
 * 2014; TensorFlow sends it with requests without a body. Source: RFC 2616 (3.6), RFC 7230 (A.2). libmicrohttpd
 * treats any coding as a body without an end, so such a request is answered at once. */
bool head_says_identity(const struct head *head);

/* Checks the headers that determine where a request ends: an ambiguous head is refused, and its connection must not be
 * used again.
 * Outcomes: INVALID_ARGUMENT; UNIMPLEMENTED: a transfer coding other than chunked. */
enum status head_check_framing(const struct head *head, const char *version, enum framing framing,
			       struct error *err);
/* Refuses codings of the body other than gzip, with *ret_refusal. */
enum status head_check_coding(const struct head *head, enum refusal *ret_refusal, struct error *err);

/* Returns the value of Content-Length; 0 if it is absent. */
unsigned long long head_declared_bytes(const struct head *head);
bool head_says_gzip(const struct head *head);
/* True if @value is the media type @type, with or without parameters. */
bool media_type_named(const char *value, const char *type);
/* True if @value is the media type @type, with or without parameters; a charset must be UTF-8. */
bool media_type_is(const char *value, const char *type);
