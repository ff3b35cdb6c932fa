/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/message/message_binary.h: messages in protobuf's binary form, by the same tables.
 *
 * Reading gives protobuf's JSON, as if a client had sent JSON: message_read() then checks the values. Writing takes the
 * JSON of answers: canonical, or nearly. Only rows with a number take part.
 *
 * Choice: a field that the table lacks is refused, although protobuf itself would keep it, because trainyard could not
 * act on it. Pure. Thread: any.
 * Source: https://protobuf.dev/programming-guides/encoding/ (read 2026-11-22) */
#include <jansson.h>
#include <stddef.h>

#include "api/message/message.h"
#include "daemon/base/error.h"
#include "daemon/base/text.h"

/* Reads a binary message. INVALID_ARGUMENT, with the path of the fault: malformed, unknown field, nested more than
 * 100 deep, or more than 250,000 values. @root: see message_read(). */
enum status message_from_binary(const struct message *message, const void *data, size_t length,
				const char *root, json_t **ret_value, struct error *err);

/* Appends the binary form of @json, the text of an object. @any: the messages that a FIELD_ANY may contain, ends
 * with NULL; other messages are written as their name and a "value" in base64, the form that reading gives them.
 * Members without a row in the table are left out. INTERNAL: a value has another type than its row, or @json is not
 * an object; @bytes may then have a part of it. */
enum status message_to_binary(const struct message *message, const char *json,
			      const struct message *const *any, struct text *bytes, struct error *err);
