/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/clean.h: `trainyard clean`: removes what an instance has left, once its daemon does not come back. */
#include <stdbool.h>

struct config;
struct invocation;

/* The exit code: 0 nothing is left; 1 something is, or a daemon runs, or the engine does not answer; 2 wrong usage. */
int clean_main(struct invocation *invocation);
/* The same of the state directory of @config, telling of problems alone; @removes_state: the directory goes as well. */
int clean_quietly(const struct config *config, bool removes_state);
