/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/completion.h: shell completion scripts, generated from the table of verbs. */
#include "daemon/base/error.h"
#include "daemon/base/text.h"

/* Appends the script for bash, zsh or fish. INVALID_ARGUMENT: @shell is another one. */
enum status completion_write(struct text *text, const char *shell, struct error *err);
