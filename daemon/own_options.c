/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/own_options.h"

#include <stdlib.h>
#include <string.h>

/* The option that @word names; *ret_value: what stands behind its "=", or NULL. */
static const struct own_option *option_find(const struct own_option *own, const char *word,
					    const char **ret_value)
{
	for (; own->name; own++) {
		size_t length = strlen(own->name);

		if (strncmp(word, own->name, length) != 0 ||
		    (word[length] && (own->flag || word[length] != '=')))
			continue;
		*ret_value = word[length] ? word + length + 1 : NULL;
		return own;
	}
	return NULL;
}

/* The others are left in @rest, which has room for all. */
static enum status options_take(const struct own_option *own, const char *const *arguments, const char **rest,
				struct error *err)
{
	for (; *arguments; arguments++) {
		const char *value;
		const struct own_option *option = option_find(own, *arguments, &value);

		if (!option) {
			*rest++ = *arguments;
		} else if (option->flag) {
			*option->flag = true;
		} else {
			*option->value = value ? value : *++arguments;
			if (!*option->value)
				return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "%s needs a value: %s",
						 option->name, option->hint);
		}
	}
	*rest = NULL;
	return STATUS_OK;
}

enum status own_options_read(const struct own_option *own, struct config *ret_config,
			     enum config_command command, const char *const *arguments, struct error *err)
{
	size_t count = 0;
	enum status rc;

	while (arguments[count])
		count++;
	const char **rest = calloc(count + 1, sizeof(*rest));
	if (!rest)
		return error_no_memory(err);
	rc = options_take(own, arguments, rest, err);
	if (!rc)
		rc = config_read_beside(ret_config, command, own, rest, err);
	free(rest);
	return rc;
}
