/* SPDX-License-Identifier: Apache-2.0 */
#include "api/message/message.h"

#include "api/message/refusal.h"
#include "api/message/syntax.h"
#include "daemon/base/json.h"
#include "daemon/base/memory.h"

/* How much of the body the front end shows on either side of an error. */
enum { SHOWN_BYTES = 20 };

static bool continues_character(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

/* The part of the line around @at that is shown: [*ret_from, *ret_to). */
static void shown_part(const char *data, size_t length, size_t at, size_t *ret_from, size_t *ret_to)
{
	size_t from = at, to = at;

	while (from > 0 && at - from < SHOWN_BYTES && data[from - 1] != '\n')
		from--;
	while (from < at && continues_character(data[from]))
		from++;
	while (to < length && to - at < SHOWN_BYTES && data[to] != '\n' && data[to] != '\r')
		to++;
	while (to < length && to > at && continues_character(data[to]))
		to--;
	*ret_from = from;
	*ret_to = to;
}

/* Sets the error "Invalid JSON payload received. <text>", with the line and a caret below the
 * position. It names no field, so the answer has no details. */
static enum status syntax_error(const char *data, size_t length, const char *text, size_t at,
				struct error *err)
{
	struct text shown AUTO_TEXT = { 0 };
	struct text blanks AUTO_TEXT = { 0 };
	size_t from, to;

	if (at > length)
		at = length;
	shown_part(data, length, at, &from, &to);
	text_append(&shown, data + from, to - from);
	text_append(&blanks, "", 0);
	for (size_t i = from; i < at; i++)
		if (!continues_character(data[i]))
			text_putc(&blanks, ' ');
	return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "Invalid JSON payload received. %s\n%s\n%s^",
			 text, shown.data, blanks.data);
}

enum status message_parse_body(const char *data, size_t length, json_t **ret_value, struct error *err)
{
	struct text standard AUTO_TEXT = { 0 };
	struct syntax_fault fault;
	json_error_t problem = { 0 };
	json_t *value;

	memory_holds_json(length);
	if (length == 0)
		value = json_object();
	else if (!syntax_check(data, length, &standard, &fault))
		return syntax_error(data, length, fault.text, fault.at, err);
	else if (standard.length)
		value = json_parse_foreign(standard.data, standard.length, JSON_DECODE_ANY, &problem);
	else
		value = json_parse_foreign(data, length, JSON_DECODE_ANY, &problem);
	if (!value)
		return syntax_error(data, length, "Unable to parse.", 0, err);
	if (!json_is_object(value)) {
		json_decref(value);
		if (err)
			error_deinit(err);
		return refusal_add_transcoding(
			err, NULL,
			"Invalid JSON payload received. Unknown name \"\": Root element must be a message.");
	}
	*ret_value = value;
	return STATUS_OK;
}
