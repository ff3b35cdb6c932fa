/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/memory_faults.h"

#include <limits.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/memory.h"

enum {
	SWEEP_MOST = 20000, /* of askings: an operation that wants more never ends */
	BURSTS = 4,         /* no more, about */
};

static unsigned first_missing, missing_count; /* first 0: none */
static unsigned asked, missed;                /* atomic */
static _Thread_local bool is_spared;

/* Whether this asking gets nothing. */
static bool is_missing(void)
{
	const unsigned first = __atomic_load_n(&first_missing, __ATOMIC_ACQUIRE);
	unsigned number;

	if (!first || is_spared)
		return false;
	number = __atomic_add_fetch(&asked, 1, __ATOMIC_RELAXED);
	if (number < first || number - first >= missing_count)
		return false;
	__atomic_add_fetch(&missed, 1, __ATOMIC_RELAXED);
	return true;
}

void memory_faults_begin(unsigned first, unsigned count)
{
	missing_count = count;
	__atomic_store_n(&asked, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&missed, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&first_missing, first, __ATOMIC_RELEASE);
}

bool memory_faults_end(void)
{
	__atomic_store_n(&first_missing, 0, __ATOMIC_RELEASE);
	return __atomic_load_n(&missed, __ATOMIC_RELAXED);
}

void memory_faults_spare(bool spared)
{
	is_spared = spared;
}

/* ---- who asks ---- */

#define WRAPPED(type, name, parameters, arguments, nothing)                                                  \
	type __real_##name parameters;                                                                       \
	type __wrap_##name parameters;                                                                       \
	type __wrap_##name parameters                                                                        \
	{                                                                                                    \
		return is_missing() ? (nothing) : __real_##name arguments;                                   \
	}

WRAPPED(void *, malloc, (size_t size), (size), NULL)
WRAPPED(void *, calloc, (size_t count, size_t size), (count, size), NULL)
WRAPPED(void *, realloc, (void *place, size_t size), (place, size), NULL)
WRAPPED(void *, reallocarray, (void *place, size_t count, size_t size), (place, count, size), NULL)
WRAPPED(char *, strdup, (const char *text), (text), NULL)
WRAPPED(char *, strndup, (const char *text, size_t length), (text, length), NULL)
WRAPPED(int, vasprintf, (char **ret_text, const char *format, va_list values), (ret_text, format, values), -1)
WRAPPED(int, __vasprintf_chk, (char **ret_text, int flag, const char *format, va_list values),
	(ret_text, flag, format, values), -1)

int __wrap_asprintf(char **ret_text, const char *format, ...) __attribute__((format(printf, 2, 3)));
int __wrap_asprintf(char **ret_text, const char *format, ...)
{
	va_list values;
	int length;

	va_start(values, format);
	length = __wrap_vasprintf(ret_text, format, values);
	va_end(values);
	return length;
}

int __wrap___asprintf_chk(char **ret_text, int flag, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
int __wrap___asprintf_chk(char **ret_text, int flag, const char *format, ...)
{
	va_list values;
	int length;

	va_start(values, format);
	length = __wrap___vasprintf_chk(ret_text, flag, format, values);
	va_end(values);
	return length;
}

static sqlite3_mem_methods usual;

static void *sqlite_allocate(int size)
{
	return is_missing() ? NULL : usual.xMalloc(size);
}

static void *sqlite_resize(void *place, int size)
{
	return is_missing() ? NULL : usual.xRealloc(place, size);
}

void memory_faults_init(void)
{
	sqlite3_mem_methods methods;

	memory_init();
	assert_int_equal(sqlite3_config(SQLITE_CONFIG_GETMALLOC, &usual), SQLITE_OK);
	methods = usual;
	methods.xMalloc = sqlite_allocate;
	methods.xRealloc = sqlite_resize;
	assert_int_equal(sqlite3_config(SQLITE_CONFIG_MALLOC, &methods), SQLITE_OK);
}

/* ---- sweeps ---- */

static void look(const struct memory_operation *operation, void *world, struct text *ret_seen)
{
	text_clear(ret_seen);
	text_puts(ret_seen, "");
	if (operation->look)
		operation->look(world, ret_seen);
	assert_false(ret_seen->failed);
}

static bool same(const struct text *a, const struct text *b)
{
	return a->length == b->length && memcmp(a->data, b->data, a->length) == 0;
}

/* Where @a begins to be another than @b. */
static const char *difference(const struct text *a, const struct text *b)
{
	size_t i = 0;

	while (i < a->length && i < b->length && a->data[i] == b->data[i])
		i++;
	return a->data + i;
}

/* What an operation that met a fault may say. */
static bool is_told(enum status rc)
{
	return rc == STATUS_INTERNAL || rc == STATUS_UNAVAILABLE || rc == STATUS_RESOURCE_EXHAUSTED;
}

struct sweep {
	const struct memory_operation *operation;
	void *world;
	unsigned number; /* how often it was done */
	struct text expected;
};

/* The @first-th and so many more fail; 0: none. Whether any did. */
static bool sweep_once(struct sweep *sweep, unsigned first, unsigned count)
{
	const struct memory_operation *operation = sweep->operation;
	struct text before AUTO_TEXT = { 0 };
	struct text after AUTO_TEXT = { 0 };
	struct text said AUTO_TEXT = { 0 };
	struct error err AUTO_ERROR = { 0 };
	bool met, noted;
	enum status rc;

	text_puts(&said, "");
	if (operation->prepare)
		operation->prepare(sweep->world, sweep->number);
	look(operation, sweep->world, &before);
	memory_watch_begin();
	memory_faults_begin(first, count);
	rc = operation->run(sweep->world, sweep->number++, &said, &err);
	met = memory_faults_end();
	noted = memory_watch_end();
	look(operation, sweep->world, &after);
	if ((rc || noted || said.failed) && !met)
		fail_msg("%s: %s without a fault: %s", operation->name, status_name(rc),
			 err.text ? err.text : "");
	if (rc && (!is_told(rc) || err.status != rc))
		fail_msg("%s, %u: %s: %s", operation->name, first, status_name(rc), err.text ? err.text : "");
	if (rc && !same(&before, &after))
		fail_msg("%s, %u (%u): it failed (%s), and changed %s to %s", operation->name, first, count,
			 err.text ? err.text : "", difference(&before, &after), difference(&after, &before));
	if (!rc && operation->look && operation->changes == same(&before, &after))
		fail_msg("%s, %u: it went well, and changed %s", operation->name, first,
			 operation->changes ? "nothing" : "something");
	if (rc || noted || said.failed)
		return met;
	if (!first)
		text_append(&sweep->expected, said.data, said.length);
	else if (!same(&said, &sweep->expected))
		fail_msg("%s, %u: it found %s, not %s", operation->name, first, said.data,
			 sweep->expected.data);
	return met;
}

void memory_sweep(const struct memory_operation *operation, void *world)
{
	struct sweep sweep = { operation, world, 0, { 0 } };
	unsigned most = 1;

	text_puts(&sweep.expected, "");
	sweep_once(&sweep, 0, 0);
	while (sweep_once(&sweep, most, 1))
		assert_true(++most < SWEEP_MOST);
	assert_true(most > 1);
	for (unsigned first = 1; first < most; first += 1 + most / BURSTS)
		sweep_once(&sweep, first, UINT_MAX);
	text_deinit(&sweep.expected);
}

/* ---- tests ---- */

static CMFixtureFunction world_make, world_end; /* of all tests of this program */

struct sweep_test {
	const struct memory_operation *operation;
	void *world;
};

static int sweep_test_open(void **state)
{
	struct sweep_test *test = calloc(1, sizeof(*test));

	test->operation = *state;
	*state = test;
	return world_make(&test->world);
}

static int sweep_test_close(void **state)
{
	struct sweep_test *test = *state;
	const int failed = world_end(&test->world);

	free(test);
	return failed;
}

static void nothing_is_done_by_halves_without_memory(void **state)
{
	struct sweep_test *test = *state;

	memory_sweep(test->operation, test->world);
}

void memory_tests_fill(struct CMUnitTest *ret_tests, const struct memory_operation *operations, size_t count,
		       CMFixtureFunction world_open, CMFixtureFunction world_close)
{
	world_make = world_open;
	world_end = world_close;
	for (size_t i = 0; i < count; i++)
		ret_tests[i] = (struct CMUnitTest){ operations[i].name,
						    nothing_is_done_by_halves_without_memory, sweep_test_open,
						    sweep_test_close, (void *)(uintptr_t)&operations[i] };
}
