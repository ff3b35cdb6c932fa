/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/message/message.h: API messages described as tables, and the one reader of them.
 *
 * A message is a table of fields in the order of their numbers on the wire. message_read() takes what a client sent
 * (protobuf's JSON, lowerCamelCase and snake_case freely mixed) and returns the canonical form: camelCase members in
 * table order, int64 as strings, durations and timestamps normalized, bytes in standard base64, defaults (zero, "",
 * false, empty, enum 0) dropped, output-only fields dropped. Messages that were set stay, even if empty, because they
 * have presence; so do durations and times. Doubles stay integers or reals as given, or the strings "NaN", "Infinity",
 * "-Infinity". The store keeps this form, the rules read it, and answers show it.
 *
 * A single value counts as a list of one where a list is expected. An enum is given by name or by one of its numbers,
 * which may be in quotes; other numbers are refused. A bool may be in quotes. null means unset: it adds no element to a
 * list, and makes the value of a map's entry empty. A second member of a oneof is a fault, whatever its value and
 * spelling. At most the first hundred faults of a request are reported.
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
	FIELD_STRUCT,    /* any JSON object; its numbers become doubles, unless the field has the flag FIELD_ANY */
	FIELD_VALUE,     /* any JSON value; its numbers are doubles as well */
	FIELD_ENUM,      /* of an enum_type */
	FIELD_MESSAGE,   /* of a message */
};

enum field_flag {
	FIELD_REPEATED = 1 << 0,
	FIELD_MAP = 1 << 1,         /* object: string keys to values of the type */
	FIELD_OUTPUT_ONLY = 1 << 2, /* its type is checked, then it is ignored */
	FIELD_REQUIRED = 1
		<< 3, /* only for the documentation: the family's rules check it, with their own texts */
	FIELD_IMMUTABLE = 1 << 4,
	FIELD_PRESENCE = 1 << 5, /* unset and default differ, so a default value is kept */
	/* For the binary form only (message_binary.h): */
	FIELD_WRAPPED = 1
		<< 10, /* in binary form the value is a message like google.protobuf.Int32Value */
	FIELD_ANY = 1 << 11, /* a FIELD_STRUCT with "@type" is google.protobuf.Any */
};

/* The number of an enum value without a published number: clients can use only its name. */
#define ENUM_BY_NAME INT_MIN

struct enum_value {
	const char *name;
	int number;       /* in binary form; may have gaps; or ENUM_BY_NAME */
	const char *help; /* as in struct field */
};

struct enum_type {
	const char *full_name;           /* "google.cloud.ml.v1.TrainingInput.ScaleTier" */
	const struct enum_value *values; /* the value with number 0 is the default; ends with a NULL name */
	bool is_own;                     /* as in struct message */
	/* for parameters of Cloud Storage: names match in any case, numbers are refused, and the refusal lists the
	 * names */
	bool any_case;
};

struct message;

struct field {
	const char *name; /* lowerCamelCase */
	enum field_type type;
	unsigned flags;
	const struct enum_type *enum_type; /* FIELD_ENUM */
	const struct message *message;     /* FIELD_MESSAGE */
	const char *help;  /* the meaning in our own words, for the discovery document (discovery.h) */
	unsigned number;   /* in protobuf's binary form; 0: unknown */
	const char *oneof; /* the group of fields of which at most one is set: "task"; NULL: none */
};

struct message {
	const char *full_name;      /* "google.cloud.ml.v1.TrainingInput" */
	const struct field *fields; /* ends with a NULL name */
	const char *help;
	/* Names of fields that the service's message has and trainyard never sets: masks may name them. Ends with
	 * NULL. NULL: there are none. */
	const char *const *unset;
	/* A message of trainyard's own API, not of the emulated service. An error about an unknown name then has the
	 * service's text, and after it the list of the valid names. */
	bool is_own;
};

/* Parses the bytes of a body, which may be slightly less strict than JSON (syntax.h). Syntax errors have the front
 * end's words ("Invalid JSON payload received. …" with the wrong line and a line with a caret). The last of
 * duplicate keys counts. An empty body means {}. The top level must be an object. Nesting is bounded (100). */
enum status message_parse_body(const char *data, size_t length, json_t **ret_value, struct error *err);

/* Reads @value as @message into canonical form. All faults are collected before it returns
 * INVALID_ARGUMENT (transcoding violations with their paths). @root is the path of @value itself in
 * messages: "job" for a body bound to a request's field `job`, "" for one bound to the request. */
enum status message_read(const struct message *message, const json_t *value, const char *root,
			 json_t **ret_canonical, struct error *err);

/* Reads query parameters: @pairs is an array of [name, value] string pairs in request order, with both spellings of
 * names. Nested fields are written a.b. If a field that is not a list occurs several times, the last counts. Unknown
 * names get the text "Cannot bind query parameter". */
enum status message_read_query(const struct message *message, const json_t *pairs, json_t **ret_canonical,
			       struct error *err);
/* True if the query parameter @name is a field of @message, or of a message in it. */
bool message_query_knows(const struct message *message, const char *name);
/* True if the query parameter @name has a meaning without a value: it is a string with field presence. */
bool message_query_marks(const struct message *message, const char *name);

/* Returns a copy of a canonical value with snake_case names, the form in which the service passes a job's input to
 * its replicas. */
json_t *message_to_snake(const struct message *message, const json_t *canonical);

/* Returns the name of an enum value; NULL: the enum has no such number, or @number is ENUM_BY_NAME. */
const char *enum_name(const struct enum_type *type, int number);
/* Finds the number of an enum value by its name, which is case-sensitive. False: there is none. */
bool enum_number(const struct enum_type *type, const char *name, int *ret_number);

/* Writes the error about an invalid mask: @path is the first path that names no field ("jobs.nosuch"), @name the first
 * wrong name in it; both are NULL if @mask is malformed. Sets *err (may be NULL) and returns INVALID_ARGUMENT. */
typedef enum status (*mask_refusal)(const char *mask, const char *path, const char *name, struct error *err);

/* Checks the mask of a partial response (`fields=jobs(jobId,state),nextPageToken`, a/b, *): each of its paths must name
 * a field of @message, in camelCase or snake_case, whether or not the answer has that field. Names in a map or in a
 * FIELD_STRUCT are not checked. @message: NULL: any name is accepted. @refuse: writes the error; NULL: it has the text
 * of the service's front end. */
enum status fields_mask_check(const struct message *message, const char *mask, mask_refusal refuse,
			      struct error *err);
/* Appends the parts of @json that @mask names, in one pass; compact text stays compact. A path that matches nothing
 * selects nothing; a part is kept if any of the paths selects it. Objects that lose all their members are dropped,
 * except elements of arrays and the value itself. INTERNAL: it is not JSON. */
enum status fields_mask_write(struct text *text, const char *mask, const char *json, struct error *err);
