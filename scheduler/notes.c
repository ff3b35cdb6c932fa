/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/notes.h"

#include <stdarg.h>
#include <stdlib.h>

#include "daemon/base/memory.h"
#include "store/jobs/jobs.h"

static void note_add(struct notes *notes, int severity, char *text)
{
	notes->items = memory_resize(notes->items, notes->count + 1, sizeof(*notes->items));
	notes->items[notes->count++] = (struct note){ severity, text };
}

void notes_say(struct notes *notes, int severity, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	note_add(notes, severity, memory_vprintf(format, args));
	va_end(args);
}

void notes_say_all(struct notes *notes, int severity, const char *const *lines)
{
	for (; *lines; lines++)
		note_add(notes, severity, memory_strdup(*lines));
}

struct service_line *notes_write(const struct notes *notes, struct service_line *lines)
{
	for (size_t i = 0; i < notes->count; i++)
		*lines++ = (struct service_line){ notes->items[i].severity, notes->items[i].text };
	return lines;
}

void notes_clear(struct notes *notes)
{
	for (size_t i = 0; i < notes->count; i++)
		free(notes->items[i].text);
	free(notes->items);
	*notes = (struct notes){ 0 };
}
