/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/message/binary_writer.h: the pieces of protobuf's binary form, appended to a text.
 *
 * A part is the value of a field that is a message, a string or bytes: its length stands before it.
 * Pure. Thread: any. Source: https://protobuf.dev/programming-guides/encoding/ (read 2026-11-22) */
#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/text.h"
#include "daemon/base/wire.h"

void wire_key_write(struct text *bytes, unsigned number, enum wire_type type);
void wire_varint_field_write(struct text *bytes, unsigned number, uint64_t value);
void wire_double_field_write(struct text *bytes, unsigned number, double value);

/* What is appended from here to wire_part_end() is the value of field @number. Returns where it begins. */
size_t wire_part_begin(struct text *bytes, unsigned number);
void wire_part_end(struct text *bytes, size_t begin);
/* Takes back what was written behind @length. */
void wire_part_drop(struct text *bytes, size_t length);

/* The fields of google.protobuf's Duration, Timestamp and FieldMask, from the text that JSON has for them. False: it is none. */
bool wire_duration_write(const char *text, struct text *bytes);
bool wire_timestamp_write(const char *text, struct text *bytes);
bool wire_mask_write(const char *text, struct text *bytes);
