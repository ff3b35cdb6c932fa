/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/base/json_cursor.h: JSON text that is read once, from left to right, and never becomes a tree.
 *
 * For text that this program wrote itself, such as its answers: a reader takes the values that it needs and skips the
 * others. Skipped text is checked only as far as necessary to find its end. @at points into a text that ends with NUL;
 * each function moves it past the text that it read, and never past the NUL. If a function returns false, @at may stand
 * anywhere in the text. Pure. Thread: any. */
#include <stdbool.h>

#include "daemon/base/text.h"

void json_space_skip(const char **at);
/* Moves past @c and the space around it. Returns false if the next token is another one. */
bool json_token_skip(const char **at, char c);
/* Moves past a string; @at is at its opening quote. Returns false if the string does not end. */
bool json_string_skip(const char **at);
/* Moves past a value of any kind and depth. Returns false if there is none, or if it does not end. */
bool json_value_skip(const char **at);
/* Returns the length of the number, true, false or null that begins at @at; 0: none of them does. */
size_t json_word_length(const char *at);
/* Appends the content of the string at @at in UTF-8. Returns false if the string does not end, or has an escape that
 * JSON lacks. */
bool json_string_append(const char **at, struct text *text);
