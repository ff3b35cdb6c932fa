/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/message/message_write.h: writes an answer as JSON, by the table of its message (message.h).
 *
 * The table determines a member's form: int64 in quotes, int32 bare, enums by name, timestamps in RFC 3339. The caller
 * only gives the member's name and value. A name that the table does not have, a value of another type, or an enum value
 * that is not in its list is a bug, and ends the program.
 *
 * Members come in the order of the calls. Absent (NULL, the time 0, a list or a map without elements) means: not written.
 * Text is appended directly; no tree is built.
 *
 * 	struct writer job = message_open(text, &ml_job);
 *
 * 	member_text(&job, "jobId", id);
 * 	member_time(&job, "createTime", created_us, TIME_SECONDS);
 * 	message_close(&job);
 *
 * An inner writer must be closed before the outer one is used again. Thread: any. */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct field;
struct message;
struct text;

struct writer {
	struct text *text;
	const struct message *message; /* NULL: a map or a free object, with any keys */
	const struct field *next;      /* search for names begins here: the field after the last one written */
	struct writer *outer; /* for a member that is left out if empty: the writer of the outer object, */
	const char *name;     /* and the member's name in that object; otherwise NULL */
	char opening, closing;
	bool has_members;
};

enum time_digits { TIME_SECONDS, TIME_MILLISECONDS, TIME_MICROSECONDS };

/* Writes the opening brace. @message: NULL: an object with any members. */
struct writer message_open(struct text *text, const struct message *message);
void message_close(struct writer *writer);

/* Begins a member that is a message, a map or an object with any members: it is written even if it stays empty. */
struct writer member_message(struct writer *writer, const char *name);
/* Begins a member that is a repeated field, a map or an object with any members: it is not written if it stays empty. */
struct writer member_list(struct writer *writer, const char *name);
struct writer member_map(struct writer *writer, const char *name);
struct writer element_message(struct writer *list);
/* Begins an element; the caller appends its JSON to the result. */
struct text *element_begin(struct writer *list);
void element_text(struct writer *list, const char *value);
void element_json(struct writer *list, const char *json, size_t length);

/* Writes a text, escaped. The value of an enum is checked. */
void member_text(struct writer *writer, const char *name, const char *value);
/* Writes a text that must not need escaping. */
void member_printf(struct writer *writer, const char *name, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void member_int(struct writer *writer, const char *name, int64_t value);
/* Writes at most 15 digits. */
void member_double(struct writer *writer, const char *name, double value);
void member_bool(struct writer *writer, const char *name, bool value);
void member_time(struct writer *writer, const char *name, int64_t wall_us, enum time_digits digits);
/* Writes a stored value, which must be canonical JSON, as it is. */
void member_json(struct writer *writer, const char *name, const char *json);
void member_value(struct writer *writer, const char *name, const json_t *value);
/* Writes a member; takes ownership of @value. */
void member_value_new(struct writer *writer, const char *name, json_t *value);
/* Writes all members of an object (NULL: {}), except those in @but (ends with NULL; may be NULL). */
void members_json(struct writer *writer, const char *object);
void members_value(struct writer *writer, const json_t *object, const char *const *but);

/* Writes the name and its colon; the caller appends the value to the result. */
struct text *member_begin(struct writer *writer, const char *name);
