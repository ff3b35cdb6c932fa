/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/message/reader.h: what the reading of a message carries from field to field.
 *
 * Faults are gathered as they are met, in the body's own order, up to FAULTS_MAX of them. */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "api/message/message.h"
#include "daemon/base/error.h"
#include "daemon/base/text.h"

/* Choice: a body of a million wrong names gets the first hundred said. */
enum { FAULTS_MAX = 100, SHOWN_VALUE_BYTES = 200 };

struct reader {
	struct error err;
	size_t fault_count;
	struct text path; /* of what is being read: "job.training_input.args[0]" */
};

void reader_init(struct reader *reader, const char *root);
/* Hands the faults to @err and frees the rest; OK when there were none. */
enum status reader_finish(struct reader *reader, struct error *err);
bool reader_failed(const struct reader *reader);

/* Lengthens the path; the length before, for reader_leave(). */
size_t reader_enter(struct reader *reader, const char *camel);
size_t reader_enter_index(struct reader *reader, size_t index);
void reader_leave(struct reader *reader, size_t length);

/* `Invalid JSON payload received. Unknown name "<name>" at '<path>': <why>` */
void reader_refuse_name(struct reader *reader, const char *name, const char *why);
/* The same of a name that @message, which is our own, has not: with the names that it has. */
void reader_refuse_own_name(struct reader *reader, const struct message *message, const char *name);
/* `Invalid value at '<path>' (<type>), <what>` */
void reader_refuse(struct reader *reader, const char *type, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The same with @value written as the front end shows it: "abc", 3.5, true. */
void reader_refuse_value(struct reader *reader, const char *type, const json_t *value);
/* The same of a value of an enum of our own: with those that it has. */
void reader_refuse_own_value(struct reader *reader, const char *type, const struct enum_type *enum_type,
			     const json_t *value);

/* One value of @field (which is no message and no struct), in canonical form. New reference, or NULL
 * after the fault was noted. @key is the name as the client wrote it. */
json_t *read_scalar(struct reader *reader, const struct field *field, const char *key, const json_t *value);
/* What the front end calls the type of @field: "TYPE_INT64", "type.googleapis.com/…". The caller frees. */
char *field_type_text(const struct field *field);
