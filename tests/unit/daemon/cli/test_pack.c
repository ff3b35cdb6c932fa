/* SPDX-License-Identifier: Apache-2.0 */
/* Files that change or cannot be read while they are packed. */
#include "daemon/cli/pack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/memory.h"
#include "tests/unit/testing.h"

static char place[64];

static int setup(void **state)
{
	(void)state;
	strcpy(place, "/tmp/trainyard-test-XXXXXX");
	return mkdtemp(place) ? 0 : -1;
}

static void file_write(const char *name, size_t bytes)
{
	AUTO(string) char *path = memory_printf("%s/%s", place, name);
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	for (size_t i = 0; i < bytes; i++)
		putc('x', file);
	fclose(file);
}

static int teardown(void **state)
{
	static const char *const names[] = { "a", "b" };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		AUTO(string) char *path = memory_printf("%s/%s", place, names[i]);

		unlink(path);
	}
	return rmdir(place);
}

/* Fails with: pack_open() that goes on without a file. */
static void without_room_for_temporary_files_nothing_is_packed(void **state)
{
	struct error err AUTO_ERROR = { 0 };
	struct pack *pack = NULL;

	(void)state;
	setenv("TMPDIR", "/nonexistent", 1);
	assert_int_equal(pack_open(true, &pack, &err), STATUS_UNAVAILABLE);
	unsetenv("TMPDIR");
	assert_null(pack);
	assert_non_null(strstr(err.text, "/nonexistent/trainyard-"));
}

/* Changes a file after its size is known and before it is read. */
static bool size_change(void *arg, const char *name, bool is_directory)
{
	AUTO(string) char *path = memory_printf("%s/%s", place, name);

	assert_false(is_directory);
	if (strcmp(name, "b") == 0)
		assert_int_equal(truncate(path, *(const off_t *)arg), 0);
	return false;
}

static enum status pack_all(off_t size, int64_t *ret_bytes, struct error *err)
{
	AUTO(pack) struct pack *pack = NULL;
	int fd;
	enum status rc;

	file_write("a", 1000);
	file_write("b", 100000);
	assert_int_equal(pack_open(false, &pack, err), STATUS_OK);
	rc = pack_directory(pack, place, "top", size_change, &size, err);
	assert_int_equal(pack_finish(pack, &fd, ret_bytes, NULL), STATUS_OK);
	return rc;
}

/* Fails with: data_put() that takes the end of a file for the end of its data: the archive had less than it told. */
static void a_file_that_becomes_shorter_is_told(void **state)
{
	const off_t sizes[] = { 0, 1, 65536, 99999 };
	int64_t bytes;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(sizes); i++) {
		struct error err AUTO_ERROR = { 0 };

		assert_int_equal(pack_all(sizes[i], &bytes, &err), STATUS_INVALID_ARGUMENT);
		assert_non_null(strstr(err.text, "/b became shorter while it was read"));
	}
}

/* Fails with: data_put() that reads to the end. */
static void a_file_that_grows_is_packed_as_it_was(void **state)
{
	struct error err AUTO_ERROR = { 0 };
	int64_t bytes = 0;

	(void)state;
	assert_int_equal(pack_all(200000, &bytes, &err), STATUS_OK);
	/* Two headers, the data in blocks, and two blocks at the end. */
	assert_int_equal(bytes, 512 + 1024 + 512 + 100352 + 1024);
}

static int TEST_MAIN(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_room_for_temporary_files_nothing_is_packed),
		cmocka_unit_test_setup_teardown(a_file_that_becomes_shorter_is_told, setup, teardown),
		cmocka_unit_test_setup_teardown(a_file_that_grows_is_packed_as_it_was, setup, teardown),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("pack", tests, NULL, NULL);
}
