/* SPDX-License-Identifier: Apache-2.0 */
#include "store/small_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/unit/testing.h"

static char directory[64], path[96];
static struct {
	bool bytes_kept;    /* the file was synced before it was renamed */
	bool name_kept;     /* the directory was synced after the rename */
	int directory_says; /* error number of fsync() on the directory; 0: success */
} disk;

static bool file_is(const char *wanted)
{
	struct text content AUTO_TEXT = { 0 };

	return small_file_read(path, 100, &content, NULL) == STATUS_OK && strcmp(content.data, wanted) == 0;
}

/* Calls the library's function after this one. */
int fsync(int fd)
{
	struct stat status;

	if (fstat(fd, &status) == 0 && S_ISDIR(status.st_mode)) {
		disk.name_kept = file_is("new");
		errno = disk.directory_says;
		return disk.directory_says ? -1 : 0;
	}
	disk.bytes_kept = !file_is("new");
	return (int)syscall(SYS_fsync, fd);
}

static enum status place(const char *bytes, enum placing placing)
{
	struct text content AUTO_TEXT = { 0 };

	text_puts(&content, bytes);
	disk.name_kept = disk.bytes_kept = false;
	return small_file_place(path, &content, 0600, placing, NULL);
}

static int setup(void **state)
{
	(void)state;
	strcpy(directory, "/tmp/trainyard-test-XXXXXX");
	disk.directory_says = 0;
	return mkdtemp(directory) && snprintf(path, sizeof(path), "%s/clock", directory) > 0 ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(directory); /* fails if another file is left */
}

/* Fails with: file_fill() without fsync(). Fails with: file_make() without name_keep(): the directory was not synced. */
static void what_was_placed_survives_a_loss_of_power(void **state)
{
	(void)state;
	assert_int_equal(place("old", PLACE_FIRST), STATUS_OK);
	assert_int_equal(place("new", PLACE_NEW), STATUS_OK);
	assert_true(disk.bytes_kept && disk.name_kept);
	unlink(path);
	assert_int_equal(place("new", PLACE_FIRST), STATUS_OK);
	assert_true(disk.bytes_kept && disk.name_kept);
}

/* Fails with: name_keep() without its look at EINVAL. Fails with: file_make() without it: EIO is not told. */
static void a_directory_that_is_not_synced_is_told(void **state)
{
	(void)state;
	disk.directory_says = EIO;
	assert_int_equal(place("new", PLACE_NEW), STATUS_FAILED_PRECONDITION);
	disk.directory_says = EINVAL; /* the file system cannot sync a directory */
	assert_int_equal(place("new", PLACE_NEW), STATUS_OK);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_was_placed_survives_a_loss_of_power, setup, teardown),
		cmocka_unit_test_setup_teardown(a_directory_that_is_not_synced_is_told, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
