/* SPDX-License-Identifier: Apache-2.0 */
/* main() of the unit test programs. Linking takes longer than compiling under sanitizers, so all files of a room are one
 * program. Make gives it a symbolic link for each file: tests/unit/daemon/test_env runs tests/unit/daemon/test_env.c,
 * in a process of its own. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/testing.h"

static struct test_file *files;

void test_file_add(struct test_file *file)
{
	file->next = files;
	files = file;
}

/* Whether "../source/tests/unit/daemon/test_env.c" is the file of the program "./tests/unit/daemon/test_env". */
static bool is_file_of(const char *path, const char *program)
{
	const char *const begin = strstr(program, "tests/unit/"), *const at = strstr(path, "tests/unit/");
	const size_t length = begin ? strlen(begin) : 0;

	return at && length && !strncmp(at, begin, length) && !strcmp(at + length, ".c");
}

/* Replaces cmocka's function: version 1.1.5 prints "not ok 3 # SKIP" for a skipped test, which counts as a failure. */
void print_message(const char *const format, ...)
{
	const bool is_skip = !strncmp(format, "not ok ", 7) && strstr(format, "# SKIP");
	va_list values;

	va_start(values, format);
	vprintf(format + (is_skip ? strlen("not ") : 0), values);
	va_end(values);
}

int main(int argc, char **argv)
{
	(void)argc;
	for (const struct test_file *file = files; file; file = file->next)
		if (is_file_of(file->path, argv[0]))
			return file->main();
	fprintf(stderr, "%s: run the link of a file, one of:\n", argv[0]);
	for (const struct test_file *file = files; file; file = file->next)
		fprintf(stderr, "%s\n", file->path);
	return 2;
}
