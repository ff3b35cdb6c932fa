/* SPDX-License-Identifier: Apache-2.0 */
#include "api/message/names.h"

#include <ctype.h>
#include <string.h>

#include "api/message/message.h"

/* Walks both names at once and allocates nothing: bodies full of unknown names stay cheap. */
static bool snake_matches(const char *camel, const char *given)
{
	for (const char *c = camel; *c; c++, given++) {
		if (!isupper((unsigned char)*c)) {
			if (*given != *c)
				return false;
			continue;
		}
		if (c != camel && (!isupper((unsigned char)c[-1]) || islower((unsigned char)c[1])) &&
		    *given++ != '_')
			return false;
		if (*given != tolower((unsigned char)*c))
			return false;
	}
	return *given == '\0';
}

char *name_to_snake(const char *camel)
{
	struct text snake AUTO_TEXT = { 0 };

	for (const char *c = camel; *c; c++) {
		if (isupper((unsigned char)*c)) {
			/* A run of capitals belongs to one word: consumedMLUnits is consumed_ml_units. */
			bool starts_word = c == camel || !isupper((unsigned char)c[-1]) ||
					   (c[1] && islower((unsigned char)c[1]));

			if (starts_word && c != camel)
				text_putc(&snake, '_');
			text_putc(&snake, (char)tolower((unsigned char)*c));
		} else {
			text_putc(&snake, *c);
		}
	}
	return text_take(&snake);
}

bool name_matches(const char *camel, const char *given)
{
	return strcmp(camel, given) == 0 || snake_matches(camel, given);
}

const struct field *field_find(const struct message *message, const char *given)
{
	for (const struct field *field = message->fields; field->name; field++)
		if (name_matches(field->name, given))
			return field;
	return NULL;
}

size_t field_count(const struct message *message)
{
	size_t count = 0;

	while (message->fields[count].name)
		count++;
	return count;
}

const char *enum_name(const struct enum_type *type, int number)
{
	for (const struct enum_value *value = type->values; value->name && number != ENUM_BY_NAME; value++)
		if (value->number == number)
			return value->name;
	return NULL;
}

bool enum_number(const struct enum_type *type, const char *name, int *ret_number)
{
	for (const struct enum_value *value = type->values; value->name; value++) {
		if (strcmp(value->name, name) == 0) {
			*ret_number = value->number;
			return true;
		}
	}
	return false;
}
