/* SPDX-License-Identifier: Apache-2.0 */
/* Tests daemon/base/tree.c: removes whatever a program in a container has left, of any shape. */
#include "daemon/base/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/testing.h"

enum { DEEP = 2500, WIDE = 300 };

static char top[] = "/tmp/trainyard-test-tree-XXXXXX";

static int directory_at(int above, const char *name, mode_t mode)
{
	int fd;

	assert_int_equal(mkdirat(above, name, 0700), 0);
	fd = openat(above, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(fchmod(fd, mode), 0);
	return fd;
}

static void file_at(int above, const char *name)
{
	int fd = openat(above, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0);

	assert_true(fd >= 0);
	close(fd);
}

/* `mkdir a; cd a` repeatedly, with a file beside each directory. */
static void deep_make(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	for (int i = 0; i < DEEP; i++) {
		int below = directory_at(fd, "a", 0700);

		file_at(fd, "beside");
		close(fd);
		fd = below;
	}
	close(fd);
}

static int start(void **state)
{
	(void)state;
	snprintf(top, sizeof(top), "/tmp/trainyard-test-tree-XXXXXX");
	return mkdtemp(top) ? 0 : -1;
}

/* Fails with: removal by paths (nftw): ENAMETOOLONG, and `clean` failed for ever. */
static void a_tree_deeper_than_a_path_is_removed_with_few_descriptors(void **state)
{
	struct rlimit before, few;

	(void)state;
	deep_make(top);
	getrlimit(RLIMIT_NOFILE, &before);
	few = (struct rlimit){ 16, before.rlim_max };
	setrlimit(RLIMIT_NOFILE, &few);
	assert_true(tree_remove(top, SIZE_MAX));
	setrlimit(RLIMIT_NOFILE, &before);
	assert_int_equal(access(top, F_OK), -1);
	assert_true(tree_remove(top, SIZE_MAX));
}

/* Fails with: directory_take() without O_NOFOLLOW. */
static void links_are_removed_and_not_followed(void **state)
{
	char elsewhere[] = "/tmp/trainyard-test-else-XXXXXX";
	int fd = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC), there;

	(void)state;
	assert_non_null(mkdtemp(elsewhere));
	there = open(elsewhere, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	file_at(there, "kept");
	assert_int_equal(symlinkat(elsewhere, fd, "link"), 0);
	assert_int_equal(symlinkat("/nonexistent", fd, "nowhere"), 0);
	assert_int_equal(mkfifoat(fd, "pipe", 0), 0);
	assert_true(tree_remove(top, SIZE_MAX));
	assert_int_equal(symlink(elsewhere, top), 0);
	assert_false(tree_remove(top, SIZE_MAX));
	assert_int_equal(errno, ENOTDIR);
	unlink(top);
	assert_int_equal(faccessat(there, "kept", F_OK, 0), 0);
	assert_true(tree_remove(elsewhere, SIZE_MAX));
	close(there);
	close(fd);
}

/* Not tested as root, because modes do not apply to root. Fails with: directory_take() without its chmod(): EACCES. */
static void modes_do_not_keep_a_directory(void **state)
{
	static const mode_t modes[] = { 0, 0100, 0400, 0500, 0600, 0300 };
	int fd = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const bool is_root = geteuid() == 0;
	bool is_gone;

	(void)state;
	if (is_root)
		assert_int_equal(fchown(fd, 65534, 65534) | seteuid(65534) | prctl(PR_SET_DUMPABLE, 1),
				 0); /* or /proc of the process belongs to root */
	for (size_t i = 0; i < COUNT_OF(modes); i++) {
		char name[8];
		int below, further;

		snprintf(name, sizeof(name), "%zu", i);
		below = directory_at(fd, name, 0700);
		further = directory_at(below, "b", modes[i]);
		assert_int_equal(fchmod(further, 0700), 0);
		file_at(further, "c");
		assert_int_equal(fchmod(further, modes[i]) | fchmod(below, modes[i]), 0);
		close(further);
		close(below);
	}
	assert_int_equal(fchmod(fd, 0), 0);
	tree_remove(top, SIZE_MAX); /* the parent of the top directory belongs to another user */
	is_gone = access(top, F_OK) != 0 || rmdir(top) == 0;
	if (is_root)
		assert_int_equal(seteuid(0), 0);
	assert_true(is_gone || rmdir(top) == 0); /* it is empty */
	close(fd);
}

/* Fails with: step_take() true: the scheduler's thread was held up; entry_lift() that takes no step, likewise. */
static void a_call_makes_no_more_steps_than_it_is_given(void **state)
{
	unsigned calls = 1;

	(void)state;
	deep_make(top);
	for (int i = 0; i < WIDE; i++) {
		char path[64];

		snprintf(path, sizeof(path), "%s/%d", top, i);
		assert_int_equal(mkdir(path, 0700), 0);
	}
	while (!tree_remove(top, 1000)) {
		assert_int_equal(errno, EFBIG);
		assert_true(calls++ < 40);
	}
	assert_in_range(calls, 6, 20); /* calls for 5300 entries */
	assert_int_equal(access(top, F_OK), -1);
}

static int TEST_MAIN(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_tree_deeper_than_a_path_is_removed_with_few_descriptors, start),
		cmocka_unit_test_setup(links_are_removed_and_not_followed, start),
		cmocka_unit_test_setup(modes_do_not_keep_a_directory, start),
		cmocka_unit_test_setup(a_call_makes_no_more_steps_than_it_is_given, start),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("tree", tests, NULL, NULL);
}
