/* SPDX-License-Identifier: Apache-2.0 */
#include "api/aiplatform/read_mask.h"

#include <stdbool.h>
#include <string.h>

#include "api/message/message.h"
#include "api/message/names.h"
#include "daemon/base/cleanup.h"

/* Below a map's name is one of its keys, below free JSON anything. @path is taken apart. */
static bool path_known(const struct message *message, char *path)
{
	while (path) {
		const char *name = strsep(&path, ".");
		const struct field *field = message ? field_find(message, name) : NULL;

		if (!field)
			return false;
		if (field->flags & FIELD_MAP || field->type == FIELD_STRUCT || field->type == FIELD_VALUE)
			return true;
		message = field->type == FIELD_MESSAGE ? field->message : NULL;
	}
	return true;
}

enum status read_mask_check(const struct message *message, const char *mask, const char **ret_mask,
			    struct error *err)
{
	AUTO(string) char *copy = strdup(mask ? mask : "");
	char *rest = copy;

	*ret_mask = NULL;
	if (!copy)
		return error_no_memory(err);
	if (!*copy || strcmp(copy, "*") == 0)
		return STATUS_OK;
	while (rest) {
		char *path = strsep(&rest, ",");
		size_t offset = (size_t)(path - copy), length = strlen(path);

		if (!path_known(message, path))
			return error_set(err, STATUS_INVALID_ARGUMENT, "read_mask",
					 "Invalid field mask: the resource has no field '%.*s'.",
					 (int)(length < 200 ? length : 200), mask + offset);
	}
	*ret_mask = mask;
	return STATUS_OK;
}
