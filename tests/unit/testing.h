/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* tests/unit/testing.h: cmocka with what it wants included first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

/* A file of tests; all files of a room are one program: main.c. */
struct test_file {
	const char *path;
	int (*main)(void);
	struct test_file *next;
};
void test_file_add(struct test_file *file);

/* Begins the main() of a file of tests. */
#define TEST_MAIN(parameters)                                                                                \
	test_file_main(parameters);                                                                          \
	static __attribute__((constructor)) void test_file_main_add(void)                                    \
	{                                                                                                    \
		static struct test_file this_file = { .path = __FILE__, .main = test_file_main };            \
		test_file_add(&this_file);                                                                   \
	}                                                                                                    \
	static int test_file_main(parameters)

/* Whether qemu runs this program for another machine's processor. There the name of an abstract socket ends with a NUL more
 * than here, and posix_spawn() does not tell that the program cannot be run. */
static inline bool is_emulated(void)
{
	return getenv("QEMU_LD_PREFIX");
}

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* Those of cmocka do not tell an analyzer that a test ends there. */
#ifdef __clang_analyzer__
#undef assert_true
#undef assert_false
#undef assert_non_null
#undef assert_int_equal
#undef fail_msg
#define fail_msg(...)          (print_error(__VA_ARGS__), abort())
#define assert_true(c)         ((c) ? (void)0 : abort())
#define assert_false(c)        ((c) ? abort() : (void)0)
#define assert_non_null(c)     assert_true(c)
#define assert_int_equal(a, b) assert_true((LargestIntegralType)(a) == (LargestIntegralType)(b))
#endif
