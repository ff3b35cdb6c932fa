/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/base/wire.h: iterates over the fields of a protobuf message.
 *
 * Choice: written by hand. protobuf-c and upb need code generated from all messages of TensorFlow or Vertex AI, and
 * build whole messages in memory, with all graphs and pictures; but the callers here need only six numbers and a name,
 * or have tables of the fields already. nanopb reads fields without generated code, but through callbacks, and is a
 * static library that pkg-config does not find. To read fields, a varint and four wire types are enough.
 * Source: https://protobuf.dev/programming-guides/encoding/ (read 2026-11-22) Pure; borrows the bytes, never reads past
 * them. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum wire_type { WIRE_VARINT = 0, WIRE_64_BITS = 1, WIRE_BYTES = 2, WIRE_32_BITS = 5 };

struct wire {
	const uint8_t *at, *end;
	bool is_broken; /* the next bytes are not a field */
};

struct wire_field {
	uint32_t number;
	enum wire_type type;
	uint64_t value;    /* the bits of all types except bytes */
	struct wire bytes; /* the content, if type is WIRE_BYTES */
};

/* Reads the next field. Returns false at the end, or if @wire is broken. Groups count as broken, because no message read
 * here has any. */
bool wire_next(struct wire *wire, struct wire_field *field);

/* Reads the next element of a packed field with elements of @type. Returns false at the end, or if @wire is broken. */
bool wire_next_packed(struct wire *wire, enum wire_type type, uint64_t *ret_value);

static inline size_t wire_left(const struct wire *wire)
{
	return (size_t)(wire->end - wire->at);
}
