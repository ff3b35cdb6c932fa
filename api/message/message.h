/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/message/message.h: API messages described as tables, and the one reader of them.
 *
 * A message is a table of fields in the order of their numbers on the wire. message_read() takes what
 * a client sent (protobuf's JSON, lowerCamelCase and snake_case freely mixed) and gives the canonical
 * form: camelCase members in table order, int64 as strings, durations and timestamps normal, bytes in
 * standard base64, defaults (zero, "", false, empty, enum 0) dropped, output-only fields dropped. Set
 * messages stay, even empty, for they have presence; so do durations and times. Doubles stay integers
 * or reals as given, or the strings "NaN", "Infinity", "-Infinity". That form is what the store keeps,
 * the rules read and the answers show.
 *
 * A single value where a list is expected is a list of one. An enum is given by name or by a number it has, which may be
 * in quotes; other numbers are refused. A bool may be in quotes. null is unset: it is no element of a list, and the
 * value of a map's entry is empty then. A second member of a oneof is a fault, whatever its value and in whichever
 * spelling.
 * At most the first hundred faults of a request are told.
 *
 * Pure. Thread: any (tables are constant).
 * Source: https://protobuf.dev/programming-guides/json/ (read 2026-11-20) */
#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "daemon/base/error.h"
#include "daemon/base/json.h"

enum field_type {
	FIELD_STRING,
	FIELD_BOOL,
	FIELD_INT32,
	FIELD_INT64, /* travels as a string */
	FIELD_DOUBLE,
	FIELD_BYTES,     /* base64 */
	FIELD_DURATION,  /* "3.5s" */
	FIELD_TIMESTAMP, /* RFC 3339 */
	FIELD_MASK,      /* "labels,etag": canonical form is lowerCamelCase paths joined by commas */
	FIELD_STRUCT,    /* any JSON object, kept as it is */
	FIELD_VALUE,     /* any JSON value, kept as it is */
	FIELD_ENUM,      /* of an enum_type */
	FIELD_MESSAGE,   /* of a message */
};

enum field_flag {
	FIELD_REPEATED = 1 << 0,
	FIELD_MAP = 1 << 1,         /* object: string keys to values of the type */
	FIELD_OUTPUT_ONLY = 1 << 2, /* read as far as its type allows, then ignored */
	FIELD_REQUIRED =
		1 << 3, /* documentation of the field; the family's rules say it in their own words */
	FIELD_IMMUTABLE = 1 << 4,
	FIELD_PRESENCE = 1 << 5, /* set and unset differ: a default is kept */
	/* Of the binary form alone (message_binary.h): */
	FIELD_WRAPPED =
		1 << 10, /* the value is in a message of its own: google.protobuf.Int32Value and its like */
	FIELD_ANY = 1 << 11, /* a FIELD_STRUCT with "@type" is google.protobuf.Any */
};

/* The number of a value that no public source tells: clients can only name it. */
#define ENUM_BY_NAME INT_MIN

struct enum_value {
	const char *name;
	int number;       /* on the wire, which may have gaps; ENUM_BY_NAME */
	const char *help; /* like a field's */
};

struct enum_type {
	const char *full_name;           /* "google.cloud.ml.v1.TrainingInput.ScaleTier" */
	const struct enum_value *values; /* the one numbered 0 is the default; ends with a NULL name */
	bool is_own;                     /* as a message's */
};

struct message;

struct field {
	const char *name; /* lowerCamelCase */
	enum field_type type;
	unsigned flags;
	const struct enum_type *enum_type; /* FIELD_ENUM */
	const struct message *message;     /* FIELD_MESSAGE */
	const char *help;  /* what it means, in our own words, for the discovery document (discovery.h) */
	unsigned number;   /* in protobuf's binary form; 0: not known */
	const char *oneof; /* the group of fields of which one at most is set: "task"; NULL: none */
};

struct message {
	const char *full_name;      /* "google.cloud.ml.v1.TrainingInput" */
	const struct field *fields; /* ends with a NULL name */
	const char *help;
	/* Names of fields that the service's message has and nothing here sets, so that a mask may name them; ends with NULL.
	 * NULL: there are none. */
	const char *const *unset;
	bool is_own; /* no message of the service: a refusal names what there is, rather than in the front end's words alone */
};

/* Parses the bytes of a body, which may be a little less strict than JSON (syntax.h). Syntax errors get the front end's words ("Invalid JSON payload received. …"
 * with the offending line and a caret line). Duplicate keys: the last wins. Zero bytes give {}.
 * Top level must be an object. Nesting is bounded (100). */
enum status message_parse_body(const char *data, size_t length, json_t **ret_value, struct error *err);

/* Reads @value as @message into canonical form. All faults are collected before it returns
 * INVALID_ARGUMENT (transcoding violations with their paths). @root is the path of @value itself in
 * messages: "job" for a body bound to a request's field `job`, "" for one bound to the request. */
enum status message_read(const struct message *message, const json_t *value, const char *root,
			 json_t **ret_canonical, struct error *err);

/* Reads query parameters: @pairs is an array of [name, value] string pairs in request order, still
 * with both spellings of names. Nested fields are written a.b. A repeated parameter of a field that is
 * not repeated: the last wins. Unknown ones get "Cannot bind query parameter" words. */
enum status message_read_query(const struct message *message, const json_t *pairs, json_t **ret_canonical,
			       struct error *err);
/* Whether a query parameter @name is a field of @message, or one inside of such. */
bool message_query_knows(const struct message *message, const char *name);
/* Whether a query parameter @name has a meaning without a value: a text with field presence. */
bool message_query_marks(const struct message *message, const char *name);

/* A copy of a canonical value with snake_case names, as the service repeats a job's input to its replicas. */
json_t *message_to_snake(const struct message *message, const json_t *canonical);

/* The name of a value, or NULL when the enum has no such number, or the number is ENUM_BY_NAME. */
const char *enum_name(const struct enum_type *type, int number);
/* False when the enum has no such name; names are compared by case. */
bool enum_number(const struct enum_type *type, const char *name, int *ret_number);

/* Words the refusal of a mask: @path is the first path that names no field ("jobs.nosuch"), @name its first name that is
 * none; both are NULL where @mask is malformed. Sets *err (may be NULL) and returns INVALID_ARGUMENT. */
typedef enum status (*mask_refusal)(const char *mask, const char *path, const char *name, struct error *err);

/* Partial responses (`fields=jobs(jobId,state),nextPageToken`, a/b, *): every path of @mask has to name a field of
 * @message, in either spelling, whatever the value at hand has. NULL: any name may be a field. What stands below a map or
 * a free object is not looked at. @refuse: NULL: in the front end's words. */
enum status fields_mask_check(const struct message *message, const char *mask, mask_refusal refuse,
			      struct error *err);
/* A path that names nothing in the value selects nothing; of two paths, what either names is kept. Appends what @mask names of @json: one pass over the text, which is compact where it was. Objects that lose all
 * their members go, but for elements of arrays and the value itself. INTERNAL: it is no JSON. */
enum status fields_mask_write(struct text *text, const char *mask, const char *json, struct error *err);
