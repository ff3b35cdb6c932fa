/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/terminal.h: what commands print for people: how wide, in which colours, how times are told.
 *
 * Thread: the first. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "daemon/base/text.h"

/* The columns of the terminal that @file is; 0: it is none, and nothing needs to fit. */
unsigned terminal_width(FILE *file);
/* The rows of the terminal that stdout is; 0: it is none. */
unsigned terminal_height(void);

enum style { STYLE_NONE, STYLE_GOOD, STYLE_BAD, STYLE_BUSY, STYLE_DIM, STYLE_BOLD };
/* The escape sequence that begins a style, or that ends it (STYLE_NONE); "" where @file is no terminal, is a dumb one, or
 * NO_COLOR is set. */
const char *terminal_style(FILE *file, enum style style);
/* Green, red or yellow of a job's state. */
enum style state_style(const char *state);

/* "7s", "3m12s", "48m", "2h05m", "3d". Less than nothing is "0s". */
void duration_append(struct text *text, int64_t us);
/* "512 B", "1.2 MiB". */
void size_append(struct text *text, int64_t bytes);
/* How long @time (RFC 3339, or NULL) is before @now_us; "-" of NULL. */
void age_append(struct text *text, const char *time, int64_t now_us);
/* The wall time in @time, or @otherwise where it is NULL or no time. */
int64_t time_read(const char *time, int64_t otherwise);

/* Appends a text of the daemon's as one line that drives no terminal: at most @most characters, the last of them "…" where
 * more follow. 0: all of it. */
void text_one_line(struct text *text, const char *reported, unsigned most);

/* Appends @told in lines that fit the terminal that stdout is, each but the first @indent wide; lines of its own stay. */
void text_wrap(struct text *text, const char *reported, unsigned indent);

/* Clears the terminal that stdout is, and prints as much of @text as it has rows for; elsewhere all of it. */
void screen_draw(struct text *text);

/* A line on stderr that is drawn over again as things change; nothing where stderr is no terminal. */
void progress_show(const char *format, ...) __attribute__((format(printf, 1, 2)));
void progress_clear(void);
