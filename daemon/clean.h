/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/clean.h: `trainyard clean`: removes what an instance has left, once its daemon does not come back. */
#include "daemon/base/text.h"

/* @arguments are the words behind the subcommand, ending with NULL. The exit code: 0 nothing is left; 1 something
 * is, or a daemon runs, or the engine does not answer; 2 wrong usage. */
int clean_main(const char *const *arguments);
void clean_help_write(struct text *text);
