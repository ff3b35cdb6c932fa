/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "api/http/path_socket.h"
#include "tests/unit/testing.h"

#define TEST(name) static void name(void **state_)

static char directory[] = "/tmp/trainyard-path-XXXXXX";
static char path[64];

TEST(nobody_else_may_connect_whatever_the_umask)
{
	struct path_socket socket = { .fd = -1 };
	struct stat about;
	const mode_t before = umask(0);

	(void)state_;
	assert_int_equal(path_socket_open(&socket, path, NULL), STATUS_OK);
	umask(before);
	assert_int_equal(lstat(path, &about), 0);
	assert_int_equal(about.st_mode & 07777, 0600);
	path_socket_close(&socket);
	path_socket_close(&socket);
	assert_int_not_equal(access(path, F_OK), 0);
}

TEST(a_socket_that_is_listened_at_is_left_alone)
{
	struct path_socket first = { .fd = -1 }, second = { .fd = -1 };

	(void)state_;
	assert_int_equal(path_socket_open(&first, path, NULL), STATUS_OK);
	assert_int_equal(path_socket_open(&second, path, NULL), STATUS_UNAVAILABLE);
	assert_int_equal(access(path, F_OK), 0);
	path_socket_close(&first);
}

TEST(an_abandoned_one_is_replaced)
{
	struct path_socket first = { .fd = -1 }, second = { .fd = -1 };

	(void)state_;
	assert_int_equal(path_socket_open(&first, path, NULL), STATUS_OK);
	close(first.fd); /* like a kill: the socket's file remains */
	first.fd = -1;
	assert_int_equal(path_socket_open(&second, path, NULL), STATUS_OK);
	path_socket_close(&second);
	path_socket_close(&first); /* the file was removed already */
}

TEST(what_took_its_place_is_not_removed)
{
	struct path_socket first = { .fd = -1 }, second = { .fd = -1 };
	char moved[80];

	(void)state_;
	snprintf(moved, sizeof(moved), "%s.moved", path);
	assert_int_equal(path_socket_open(&first, path, NULL), STATUS_OK);
	assert_int_equal(rename(path, moved), 0);
	assert_int_equal(path_socket_open(&second, path, NULL), STATUS_OK);
	path_socket_close(&first);
	assert_int_equal(access(path, F_OK), 0);
	path_socket_close(&second);
	assert_int_equal(unlink(moved), 0);
}

TEST(what_is_no_socket_is_left_alone)
{
	struct path_socket socket = { .fd = -1 };
	char long_path[128];

	(void)state_;
	close(open(path, O_CREAT | O_WRONLY, 0600));
	assert_int_equal(path_socket_open(&socket, path, NULL), STATUS_UNAVAILABLE);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("/tmp", path), 0);
	assert_int_equal(path_socket_open(&socket, path, NULL), STATUS_UNAVAILABLE);
	assert_int_equal(unlink(path), 0);
	memset(long_path, '/', sizeof(long_path) - 1);
	long_path[sizeof(long_path) - 1] = '\0';
	assert_int_equal(path_socket_open(&socket, long_path, NULL), STATUS_INVALID_ARGUMENT);
}

static int setup(void **state)
{
	(void)state;
	if (!mkdtemp(directory))
		return -1;
	snprintf(path, sizeof(path), "%s/socket", directory);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	return rmdir(directory);
}

static int TEST_MAIN(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(nobody_else_may_connect_whatever_the_umask),
		cmocka_unit_test(a_socket_that_is_listened_at_is_left_alone),
		cmocka_unit_test(an_abandoned_one_is_replaced),
		cmocka_unit_test(what_took_its_place_is_not_removed),
		cmocka_unit_test(what_is_no_socket_is_left_alone),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("path_socket", tests, setup, teardown);
}
