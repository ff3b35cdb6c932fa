/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/search/search_execute.h: what was decided of trials becomes true. A crash between two of them only does the rest
 * again: each is one commit, and all of them follow from what is stored. Thread: the scheduler's. */
#include <stdbool.h>

struct decision;
struct scheduler;

/* Returns whether the tuning job is to be looked at again. What could not be stored is tried again after a while. */
bool search_execute(struct scheduler *scheduler, struct decision *decision);
