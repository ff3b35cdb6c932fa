/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/objects/post_commit.h: a thread that does the work on files which follows from changes of the index: it updates
 * the tree of files for users, and removes blobs that are no longer used. Each piece of work is a row until it is done,
 * so a crash repeats it, which is harmless. Work that cannot be done now (disk full) is tried again later. */
#include <stdbool.h>

#include "daemon/base/error.h"

struct post_commit;
struct objects;

enum status post_commit_open(struct objects *objects, struct post_commit **ret_post_commit,
			     struct error *err);
/* Does the waiting work once more, and ends the thread. NULL is harmless. */
void post_commit_close(struct post_commit *post_commit);
/* There is new work. Thread: any. */
void post_commit_begin(struct post_commit *post_commit);
/* Waits until all work that existed at the call has been done, or tried. Thread: any except its own. */
void post_commit_wait(struct post_commit *post_commit);
