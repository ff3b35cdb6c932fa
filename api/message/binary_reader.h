/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/message/binary_reader.h: the state of reading a binary message, and google.protobuf's own types.
 *
 * A field that occurs twice is merged: the second value is read on top of @earlier, so lists are continued, and of two
 * numbers, or two values of one key, the later counts. @earlier is borrowed; NULL: there is none. Each function returns
 * a new reference, or NULL after noting the fault.
 * Source: https://protobuf.dev/programming-guides/encoding/#last-one-wins (read 2026-11-22) */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/message/reader.h"
#include "daemon/base/wire.h"

/* The state of one reading. reader has the current path, and the fault that ended the reading. */
struct binary {
	struct reader reader;
	unsigned depth;
	size_t values;
};

/* Notes the fault "Invalid binary payload received. <what> at '<path>'."; returns NULL. */
json_t *binary_refuse(struct binary *binary, const char *what);
/* Counts one more value, and checks the number of values and the depth of nesting, which are limited: nesting costs
 * stack, and a small value costs much memory. False, after noting the fault: a limit is exceeded. */
bool binary_may_go_on(struct binary *binary);

json_t *binary_double(uint64_t bits);
json_t *binary_string(struct binary *binary, const struct wire *bytes);
/* Sets the member of @object. Takes ownership of @value, even after a failure. */
bool binary_member_set(struct binary *binary, json_t *object, const struct wire *key, json_t *value);

/* A map in binary form: a list of entries with key = 1 and value = 2. */
struct binary_map {
	json_t *(*decode)(struct binary *binary, const struct field *field, const struct wire_field *on_wire,
			  json_t *earlier);
	const struct field *field; /* for decode() */
	enum wire_type type;       /* for a value that was not sent: the wire type of its default */
};

/* Reads one entry of a map: returns its value, and sets *ret_key. A missing key is empty, a missing value the
 * default. */
json_t *binary_entry(struct binary *binary, struct wire entry, const struct binary_map *map,
		     struct wire *ret_key);

/* Reads a Duration, also one out of range, which message_read() refuses later. */
json_t *binary_duration(struct binary *binary, struct wire wire, const json_t *earlier);
json_t *binary_timestamp(struct binary *binary, struct wire wire, const json_t *earlier);
json_t *binary_mask(struct binary *binary, struct wire wire, const json_t *earlier);
json_t *binary_struct(struct binary *binary, struct wire wire, json_t *earlier);
json_t *binary_value(struct binary *binary, struct wire wire, json_t *earlier);
