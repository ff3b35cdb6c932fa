/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/search/search_execute.h: carries out decisions about trials. Each is one commit and follows from stored
 * state, so after a crash the remaining ones are decided again. Thread: the scheduler's. */
#include <stdbool.h>

struct decision;
struct scheduler;

/* Returns whether the tuning job needs another look. What could not be stored is tried again after a while. */
bool search_execute(struct scheduler *scheduler, struct decision *decision);
