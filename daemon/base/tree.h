/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/base/tree.h: removes directories that a container has filled.
 *
 * A program may have made any tree: deeper than the longest path, with names of any bytes, directories without
 * permissions, and links to other places. So this code uses no paths, does not recurse, and has at most two directories
 * open: the contents of a directory below the top are removed or moved to the top, which keeps the depth at two. It
 * follows no link, and removes nothing of another file system. Thread: any. */
#include <stdbool.h>
#include <stddef.h>

/* Removes the directory @path and all that is in it. @steps_max limits the removals and moves of this call; SIZE_MAX: no
 * limit. Returns true if the directory is gone, also if it did not exist. False: errno has the reason; EFBIG: the limit
 * was reached, and another call continues. */
bool tree_remove(const char *path, size_t steps_max);
