/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/gcs/gcs_log.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/gcs/gcs_client.h"
#include "daemon/gcs/gcs_wait.h"
#include "tests/unit/testing.h"

enum { ASKED = 1000 };

static char file[] = "/tmp/ty-test-gcs-log-XXXXXX";
static int standard_error;

/* Redirects stderr to the file, as gcs_host.c does. */
static void error_begin(void)
{
	const int fd = open(file, O_WRONLY | O_APPEND | O_CLOEXEC);

	assert_true(fd >= 0);
	standard_error = dup(STDERR_FILENO);
	assert_int_equal(dup2(fd, STDERR_FILENO), STDERR_FILENO);
	close(fd);
}

static int64_t error_end(void)
{
	struct stat info;

	dup2(standard_error, STDERR_FILENO);
	close(standard_error);
	assert_int_equal(stat(file, &info), 0);
	return info.st_size;
}

/* Fails with: gcs_log_allows() that is always true (as it was): all 1000. */
static void few_lines_are_said_in_a_second(void **state)
{
	unsigned allowed = 0;

	(void)state;
	for (size_t i = 0; i < ASKED; i++)
		allowed += gcs_log_allows();
	assert_true(allowed > 0 && allowed <= 5 * GCS_LOG_LINES_PER_S);
}

/* Fails with: file_limit() that does nothing (as it was). */
static void a_full_file_begins_anew(void **state)
{
	(void)state;
	assert_int_equal(truncate(file, GCS_LOG_MAX_BYTES + 1), 0);
	error_begin();
	while (!gcs_log_allows())
		usleep(10000);
	assert_int_equal(error_end(), 0);
}

/* Fails with: request_end() without gcs_log_allows() (as it was): 1000 lines. */
static void what_fails_often_is_told_seldom(void **state)
{
	int64_t past_us = 1;
	const struct gcs_call call = { .until_us = &past_us };
	char state_dir[] = "/tmp/ty-test-gcs-log-XXXXXX";
	struct gcs_client *client;
	int state_fd;

	(void)state;
	assert_non_null(mkdtemp(state_dir));
	state_fd = open(state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	client = gcs_client_new(state_fd, 1);
	assert_non_null(client);
	error_begin();
	for (size_t i = 0; i < ASKED; i++)
		assert_int_not_equal(gcs_delete(client, &call, "b", "o", 0), 0);
	assert_true(error_end() < 16 << 10);
	gcs_client_free(client);
	close(state_fd);
	rmdir(state_dir);
}

static int file_make(void **state)
{
	const int fd = mkstemp(file);

	(void)state;
	close(fd);
	return fd < 0;
}

static int file_remove(void **state)
{
	(void)state;
	return unlink(file);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(few_lines_are_said_in_a_second),
		cmocka_unit_test(a_full_file_begins_anew),
		cmocka_unit_test(what_fails_often_is_told_seldom),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("gcs_log", tests, file_make, file_remove);
}
