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

/* The columns of the terminal @file; 0: it is not a terminal, and the width is unlimited. */
unsigned terminal_width(FILE *file);
/* The rows of the terminal on stdout; 0: it is not a terminal. */
unsigned terminal_height(void);

enum style { STYLE_NONE, STYLE_GOOD, STYLE_BAD, STYLE_BUSY, STYLE_DIM, STYLE_BOLD };
/* The escape sequence that begins a style, or ends it (STYLE_NONE); "" if @file is not a terminal, is a dumb one, or
 * NO_COLOR is set. */
const char *terminal_style(FILE *file, enum style style);
/* Green, red or yellow for a job's state. */
enum style state_style(const char *state);

/* "7s", "3m12s", "48m", "2h05m", "3d". Negative: "0s". */
void duration_append(struct text *text, int64_t us);
/* "512 B", "1.2 MiB". */
void size_append(struct text *text, int64_t bytes);
/* "[#####---------------] 25 % of 1.2 MiB" for the pull of an image, a member imagePull; nothing as long as its size is
 * unknown. */
void pull_append(struct text *text, const json_t *pull);
/* How long @time (RFC 3339, or NULL) is before @now_us; "-" for NULL. */
void age_append(struct text *text, const char *time, int64_t now_us);
/* "2026-11-26 08:00:01", in local time. */
void moment_append(struct text *text, const char *time);
/* The wall time in @time, or @otherwise if it is NULL or malformed. */
int64_t time_read(const char *time, int64_t otherwise);

/* Appends a text of the daemon as one line without control characters: at most @most characters, the last of them "…"
 * if it was cut. 0: all of it. */
void text_one_line(struct text *text, const char *reported, unsigned most);

/* Appends @reported, wrapped to the terminal on stdout; all lines except the first are indented by @indent; its own
 * line ends stay. */
void text_wrap(struct text *text, const char *reported, unsigned indent);

/* Clears the terminal on stdout and prints as much of @text as it has rows for; without a terminal, all of it. */
void screen_draw(struct text *text);

/* A line on stderr that is redrawn as things change; nothing if stderr is not a terminal. */
void progress_show(const char *format, ...) __attribute__((format(printf, 1, 2)));
void progress_clear(void);
