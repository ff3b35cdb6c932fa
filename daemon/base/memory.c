/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/base/memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Once the reserve is touched no more text is read: what is still asked for is room for twice the longest token, for a
 * copy of it, and for what it is put into. */
enum { RESERVE_PER_BYTE = 4, RESERVE_BYTES = 1024, ALIGNMENT = 16 };

struct reserve {
	char *begin, *at, *end; /* begin NULL: there is none */
	bool touched;
};

/* What a reading gives to jansson, byte by byte. */
struct source {
	const char *at, *end;
};

static __thread struct reserve reserve;
static __thread unsigned watches;
static __thread bool ran_out;

void memory_note_failure(void)
{
	ran_out = true;
}

char *memory_strdup(const char *text)
{
	char *copy = strdup(text);

	if (!copy)
		memory_note_failure();
	return copy;
}

void *memory_calloc(size_t count, size_t size)
{
	void *place = calloc(count, size);

	if (!place)
		memory_note_failure();
	return place;
}

void memory_watch_begin(void)
{
	if (watches++ == 0)
		ran_out = false;
}

bool memory_watch_failed(void)
{
	return watches && ran_out;
}

bool memory_watch_end(void)
{
	const bool failed = memory_watch_failed();

	watches--;
	return failed;
}

static void *reserve_take(size_t size)
{
	const size_t taken = (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
	void *place = reserve.at;

	if (!reserve.begin || taken < size || taken > (size_t)(reserve.end - reserve.at))
		return NULL;
	reserve.touched = true;
	reserve.at += taken;
	return place;
}

static void *json_allocate(size_t size)
{
	void *place = malloc(size);

	if (place)
		return place;
	memory_note_failure();
	return reserve_take(size);
}

static void json_release(void *place)
{
	if (!reserve.begin || (char *)place < reserve.begin || (char *)place >= reserve.end)
		free(place);
}

void memory_init(void)
{
	json_set_alloc_funcs(json_allocate, json_release);
}

/* One byte at a time: so none is left to be read once the reserve was touched. */
static size_t source_read(void *buffer, size_t size, void *arg)
{
	struct source *source = arg;

	(void)size;
	if (reserve.touched || source->at == source->end)
		return 0;
	*(char *)buffer = *source->at++;
	return 1;
}

static void problem_set(json_error_t *ret_problem)
{
	if (!ret_problem)
		return;
	memset(ret_problem, 0, sizeof(*ret_problem));
	snprintf(ret_problem->text, sizeof(ret_problem->text), "out of memory");
	/* Where json_error_code() reads it. */
	ret_problem->text[JSON_ERROR_TEXT_LENGTH - 1] = (char)json_error_out_of_memory;
}

json_t *memory_json_read(const char *text, size_t length, size_t flags, json_error_t *ret_problem)
{
	const size_t size = length <= (SIZE_MAX - RESERVE_BYTES) / RESERVE_PER_BYTE
				    ? length * RESERVE_PER_BYTE + RESERVE_BYTES
				    : 0;
	struct source source = { text, text + length };
	char *begin = size ? malloc(size) : NULL;
	json_t *value;
	bool touched;

	if (!begin) {
		memory_note_failure();
		problem_set(ret_problem);
		return NULL;
	}
	reserve = (struct reserve){ begin, begin, begin + size, false };
	value = json_load_callback(source_read, &source, flags, ret_problem);
	touched = reserve.touched;
	if (touched) {
		json_decref(value);
		value = NULL;
		problem_set(ret_problem);
	}
	reserve = (struct reserve){ 0 };
	free(begin);
	return value;
}
