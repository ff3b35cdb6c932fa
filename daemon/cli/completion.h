/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/completion.h: what a shell needs to complete the program's words, made of the table of verbs. */
#include "daemon/base/error.h"
#include "daemon/base/text.h"

/* Appends the script of bash, zsh or fish. INVALID_ARGUMENT: @shell is none of them. */
enum status completion_write(struct text *text, const char *shell, struct error *err);
