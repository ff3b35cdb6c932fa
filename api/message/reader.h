/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/message/reader.h: the state of reading a message.
 *
 * Faults are collected in the order of the body, up to FAULTS_MAX of them. */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "api/message/message.h"
#include "daemon/base/error.h"
#include "daemon/base/text.h"

/* Choice: reports only the first hundred faults, because a body may have a million wrong names. */
enum { FAULTS_MAX = 100, SHOWN_VALUE_BYTES = 200 };

struct reader {
	struct error err;
	size_t fault_count;
	struct text path; /* of the current value: "job.training_input.args[0]" */
};

void reader_init(struct reader *reader, const char *root);
/* Moves the faults to @err and frees the reader's memory. Returns STATUS_OK if there were none. */
enum status reader_finish(struct reader *reader, struct error *err);
bool reader_failed(const struct reader *reader);

/* Extends the path. Returns its previous length, for reader_leave(). */
size_t reader_enter(struct reader *reader, const char *camel);
size_t reader_enter_index(struct reader *reader, size_t index);
void reader_leave(struct reader *reader, size_t length);

/* Adds `Invalid JSON payload received. Unknown name "<name>" at '<path>': <why>`. */
void reader_refuse_name(struct reader *reader, const char *name, const char *why);
/* As the function above, for an unknown name in one of trainyard's own messages: also lists the valid names. */
void reader_refuse_own_name(struct reader *reader, const struct message *message, const char *name);
/* Adds `Invalid value at '<path>' (<type>), <what>`. */
void reader_refuse(struct reader *reader, const char *type, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Refuses @value, written as the front end does: "abc", 3.5, true. */
void reader_refuse_value(struct reader *reader, const char *type, const json_t *value);
/* As the function above, for a value of one of trainyard's own enums: also lists the valid values. */
void reader_refuse_own_value(struct reader *reader, const char *type, const struct enum_type *enum_type,
			     const json_t *value);
/* Adds "Invalid string value: 'zzz'. Allowed values: [full, noacl]", with the parameter's name as the error's
 * location. */
void reader_refuse_choice(struct reader *reader, const struct field *field, const json_t *value);

/* Reads one value of @field (neither a message nor a struct) into canonical form. Returns a new reference, or NULL
 * after adding the fault. @key: the name as the client wrote it. */
json_t *read_scalar(struct reader *reader, const struct field *field, const char *key, const json_t *value);
/* Returns the front end's name for the type of @field: "TYPE_INT64", "type.googleapis.com/…". The caller frees. */
char *field_type_text(const struct field *field);
