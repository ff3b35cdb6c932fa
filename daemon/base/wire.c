/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/base/wire.h"

static bool refuse(struct wire *wire)
{
	wire->is_broken = true;
	return false;
}

/* Reads a varint of at most ten bytes. Bits beyond the 64th are dropped, as in protobuf. */
static bool varint_read(struct wire *wire, uint64_t *ret_value)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 70 && wire->at < wire->end; shift += 7) {
		const uint8_t byte = *wire->at++;

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte & 0x80)
			continue;
		*ret_value = value;
		return true;
	}
	return refuse(wire);
}

/* Little-endian. */
static bool fixed_read(struct wire *wire, size_t size, uint64_t *ret_value)
{
	uint64_t value = 0;

	if (wire_left(wire) < size)
		return refuse(wire);
	for (size_t i = 0; i < size; i++)
		value |= (uint64_t)wire->at[i] << 8 * i;
	wire->at += size;
	*ret_value = value;
	return true;
}

static bool bytes_read(struct wire *wire, struct wire *ret_bytes)
{
	uint64_t length;

	if (!varint_read(wire, &length))
		return false;
	if (length > wire_left(wire))
		return refuse(wire);
	*ret_bytes = (struct wire){ .at = wire->at, .end = wire->at + length };
	wire->at += length;
	return true;
}

static bool value_read(struct wire *wire, enum wire_type type, uint64_t *ret_value)
{
	switch (type) {
	case WIRE_VARINT:
		return varint_read(wire, ret_value);
	case WIRE_64_BITS:
		return fixed_read(wire, 8, ret_value);
	case WIRE_32_BITS:
		return fixed_read(wire, 4, ret_value);
	case WIRE_BYTES:
		break;
	}
	return refuse(wire);
}

bool wire_next(struct wire *wire, struct wire_field *field)
{
	uint64_t key;

	if (wire->is_broken || wire->at == wire->end || !varint_read(wire, &key))
		return false;
	if (key >> 3 == 0 || key > UINT32_MAX)
		return refuse(wire);
	field->number = (uint32_t)(key >> 3);
	field->type = (enum wire_type)(key & 7);
	if (field->type == WIRE_BYTES)
		return bytes_read(wire, &field->bytes);
	return value_read(wire, field->type, &field->value);
}

bool wire_next_packed(struct wire *wire, enum wire_type type, uint64_t *ret_value)
{
	return !wire->is_broken && wire->at < wire->end && value_read(wire, type, ret_value);
}
