/* SPDX-License-Identifier: Apache-2.0 */
#include "api/message/path.h"

#include <string.h>

static const char rest_mark[] = "=**";

static bool is_rest(const struct path_part *name)
{
	const size_t mark = strlen(rest_mark);

	return name->length > mark && memcmp(name->text + name->length - mark, rest_mark, mark) == 0;
}

bool path_part_next(const char **at, struct path_part *ret_part)
{
	struct path_part part;

	if (**at != '/')
		return false;
	part = (struct path_part){ .text = *at + 1, .length = strcspn(*at + 1, "/:") };
	*at += 1 + part.length;
	part.is_name = *part.text == '{';
	if (part.is_name) {
		part.text++;
		part.length -= 2;
		part.is_rest = is_rest(&part);
		if (part.is_rest)
			part.length -= strlen(rest_mark);
	}
	*ret_part = part;
	return true;
}
