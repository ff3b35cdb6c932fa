/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/message/binary_writer.h: appends the pieces of protobuf's binary form to a text.
 *
 * A part is the value of a field that is a message, a string or bytes; its length precedes it. Pure. Thread: any.
 * Source: https://protobuf.dev/programming-guides/encoding/ (read 2026-11-22) */
#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/text.h"
#include "daemon/base/wire.h"

void wire_key_write(struct text *bytes, unsigned number, enum wire_type type);
void wire_varint_field_write(struct text *bytes, unsigned number, uint64_t value);
void wire_double_field_write(struct text *bytes, unsigned number, double value);

/* Begins the value of field @number: all bytes appended until wire_part_end() belong to it. Returns the position
 * where it begins. */
size_t wire_part_begin(struct text *bytes, unsigned number);
void wire_part_end(struct text *bytes, size_t begin);
/* Removes all bytes after the first @length. */
void wire_part_drop(struct text *bytes, size_t length);

/* Write the fields of google.protobuf's Duration, Timestamp and FieldMask from their text in JSON. False: the text
 * is malformed. */
bool wire_duration_write(const char *text, struct text *bytes);
bool wire_timestamp_write(const char *text, struct text *bytes);
bool wire_mask_write(const char *text, struct text *bytes);
