/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/credentials.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/base/json.h"
#include "store/keys/signing_key.h"
#include "tests/unit/testing.h"

#define TEST(name) static void name(void **state_)

static char dir[64];

static int directory_open(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/trainyard-test-XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static size_t files_count(void)
{
	DIR *listing = opendir(dir);
	struct dirent *file;
	size_t count = 0;

	while ((file = readdir(listing)))
		count += file->d_name[0] != '.';
	closedir(listing);
	return count;
}

static int directory_close(void **state)
{
	char path[128];

	(void)state;
	snprintf(path, sizeof(path), "%s/credentials.json", dir);
	unlink(path);
	snprintf(path, sizeof(path), "%s/identity.key", dir);
	unlink(path);
	return rmdir(dir);
}

static json_t *keep(const char *url, const char *project, struct stat *ret_info)
{
	AUTO(string) char *path = NULL;
	struct error err AUTO_ERROR = { 0 };
	json_t *credentials;

	if (credentials_keep(dir, url, project, &path, &err))
		fail_msg("%s", err.text);
	credentials = json_load_file(path, 0, NULL);
	assert_non_null(credentials);
	assert_int_equal(stat(path, ret_info), 0);
	return credentials;
}

TEST(the_file_is_a_service_account_s)
{
	struct stat info;
	AUTO(json) json_t *credentials = keep("http://127.0.0.1:8090", "demo", &info);
	AUTO(signing_key) struct signing_key *key = signing_key_new(dir);
	struct text pem AUTO_TEXT = { 0 };
	char id[41];

	(void)state_;
	assert_int_equal(info.st_mode & 07777, 0600);
	assert_int_equal(files_count(), 2);
	assert_string_equal(json_text_at(credentials, "type"), "service_account");
	assert_string_equal(json_text_at(credentials, "project_id"), "demo");
	assert_string_equal(json_text_at(credentials, "client_email"),
			    "trainyard@demo.iam.gserviceaccount.com");
	assert_string_equal(json_text_at(credentials, "token_uri"), "http://127.0.0.1:8090/token");
	assert_string_equal(json_text_at(credentials, "universe_domain"), "googleapis.com");
	assert_int_equal(strspn(json_text_at(credentials, "client_id"), "0123456789"), 21);
	assert_int_equal(signing_key_pem(key, &pem, id, NULL), STATUS_OK);
	assert_string_equal(json_text_at(credentials, "private_key"), pem.data);
	assert_string_equal(json_text_at(credentials, "private_key_id"), id);
}

TEST(a_file_that_says_the_same_is_left_alone)
{
	struct stat before, after;

	(void)state_;
	json_decref(keep("http://127.0.0.1:8090", "demo", &before));
	json_decref(keep("http://127.0.0.1:8090", "demo", &after));
	assert_int_equal(before.st_ino, after.st_ino);
}

TEST(a_stale_file_is_replaced)
{
	struct stat before, after;
	char path[128];

	(void)state_;
	json_decref(keep("http://127.0.0.1:8090", "demo", &before));
	AUTO(json) json_t *elsewhere = keep("http://127.0.0.1:8091", "demo", &after);

	assert_string_equal(json_text_at(elsewhere, "token_uri"), "http://127.0.0.1:8091/token");
	AUTO(json) json_t *other = keep("http://127.0.0.1:8091", "example.com:demo", &after);

	assert_string_equal(json_text_at(other, "client_email"),
			    "trainyard@demo.example.com.iam.gserviceaccount.com");
	/* The mode of a file that others can read is corrected. */
	snprintf(path, sizeof(path), "%s/credentials.json", dir);
	assert_int_equal(chmod(path, 0644), 0);
	json_decref(keep("http://127.0.0.1:8091", "example.com:demo", &after));
	assert_int_equal(after.st_mode & 07777, 0600);
	assert_int_equal(files_count(), 2);
}

TEST(a_directory_that_is_not_there_is_not_made)
{
	struct error err AUTO_ERROR = { 0 };
	char path[128];
	char *made = NULL;

	(void)state_;
	snprintf(path, sizeof(path), "%s/nowhere", dir);
	assert_int_equal(credentials_keep(path, "http://127.0.0.1:1", "demo", &made, &err),
			 STATUS_FAILED_PRECONDITION);
	assert_non_null(strstr(err.text, "no daemon has used"));
	assert_int_equal(access(path, F_OK), -1);
}

TEST(another_user_s_directory_is_left_alone)
{
	struct error err AUTO_ERROR = { 0 };
	char *made = NULL;

	(void)state_;
	if (geteuid() == 0)
		assert_int_equal(chown(dir, 65534, 65534), 0);
	assert_int_equal(
		credentials_keep(geteuid() == 0 ? dir : "/", "http://127.0.0.1:1", "demo", &made, &err),
		STATUS_FAILED_PRECONDITION);
	assert_non_null(strstr(err.text, "belongs to another user"));
	assert_int_equal(files_count(), 0);
}

/* Starts a process that opens a file that is made on demand; the bytes that it reads arrive at the descriptor. */
static pid_t reader_start(const char *path, int *ret_fd)
{
	int fds[2];
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (pid == 0) {
		char bytes[8192];
		FILE *file = fopen(path, "re");
		const size_t length = file ? fread(bytes, 1, sizeof(bytes), file) : 0;

		_exit(write(fds[1], bytes, length) == (ssize_t)length ? 0 : 1);
	}
	close(fds[1]);
	*ret_fd = fds[0];
	return pid;
}

/* Fails with: F_SETLEASE left out: no SIGIO came, and the reader had empty lines. */
TEST(a_promised_file_is_made_when_it_is_opened)
{
	AUTO(string) char *path = NULL;
	struct error err AUTO_ERROR = { 0 };
	sigset_t signals, before;
	char bytes[8192] = "";
	size_t length = 0;
	ssize_t got;
	int fd, from, status, number;
	pid_t reader;

	(void)state_;
	sigemptyset(&signals);
	sigaddset(&signals, SIGIO);
	sigprocmask(SIG_BLOCK, &signals, &before);
	fd = credentials_promise(dir, &path);
	if (fd < 0)
		skip(); /* the file system has no leases */
	assert_int_equal(files_count(), 1);
	reader = reader_start(path, &from);
	assert_int_equal(sigwait(&signals, &number), 0);
	assert_int_equal(credentials_fill(fd, dir, "http://127.0.0.1:8090", "demo", &err), STATUS_OK);
	while ((got = read(from, bytes + length, sizeof(bytes) - length)) > 0)
		length += (size_t)got;
	close(from);
	assert_int_equal(waitpid(reader, &status, 0), reader);
	assert_int_equal(status, 0);
	assert_int_equal(length, 4096);
	AUTO(json) json_t *credentials = json_loadb(bytes, length, 0, NULL);
	assert_string_equal(json_text_at(credentials, "token_uri"), "http://127.0.0.1:8090/token");
	assert_int_equal(files_count(), 2);
	assert_int_equal(credentials_promise(dir, &path), -1);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

#define WITH(name) cmocka_unit_test_setup_teardown(name, directory_open, directory_close)

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		WITH(the_file_is_a_service_account_s),
		WITH(a_file_that_says_the_same_is_left_alone),
		WITH(a_stale_file_is_replaced),
		WITH(a_promised_file_is_made_when_it_is_opened),
		WITH(a_directory_that_is_not_there_is_not_made),
		WITH(another_user_s_directory_is_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
