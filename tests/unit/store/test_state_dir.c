/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the access rules of a state directory by modes. Other owners need root: see tests/attack. */
#include "store/state_dir.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/text.h"
#include "tests/unit/testing.h"

static char above[64];

static const char *below(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", above, name);
	return path;
}

static int entry_remove(const char *path, const struct stat *facts, int type, struct FTW *place)
{
	(void)facts, (void)type, (void)place;
	return remove(path);
}

static int teardown(void **state)
{
	(void)state;
	return nftw(above, entry_remove, 8, FTW_DEPTH | FTW_PHYS);
}

static int setup(void **state)
{
	(void)state;
	strcpy(above, "/tmp/trainyard-test-XXXXXX");
	return mkdtemp(above) && mkdir(below("state"), 0700) == 0 && mkdir(below("state/ca"), 0700) == 0 ? 0
													 : -1;
}

static void file_make(const char *name, mode_t mode)
{
	const int fd = open(below(name), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

	assert_true(fd >= 0 && fchmod(fd, mode) == 0);
	close(fd);
}

static void mode_set(const char *name, mode_t mode)
{
	assert_int_equal(chmod(below(name), mode), 0);
}

/* @words: the error; "": no other user can change it. */
static void check(const char *dir, const char *words)
{
	struct error err AUTO_ERROR = { 0 };
	const enum status rc = state_dir_check_owner(below(dir), &err);

	assert_int_equal(rc, *words ? STATUS_FAILED_PRECONDITION : STATUS_OK);
	if (rc && !strstr(err.text, words))
		fail_msg("%s", err.text);
}

static void its_own_is_taken(void **state)
{
	(void)state;
	file_make("state/state.db", 0644);
	file_make("state/ca/ca.key", 0600);
	check("state", "");
	mode_set("state", 0755);
	mode_set("", 01777);
	check("state", "");
	check("to/be/made", "");
	/* Fails with: file_check() that follows links: their owner and their target are another matter. */
	file_make("elsewhere", 0666);
	assert_int_equal(symlink("../elsewhere", below("state/link")), 0);
	check("state", "");
	if (geteuid() == 0 && lchown(below("state/link"), 65534, 65534) == 0)
		check("state", "link belongs to user 65534");
}

/* Fails with: keys_directory_check() of the state directory alone; file_check() without modes. */
static void what_others_can_write_is_refused(void **state)
{
	(void)state;
	mode_set("state", 0770);
	check("state", "mode 770");
	mode_set("state", 0702);
	check("state", "mode 702");
	mode_set("state", 0700);
	mode_set("state/ca", 0722);
	check("state", "/ca has mode 722");
	mode_set("state/ca", 0700);
	file_make("state/ca/ca.key", 0602);
	check("state", "ca.key has mode 602");
	assert_int_equal(unlink(below("state/ca/ca.key")), 0);
	file_make("state/state.db", 0660);
	check("state", "state.db has mode 660");
}

/* Fails with: above_check() that looks at no mode; above_find() that finds the root alone. */
static void what_others_can_put_in_its_place_is_refused(void **state)
{
	(void)state;
	mode_set("", 0777);
	check("state", "of mode 777");
	check("to/be/made", "of mode 777");
}

/* Fails with: file_check() that looks at modes of files alone; files_check() that takes ".." for one of them. */
static void directories_in_it_are_looked_at(void **state)
{
	(void)state;
	assert_int_equal(mkdir(below("state/blobs"), 0700), 0);
	mode_set("", 01777);
	check("state", "");
	mode_set("state/blobs", 0770);
	check("state", "blobs has mode 770");
}

/* @words: the error; "": it is found at @real. */
static void find(const char *dir, const char *real, const char *words)
{
	AUTO(string) char *found = NULL;
	struct error err AUTO_ERROR = { 0 };
	const enum status rc = state_dir_find(below(dir), true, &found, &err);

	assert_int_equal(rc, *words ? STATUS_FAILED_PRECONDITION : STATUS_OK);
	if (!rc)
		assert_string_equal(found, below(real));
	else if (!strstr(err.text, words))
		fail_msg("%s", err.text);
}

/* Another user could change the link afterwards, so the real path is used. Fails with: state_dir_find() that gives back
 * what it was given. */
static void what_was_looked_at_is_found(void **state)
{
	(void)state;
	assert_int_equal(mkdir(below("open"), 0700), 0);
	mode_set("open", 0777);
	assert_int_equal(symlink("../state", below("open/link")), 0);
	find("open/link", "state", "");
	find("to/be/made", "to/be/made", "");
}

/* Fails with: state_dir_find() that looks before it makes alone. */
static void what_was_made_is_looked_at(void **state)
{
	(void)state;
	assert_int_equal(mkdir(below("open"), 0700), 0);
	mode_set("open", 0777);
	find("open/made", "", "open of mode 777");
	assert_int_equal(access(below("open/made"), F_OK), -1);
	find("not/../open/made", "", "open of mode 777");
}

static void what_is_no_directory_is_refused(void **state)
{
	(void)state;
	assert_int_equal(rmdir(below("state/ca")), 0);
	file_make("state/ca", 0600);
	check("state", "/ca is not a directory");
	file_make("file", 0600);
	check("file", "is not a directory");
}

/* Fails with: above_find() without its "./". */
static void a_path_may_begin_here(void **state)
{
	char *before = getcwd(NULL, 0);
	struct error err AUTO_ERROR = { 0 };

	(void)state;
	assert_non_null(before);
	mode_set("", 0777);
	assert_int_equal(chdir(above), 0);
	assert_int_equal(state_dir_check_owner("made", &err), STATUS_FAILED_PRECONDITION);
	assert_int_equal(chdir(before), 0);
	free(before);
	assert_non_null(strstr(err.text, "of mode 777"));
}

static int TEST_MAIN(void)
{
#define OWN(TEST) cmocka_unit_test_setup_teardown(TEST, setup, teardown)
	static const struct CMUnitTest tests[] = {
		OWN(its_own_is_taken),
		OWN(what_others_can_write_is_refused),
		OWN(what_others_can_put_in_its_place_is_refused),
		OWN(directories_in_it_are_looked_at),
		OWN(what_was_looked_at_is_found),
		OWN(what_was_made_is_looked_at),
		OWN(what_is_no_directory_is_refused),
		OWN(a_path_may_begin_here),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("state_dir", tests, NULL, NULL);
}
