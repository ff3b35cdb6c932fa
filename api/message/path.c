/* SPDX-License-Identifier: Apache-2.0 */
#include "api/message/path.h"

#include <string.h>

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
	}
	*ret_part = part;
	return true;
}
