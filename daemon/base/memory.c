/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/base/memory.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void memory_exhausted(size_t size)
{
	char line[128];
	int length =
		snprintf(line, sizeof(line),
			 "trainyard: out of memory: %zu bytes cannot be allocated; the process ends\n", size);

	/* _exit() runs no exit handlers: they would free memory that other threads still use. */
	(void)!write(STDERR_FILENO, line, (size_t)length);
	_exit(EXIT_FAILURE);
}

/* JSON_COPIES: three copies of a string exist at a time: in the body, in jansson's reader, and as the value. */
enum { SMALL_BYTES = 64 << 10, JSON_COPIES = 3 };

bool memory_holds_json(size_t length)
{
	void *volatile place; /* volatile, because otherwise the compiler removes the call */
	bool holds;

	if (length <= SMALL_BYTES)
		return true;
	place = malloc(length * JSON_COPIES);
	holds = place != NULL;
	free(place);
	return holds;
}

void memory_init(void)
{
	json_set_alloc_funcs(memory_alloc, free);
}

void *memory_alloc(size_t size)
{
	void *place = malloc(size ? size : 1);

	if (!place)
		memory_exhausted(size);
	return place;
}

void *memory_calloc(size_t count, size_t size)
{
	void *place = calloc(count ? count : 1, size ? size : 1);

	if (!place)
		memory_exhausted(count * size);
	return place;
}

void *memory_resize(void *place, size_t count, size_t size)
{
	void *resized = reallocarray(place, count ? count : 1, size ? size : 1);

	if (!resized)
		memory_exhausted(count * size);
	return resized;
}

void *memory_realloc(void *place, size_t size)
{
	return memory_resize(place, size, 1);
}

char *memory_strdup(const char *text)
{
	return text ? memory_strndup(text, strlen(text)) : NULL;
}

char *memory_strndup(const char *text, size_t length)
{
	const size_t copied = strnlen(text, length);
	char *copy = memory_alloc(copied + 1);

	memcpy(copy, text, copied);
	copy[copied] = '\0';
	return copy;
}

char *memory_vprintf(const char *format, va_list args)
{
	char *text;

	if (vasprintf(&text, format, args) < 0)
		memory_exhausted(0);
	return text;
}

char *memory_printf(const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	text = memory_vprintf(format, args);
	va_end(args);
	return text;
}
