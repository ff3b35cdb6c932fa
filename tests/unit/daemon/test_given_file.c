/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/given_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/cleanup.h"
#include "tests/unit/testing.h"

static void refused(const char *path, enum given_kind kind, const char *reason)
{
	struct error err AUTO_ERROR = { 0 };
	char *found = NULL;

	assert_int_equal(given_file_find("adc", path, kind, &found, &err), STATUS_INVALID_ARGUMENT);
	assert_null(found);
	if (!strstr(err.text, reason) || strncmp(err.text, "--adc: ", 7) != 0)
		fail_msg("%s", err.text);
}

static void a_path_becomes_absolute_and_free_of_links(void **state)
{
	char directory[] = "/tmp/trainyard-test-XXXXXX", link[64], colon[64];
	AUTO(string) char *found = NULL;
	AUTO(string) char *through = NULL;

	(void)state;
	assert_non_null(mkdtemp(directory));
	snprintf(link, sizeof(link), "%s/link", directory);
	snprintf(colon, sizeof(colon), "%s/a:b", directory);
	assert_int_equal(symlink("/etc/passwd", link), 0);
	assert_int_equal(mkdir(colon, 0700), 0);
	assert_int_equal(given_file_find("adc", link, GIVEN_FILE, &found, NULL), STATUS_OK);
	assert_string_equal(found, "/etc/passwd");
	assert_int_equal(given_file_find("wheels", directory, GIVEN_DIRECTORY, &through, NULL), STATUS_OK);
	assert_string_equal(through, directory);
	refused(colon, GIVEN_DIRECTORY, "a path with a ':'");
	unlink(link);
	rmdir(colon);
	rmdir(directory);
}

static void what_is_not_there_or_of_another_kind_is_refused(void **state)
{
	(void)state;
	refused("/no/such/file", GIVEN_FILE, "No such file or directory");
	refused("/etc", GIVEN_FILE, "is not a file");
	refused("/dev/null", GIVEN_FILE, "is not a file");
	refused("/etc/passwd", GIVEN_DIRECTORY, "is not a directory");
}

static int TEST_MAIN(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_path_becomes_absolute_and_free_of_links),
		cmocka_unit_test(what_is_not_there_or_of_another_kind_is_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("given_file", tests, NULL, NULL);
}
