/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/aftermath.h: a thread that does with files what changes of the index ask for: it keeps the tree of files for
 * people as the index says, and removes blobs that nothing uses. What is to be done is a row until it is done, so a
 * crash repeats it; doing it twice is harmless. What cannot be done now (no room) is tried again later. */
#include <stdbool.h>

#include "daemon/base/error.h"

struct aftermath;
struct objects;

enum status aftermath_open(struct objects *objects, struct aftermath **ret_aftermath, struct error *err);
/* Does what waits, once, and ends. NULL is harmless. */
void aftermath_close(struct aftermath *aftermath);
/* There is something to do. Thread: any. */
void aftermath_begin(struct aftermath *aftermath);
/* Waits until all that was there when it was called has been done, or tried. Thread: any but its own. */
void aftermath_wait(struct aftermath *aftermath);
