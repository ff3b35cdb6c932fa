/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/terminal.h: output for users: width, colours, and formats of times.
 *
 * Thread: the first. */
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "daemon/base/text.h"

/* Returns the number of columns of the terminal @file; 0: it is not a terminal, and the width is unlimited. */
unsigned terminal_width(FILE *file);
/* Returns the number of rows of the terminal on stdout; 0: it is not a terminal. */
unsigned terminal_height(void);

enum style { STYLE_NONE, STYLE_GOOD, STYLE_BAD, STYLE_BUSY, STYLE_DIM, STYLE_BOLD };
/* Returns the escape sequence that begins a style, or ends all styles (STYLE_NONE); "" if @file is not a terminal, is a
 * dumb one, or NO_COLOR is set. */
const char *terminal_style(FILE *file, enum style style);
/* Returns green, red or yellow for a job's state. */
enum style state_style(const char *state);

/* Appends "7s", "3m12s", "48m", "2h05m" or "3d"; "0s" for negative durations. */
void duration_append(struct text *text, int64_t us);
/* "512 B", "1.2 MiB". */
void size_append(struct text *text, int64_t bytes);
/* Appends the progress of an image pull (a member imagePull): "[#####---------------] 25 % of 1.2 MiB"; nothing while
 * the size is unknown. */
void pull_append(struct text *text, const json_t *pull);
/* Appends the age: the time from @time (RFC 3339) to @now_us; "-" if @time is NULL. */
void age_append(struct text *text, const char *time, int64_t now_us);
/* Appends a time in local time: "2026-11-26 08:00:01". */
void moment_append(struct text *text, const char *time);
/* Returns the wall time in @time in microseconds; @otherwise if @time is NULL or malformed. */
int64_t time_read(const char *time, int64_t otherwise);

/* Returns how many columns of a terminal @text takes: valid UTF-8 without control characters. An East Asian character
 * takes two columns. */
unsigned text_columns(const char *text);

/* Appends a text of the daemon as one line without control characters, cut to @most columns, the last of them "…"; @most
 * 0: never cut. */
void text_one_line(struct text *text, const char *reported, unsigned most);

/* Appends @reported, wrapped to the width of the terminal on stdout. All lines except the first are indented by @indent;
 * line ends in @reported stay. */
void text_wrap(struct text *text, const char *reported, unsigned indent);

/* Like text_wrap(), to @width columns; 0: never wraps. */
void words_wrap(struct text *text, const char *reported, unsigned indent, unsigned width);

/* Prints a line on @file; on a terminal wrapped to its width, and without control characters. */
void sentence_print(FILE *file, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints "trainyard: WORDS" on stderr; on a terminal wrapped to its width, and without control characters; a
 * line of progress_show() is cleared before. */
void error_line_print(const char *words);

/* Asks the user on the terminal; returns false unless the answer is yes. */
bool terminal_agrees(const char *question);

/* Clears the terminal on stdout and prints as much of @text as fits on it, or all of it if @whole; without a terminal,
 * prints all of @text. */
void screen_draw(struct text *text, bool whole);

/* Shows a line on stderr, in place of the last such line; does nothing if stderr is not a terminal. */
void progress_show(const char *format, ...) __attribute__((format(printf, 1, 2)));
void progress_clear(void);
