/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/completion.h: shell completion scripts, generated from the table of verbs. */
#include "daemon/base/text.h"

/* Appends the script for @shell: bash, zsh or fish. */
void completion_write(struct text *text, const char *shell);
