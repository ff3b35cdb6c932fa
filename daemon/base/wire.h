/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/base/wire.h: the fields of a protobuf message, one after the other.
 *
 * Choice: written by hand. protobuf-c and upb want code that is generated from the whole of TensorFlow's messages, or of
 * Vertex AI's, and build all of them in memory, graphs and pictures included, where six numbers and a name are wanted, or
 * where tables of the fields are there already; nanopb reads fields without generated code, but by callbacks, out of a
 * static archive that pkg-config does not know. What a reader of fields needs is a varint and four wire types.
 * Source: https://protobuf.dev/programming-guides/encoding/ (read 2026-11-22)
 * Pure; borrows the bytes, never reads past them. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum wire_type { WIRE_VARINT = 0, WIRE_64_BITS = 1, WIRE_BYTES = 2, WIRE_32_BITS = 5 };

struct wire {
	const uint8_t *at, *end;
	bool is_broken; /* what follows is no field */
};

struct wire_field {
	uint32_t number;
	enum wire_type type;
	uint64_t value;    /* of all types but bytes: the bits */
	struct wire bytes; /* of WIRE_BYTES */
};

/* The next field; false at the end, and where @wire is broken (groups are: no message read here has any). */
bool wire_next(struct wire *wire, struct wire_field *field);

/* The next element of a packed field with elements of @type; false likewise. */
bool wire_next_packed(struct wire *wire, enum wire_type type, uint64_t *ret_value);

static inline size_t wire_left(const struct wire *wire)
{
	return (size_t)(wire->end - wire->at);
}
