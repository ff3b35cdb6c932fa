/* SPDX-License-Identifier: Apache-2.0 */
/* Tests daemon/base/memory.c: a process without memory prints one line and ends; functions that may fail return an
 * error. The program is linked with --wrap for the functions that memory.c calls. */
#include "daemon/base/memory.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/base/text.h"
#include "tests/unit/testing.h"

static bool is_short;

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size)
{
	return is_short ? NULL : __real_malloc(size);
}

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size)
{
	return is_short ? NULL : __real_calloc(count, size);
}

void *__real_reallocarray(void *place, size_t count, size_t size);
void *__wrap_reallocarray(void *place, size_t count, size_t size);
void *__wrap_reallocarray(void *place, size_t count, size_t size)
{
	return is_short ? NULL : __real_reallocarray(place, count, size);
}

void *__real_realloc(void *place, size_t size);
void *__wrap_realloc(void *place, size_t size);
void *__wrap_realloc(void *place, size_t size)
{
	return is_short ? NULL : __real_realloc(place, size);
}

int __real_vasprintf(char **ret_text, const char *format, va_list args);
int __wrap_vasprintf(char **ret_text, const char *format, va_list args);
int __wrap_vasprintf(char **ret_text, const char *format, va_list args)
{
	return is_short ? -1 : __real_vasprintf(ret_text, format, args);
}

/* The function behind vasprintf() with overflow checks of the C library (_FORTIFY_SOURCE). */
int __real___vasprintf_chk(char **ret_text, int flag, const char *format, va_list args);
int __wrap___vasprintf_chk(char **ret_text, int flag, const char *format, va_list args);
int __wrap___vasprintf_chk(char **ret_text, int flag, const char *format, va_list args)
{
	return is_short ? -1 : __real___vasprintf_chk(ret_text, flag, format, args);
}

static void *volatile kept; /* keeps the compiler from removing calls */

static void alloc(void)
{
	kept = memory_alloc(7);
}

static void zeroed(void)
{
	kept = memory_calloc(7, 1);
}

static void resize(void)
{
	kept = memory_resize(NULL, 7, 1);
}

static void copy(void)
{
	kept = memory_strdup("names!");
}

static void print(void)
{
	kept = memory_printf("%s", "names!");
}

static void text(void)
{
	static struct text name;

	text_puts(&name, "names!");
}

static void json(void)
{
	kept = json_object();
}

static void ends_with_one_line(void **state)
{
	static void (*const calls[])(void) = { alloc, zeroed, resize, copy, print, text, json };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(calls); i++) {
		char said[256] = "";
		int channel[2], status;
		ssize_t length;
		pid_t child;

		assert_int_equal(pipe(channel), 0);
		child = fork();
		if (child == 0) {
			dup2(channel[1], STDERR_FILENO);
			is_short = true;
			calls[i]();
			_exit(0);
		}
		close(channel[1]);
		assert_int_equal(waitpid(child, &status, 0), child);
		length = read(channel[0], said, sizeof(said) - 1);
		close(channel[0]);
		assert_true(length > 0);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), 1);
		assert_ptr_equal(strstr(said, "trainyard: out of memory: "), said);
		assert_ptr_equal(strchr(said, '\n'), said + length - 1);
	}
}

/* Fails with: text_reserve() that does not ask may_fail: the program ended; text_append() that takes no look at what
 * text_reserve() says: it wrote past the end. */
static void a_text_whose_size_a_client_chose_fails_and_keeps_no_more(void **state)
{
	struct text body AUTO_TEXT = { .may_fail = true };
	char bytes[4096] = "";

	(void)state;
	text_puts(&body, "kept");
	assert_false(body.failed);
	is_short = true;
	text_append(&body, bytes, sizeof(bytes));
	assert_true(body.failed);
	text_printf(&body, "%4096s", "");
	is_short = false;
	text_puts(&body, "more");
	assert_true(body.failed);
	assert_string_equal(body.data, "kept");
	text_renew(&body, sizeof(bytes));
	assert_true(body.may_fail);
	text_puts(&body, "new");
	assert_false(body.failed);
	assert_string_equal(body.data, "new");
}

static void copies_end_where_they_are_told_to(void **state)
{
	char *whole = memory_strdup("whole"), *part = memory_strndup("part of it", 4),
	     *shorter = memory_strndup("ab", 10), *printed = memory_printf("%d-%s", 7, "x");

	(void)state;
	assert_string_equal(whole, "whole");
	assert_string_equal(part, "part");
	assert_string_equal(shorter, "ab");
	assert_string_equal(printed, "7-x");
	assert_null(memory_strdup(NULL));
	free(whole);
	free(part);
	free(shorter);
	free(printed);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ends_with_one_line),
		cmocka_unit_test(a_text_whose_size_a_client_chose_fails_and_keeps_no_more),
		cmocka_unit_test(copies_end_where_they_are_told_to),
	};

	memory_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
