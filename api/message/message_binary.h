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

/* INVALID_ARGUMENT with the path of the fault: malformed, unknown, nested more than 100 deep, or more than 250,000
 * values. @root as for message_read(). */
enum status message_from_binary(const struct message *message, const void *data, size_t length,
				const char *root, json_t **ret_value, struct error *err);

/* Appends the bytes of the object that is the text @json. @any: what a FIELD_ANY may hold, ends with NULL; others are written with
 * their name and a "value" in base64, which is what reading makes of them. Members that the table lacks are passed over.
 * INTERNAL: a value is of another type than its row says, or the text is no JSON object; @bytes has a part of it then. */
enum status message_to_binary(const struct message *message, const char *json,
			      const struct message *const *any, struct text *bytes, struct error *err);
