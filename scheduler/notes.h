/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/notes.h: service lines of a job that are not stored yet, in order. */
#include <stddef.h>

struct service_line;

struct note {
	int severity;
	char *text;
};

struct notes {
	struct note *items;
	size_t count;
};
#define AUTO_NOTES __attribute__((cleanup(notes_clear)))

void notes_say(struct notes *notes, int severity, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Adds several lines, in order; the list ends with NULL. */
void notes_say_all(struct notes *notes, int severity, const char *const *lines);
/* Fills @lines for the store; the texts stay the property of @notes. Returns the position behind the last line. */
struct service_line *notes_write(const struct notes *notes, struct service_line *lines);
/* Forgets all notes. */
void notes_clear(struct notes *notes);
