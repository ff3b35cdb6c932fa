/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/address_file.h"
#include "store/state_dir.h"
#include "tests/unit/testing.h"

#define TEST(name) static void name(void **state_)

static char directory[] = "/tmp/trainyard-address-XXXXXX";

static void file_gives(const char *content, const char *url, const char *token_file, pid_t pid)
{
	struct address address AUTO_ADDRESS = { 0 };
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/address", directory);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(content, file);
	fclose(file);
	address_file_read(directory, &address);
	assert_int_equal(!address.url, !url);
	assert_int_equal(!address.token_file, !token_file);
	if (url)
		assert_string_equal(address.url, url);
	if (token_file)
		assert_string_equal(address.token_file, token_file);
	assert_int_equal(address.pid, pid);
}

TEST(what_a_daemon_wrote_is_read_and_nothing_else)
{
	(void)state_;
	file_gives("http://127.0.0.1:41234\n", "http://127.0.0.1:41234", NULL, 0);
	file_gives("http://[::1]:41234/\n/a token\n17\n", "http://[::1]:41234", "/a token", 17);
	file_gives("unix:/run/a\n\n9\n", "unix:/run/a", NULL, 9);
	file_gives("", NULL, NULL, 0);
	file_gives("http://", NULL, NULL, 0);
	file_gives("http://$(id)\n", NULL, NULL, 0);
	file_gives("rm -rf /\ntoken\n", NULL, NULL, 0);
	address_file_remove(directory);
}

/* Fails with: address_is_live() by the process id alone: the file of a daemon that was killed stayed good. is_outdated without
 * the lock that another PID namespace holds: a daemon in a container counted as killed. */
TEST(an_address_is_live_while_its_daemon_has_the_lock)
{
	struct address address AUTO_ADDRESS = { 0 };
	char lock_path[128];
	int lock = -1;

	(void)state_;
	address_file_write(directory, "http://127.0.0.1:1", NULL, 4711);
	address_file_read(directory, &address);
	assert_int_equal(address.pid, getpid());
	assert_int_equal(address.grpc_port, 4711);
	assert_false(address_is_live(&address, directory));
	assert_true(address.is_outdated);
	address_deinit(&address);
	assert_int_equal(state_dir_lock(directory, &lock, NULL), STATUS_OK);
	address_file_read(directory, &address);
	assert_true(address_is_live(&address, directory));
	assert_false(address.is_outdated);
	address.pid++;
	assert_false(address_is_live(&address, directory));
	address_deinit(&address);
	file_gives("http://127.0.0.1:1\n\n4711\n", "http://127.0.0.1:1", NULL, 4711);
	address_file_read(directory, &address);
	assert_true(address.is_outdated); /* another daemon has the lock, and has not written its address yet */
	snprintf(lock_path, sizeof(lock_path), "%s/lock", directory);
	assert_int_equal(truncate(lock_path, 0), 0); /* the process has no id here */
	address_deinit(&address);
	address_file_read(directory, &address);
	assert_false(address.is_outdated);
	close(lock);
	snprintf(lock_path, sizeof(lock_path), "%s/lock", directory);
	unlink(lock_path);
	address_file_remove(directory);
	rmdir(directory);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_daemon_wrote_is_read_and_nothing_else),
		cmocka_unit_test(an_address_is_live_while_its_daemon_has_the_lock),
	};

	if (!mkdtemp(directory))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
