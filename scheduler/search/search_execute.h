/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/search/search_execute.h: carries out decisions about trials. Each is one commit and follows from stored
 * state, so after a crash the remaining ones are decided again. Thread: the scheduler's. */
#include <stdbool.h>

struct decision;
struct scheduler;

/* Executes the decision about a tuning job's trials. True: the job needs another look. Changes that could not be stored
 * are tried again after a while. */
bool search_execute(struct scheduler *scheduler, struct decision *decision);
