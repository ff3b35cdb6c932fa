/* SPDX-License-Identifier: Apache-2.0 */
#include "store/filter/filter_path.h"

#include <ctype.h>
#include <string.h>

/* True if the client's segment is the field's name, or the snake_case form of the name. */
static bool segment_is(const char *segment, const char *name, size_t length)
{
	size_t i = 0;

	for (; *segment && i < length; segment++, i++) {
		if (*segment == name[i])
			continue;
		if (*segment != '_' || !isupper((unsigned char)name[i]) ||
		    tolower((unsigned char)name[i]) != segment[1])
			return false;
		segment++;
	}
	return *segment == '\0' && i == length;
}

size_t filter_path_takes(const struct filter_node *node, const char *path)
{
	size_t taken = 0;

	for (;;) {
		size_t length = strcspn(path, ".");

		if (length == 1 && *path == '*')
			return taken;
		if (taken == node->path_length || !segment_is(node->path[taken], path, length))
			return 0;
		taken++;
		if (!path[length])
			return taken == node->path_length ? taken : 0;
		path += length + 1;
	}
}

bool filter_names(const struct filter_node *node, const char *path)
{
	return node->kind == FILTER_COMPARE && !node->steps && filter_path_takes(node, path) > 0;
}
