/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/logs/log_line.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/json.h"
#include "scheduler/logs/log_fields.h"

void log_line_deinit(struct log_line *line)
{
	text_deinit(&line->payload);
	text_deinit(&line->extra);
	text_deinit(&line->insert_id);
	text_deinit(&line->wrapped);
}

/* Whether all bytes are ASCII and none is NUL. Checks eight bytes at a time, because most lines are plain. */
static bool is_plain(const char *data, size_t length)
{
	const uint64_t ones = 0x0101010101010101u, highs = 0x8080808080808080u;
	size_t i = 0;

	for (; i + 8 <= length; i += 8) {
		uint64_t word;

		memcpy(&word, data + i, 8);
		if ((word | (word - ones)) & highs)
			return false; /* a byte above 0x7f, or a zero byte (its subtraction borrows) */
	}
	for (; i < length; i++)
		if (data[i] == '\0' || (unsigned char)data[i] > 0x7f)
			return false;
	return true;
}

static void payload_take_made(struct log_line *line)
{
	line->record.payload = line->payload.data ? line->payload.data : "";
	line->record.payload_length = line->payload.length;
}

static void payload_take_text(struct log_line *line, const char *data, size_t length)
{
	line->record.kind = LOG_TEXT;
	line->record.payload = data;
	line->record.payload_length = length;
	if (is_plain(data, length) || (!memchr(data, '\0', length) && utf8_valid(data, length)))
		return;
	text_clean(&line->payload, data, length);
	payload_take_made(line);
}

/* True when brackets are nested no deeper than the reader should follow. */
static bool depth_is_bounded(const char *data, size_t length)
{
	unsigned depth = 0;
	bool in_string = false;

	for (size_t i = 0; i < length; i++) {
		char c = data[i];

		if (in_string) {
			i += c == '\\';
			in_string = c != '"';
		} else if (c == '"') {
			in_string = true;
		} else if (c == '{' || c == '[') {
			if (++depth > LOG_LINE_JSON_DEPTH_MAX)
				return false;
		} else if ((c == '}' || c == ']') && depth > 0) {
			depth--;
		}
	}
	return true;
}

static json_t *object_parse(const char *data, size_t length)
{
	json_t *object;

	if (length > LOG_LINE_JSON_BYTES_MAX || !depth_is_bounded(data, length))
		return NULL;
	object = json_parse_foreign(data, length, 0, NULL);
	if (json_is_object(object))
		return object;
	json_decref(object);
	return NULL;
}

static void extra_lift(struct log_line *line, json_t *object)
{
	AUTO(json) json_t *extra = json_object();

	log_members_lift(object, extra, line->project);
	if (json_object_size(extra) == 0)
		return;
	json_write(&line->extra, extra);
	line->record.extra = line->extra.data;
}

static void insert_id_lift(struct log_line *line, json_t *object)
{
	static const char key[] = "logging.googleapis.com/insertId";
	const json_t *id = json_object_get(object, key);

	/* The service accepts ids of at most 512 characters. */
	if (!json_is_string(id) || json_string_length(id) == 0 || json_string_length(id) > 512)
		return;
	text_append(&line->insert_id, json_string_value(id), json_string_length(id));
	line->record.insert_id = line->insert_id.data;
	json_object_del(object, key);
}

/* Readers of a message expect a text; gcloud stops with an error at anything else. */
static void message_normalize(json_t *object)
{
	const json_t *message = json_object_get(object, "message");

	if (!message || json_is_string(message))
		return;
	AUTO(string) char *text = json_dump_compact(message);

	json_object_set_new(object, "message", json_string(text));
}

static void payload_take_object(struct log_line *line, json_t *object)
{
	const json_t *message;

	message_normalize(object);
	json_struct_numbers(object);
	message = json_object_get(object, "message");
	line->record.kind = message && json_object_size(object) == 1 ? LOG_TEXT : LOG_JSON;
	if (line->record.kind == LOG_TEXT)
		text_append(&line->payload, json_string_value(message), json_string_length(message));
	else
		json_write(&line->payload, object);
	payload_take_made(line);
}

static void line_end_cut(const char *data, size_t *length)
{
	if (*length > 0 && data[*length - 1] == '\n')
		--*length;
	if (*length > 0 && data[*length - 1] == '\r')
		--*length;
}

static bool starts_object(const char *data, size_t length)
{
	size_t at = 0;

	while (at < length && (data[at] == ' ' || data[at] == '\t'))
		at++;
	return at < length && data[at] == '{';
}

void log_line_read(struct log_line *line, const char *data, size_t length, int stream, int64_t time_ns)
{
	struct log_record *record = &line->record;
	AUTO(json) json_t *object = NULL;

	text_renew(&line->payload, LOG_LINE_JSON_BYTES_MAX);
	text_renew(&line->extra, LOG_LINE_JSON_BYTES_MAX);
	text_renew(&line->insert_id, LOG_LINE_JSON_BYTES_MAX);
	record->time_ns = time_ns;
	record->severity = stream == 2 ? SEVERITY_ERROR : SEVERITY_INFO;
	record->insert_id = record->extra = NULL;
	record->dated = false;
	line_end_cut(data, &length);
	if (starts_object(data, length))
		object = object_parse(data, length);
	line->is_object = object;
	if (!object) {
		payload_take_text(line, data, length);
		return;
	}
	log_severity_lift(object, &record->severity);
	/* Times of up to a day ahead are accepted. Source: LogEntry.timestamp. Choice: all times in the past are
	 * accepted, too, because tests write old logs; the service drops entries that are older than their retention. */
	record->dated = log_time_lift(object, time_ns + LOG_LINE_AHEAD_NS, &record->time_ns);
	insert_id_lift(line, object);
	extra_lift(line, object);
	payload_take_object(line, object);
}

void log_line_wrap(struct log_line *line, const char *task_name)
{
	struct log_record *record = &line->record;
	struct text *text = &line->wrapped;

	if (record->kind != LOG_TEXT)
		return;
	text_renew(text, LOG_LINE_JSON_BYTES_MAX);
	text_puts(text, "{\"message\":");
	text_json(text, record->payload, record->payload_length);
	if (!line->is_object) {
		const int64_t created_us = llabs(record->time_ns / 1000);

		text_printf(text,
			    ",\"levelname\":\"%s\",\"attrs\":{\"tag\":", log_severity_name(record->severity));
		text_json(text, task_name, strlen(task_name));
		text_printf(text, "},\"created\":%s%" PRId64 ".%06" PRId64, record->time_ns < 0 ? "-" : "",
			    created_us / 1000000, created_us % 1000000);
	}
	text_putc(text, '}');
	record->kind = LOG_JSON;
	record->payload = text->data;
	record->payload_length = text->length;
}
