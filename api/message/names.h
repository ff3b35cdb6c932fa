/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/message/names.h: the two spellings of a field's name. Pure. Thread: any. */
#include <stdbool.h>
#include <stddef.h>

struct field;
struct message;

/* Returns the snake_case form of a name: "training_input" for "trainingInput". The caller frees it. */
char *name_to_snake(const char *camel);
/* True if @given is @camel itself or its snake_case form, as written by name_to_snake(). */
bool name_matches(const char *camel, const char *given);
/* Finds the field of @message named @given, in either spelling; NULL: there is none. */
const struct field *field_find(const struct message *message, const char *given);
size_t field_count(const struct message *message);
