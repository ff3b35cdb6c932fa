/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/base/tree.h: removes directories that a container has filled.
 *
 * A program makes a tree of any shape: deeper than a path is long, with names of any bytes, directories without
 * permissions, and links to other places. Nothing is reached by a path here, nothing recurses, and two directories at most
 * are open: what lies in a directory below the top is removed or moved to the top, so that no tree is deeper than two.
 * No link is followed, and nothing of another file system is removed. Thread: any. */
#include <stdbool.h>
#include <stddef.h>

/* Removes the directory @path and all that is in it. True when it is gone, also if it was not there.
 * @steps_max  how many removals and moves this call makes at most; SIZE_MAX: all
 * False: errno tells why; EFBIG: not all steps were made, another call goes on. */
bool tree_remove(const char *path, size_t steps_max);
