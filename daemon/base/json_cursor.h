/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/base/json_cursor.h: JSON text that is read once, from left to right, and never becomes a tree.
 *
 * For text that this program wrote itself, such as its answers: a reader takes what it needs and skips the rest. What is
 * skipped is checked as far as it has to be to find its end. @at points into a text that ends with NUL; each function moves it
 * past what it read, and never past the NUL. Where one returns false, @at may stand anywhere in the text.
 * Pure. Thread: any. */
#include <stdbool.h>

#include "daemon/base/text.h"

void json_space_skip(const char **at);
/* Moves past @c and the space around it. False: something else comes. */
bool json_token_skip(const char **at, char c);
/* @at is at the opening quote. False: the string does not end. */
bool json_string_skip(const char **at);
/* A value of any kind, however deep. False: there is none, or it does not end. */
bool json_value_skip(const char **at);
/* The length of a number, true, false or null; 0: none of them begins here. */
size_t json_word_length(const char *at);
/* Appends what the string at @at says, in UTF-8. False: it does not end, or has an escape that JSON lacks. */
bool json_string_append(const char **at, struct text *text);
