/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/message/path.h: the paths of methods, as routes and discovery documents spell them:
 * "/v1/projects/{project}/jobs/{job}:cancel". Pure. Thread: any. */
#include <stdbool.h>
#include <stddef.h>

/* A segment without its slash and verb; for {name} and {name=**}, only the name. */
struct path_part {
	const char *text;
	size_t length;
	bool is_name;
	bool is_rest; /* {name=**}: the rest, including slashes; the last part */
};

/* Reads the part at *at (which points to a slash) and moves *at past it. False: only the verb, or nothing, is left. */
bool path_part_next(const char **at, struct path_part *ret_part);
