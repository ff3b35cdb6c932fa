/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/clean.h: `trainyard clean`: removes everything of an instance after its last daemon. */
#include <stdbool.h>

struct config;
struct invocation;

/* The exit code: 0: nothing is left; 1: something is left, or a daemon runs, or the engine does not answer; 2: wrong
 * usage. */
int clean_main(struct invocation *invocation);
/* Does the same for the state directory of @config, and prints only problems; @removes_state: also removes the
 * directory. */
int clean_quietly(const struct config *config, bool removes_state);
