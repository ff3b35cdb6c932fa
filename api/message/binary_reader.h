/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/message/binary_reader.h: what the reading of a binary message carries from field to field, and google.protobuf's own
 * types.
 *
 * What comes twice is both of them: the second one is read on top of @earlier, so that lists go on, and of two values of a
 * number or a key the later one counts. @earlier is borrowed; NULL: there is none. Each gives a new reference, or NULL after
 * the fault was noted.
 * Source: https://protobuf.dev/programming-guides/encoding/#last-one-wins (read 2026-11-22) */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/message/reader.h"
#include "daemon/base/wire.h"

/* One reading. The reader carries the path and the one fault that ends it. */
struct binary {
	struct reader reader;
	unsigned depth;
	size_t values;
};

/* "Invalid binary payload received. <what> at '<path>'."; NULL. */
json_t *binary_refuse(struct binary *binary, const char *what);
/* Each level costs stack, each value memory that has nothing to do with its bytes. False: that was too many. */
bool binary_may_go_on(struct binary *binary);

json_t *binary_double(uint64_t bits);
json_t *binary_string(struct binary *binary, const struct wire *bytes);
/* Steals @value. */
bool binary_member_set(struct binary *binary, json_t *object, const struct wire *key, json_t *value);

/* An entry: key = 1, value = 2, the form of every map. */
struct binary_map {
	json_t *(*decode)(struct binary *binary, const struct field *field, const struct wire_field *on_wire,
			  json_t *earlier);
	const struct field *field; /* for decode() */
	enum wire_type type;       /* of a value that was not sent: its type's default */
};

/* The value. */
json_t *binary_entry(struct binary *binary, struct wire entry, const struct binary_map *map,
		     struct wire *ret_key);

/* What is out of range is left for message_read() to say. */
json_t *binary_duration(struct binary *binary, struct wire wire, const json_t *earlier);
json_t *binary_timestamp(struct binary *binary, struct wire wire, const json_t *earlier);
json_t *binary_mask(struct binary *binary, struct wire wire, const json_t *earlier);
json_t *binary_struct(struct binary *binary, struct wire wire, json_t *earlier);
json_t *binary_value(struct binary *binary, struct wire wire, json_t *earlier);
