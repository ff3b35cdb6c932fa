/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/objects/post_commit.h: a thread that does with files what changes of the index ask for: it keeps the tree of files for
 * people as the index says, and removes blobs that nothing uses. What is to be done is a row until it is done, so a
 * crash repeats it; doing it twice is harmless. What cannot be done now (no room) is tried again later. */
#include <stdbool.h>

#include "daemon/base/error.h"

struct post_commit;
struct objects;

enum status post_commit_open(struct objects *objects, struct post_commit **ret_post_commit,
			     struct error *err);
/* Does what waits, once, and ends. NULL is harmless. */
void post_commit_close(struct post_commit *post_commit);
/* There is something to do. Thread: any. */
void post_commit_begin(struct post_commit *post_commit);
/* Waits until all that was there when it was called has been done, or tried. Thread: any but its own. */
void post_commit_wait(struct post_commit *post_commit);
