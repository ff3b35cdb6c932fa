/* SPDX-License-Identifier: Apache-2.0 */
/* Tests scheduler/engine/docker_credentials.c and docker_helper.c. */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>
#include <sodium.h>

#include "daemon/base/clock.h"
#include "daemon/base/json.h"
#include "scheduler/engine/docker_credentials.h"
#include "scheduler/engine/docker_helper.h"
#include "tests/unit/testing.h"

static char directory[64];
static int never_fd, now_fd;

static void file_write(const char *name, const char *content, mode_t mode)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, mode);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, content, strlen(content)), strlen(content));
	close(fd);
}

static void file_remove(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	unlink(path);
}

/* Checks the header's contents as JSON text; "": no header; "!STATUS": an error. */
static void expect_header(const char *registry, const char *wanted)
{
	struct error err AUTO_ERROR = { 0 };
	AUTO(secret) char *header = NULL;
	char plain[1024] = "";
	size_t length = 0;
	enum status rc = registry_credentials_find(directory, registry, never_fd, &header, &err);

	if (rc)
		snprintf(plain, sizeof(plain), "!%s", status_name(rc));
	else if (header)
		assert_int_equal(sodium_base642bin((unsigned char *)plain, sizeof(plain) - 1, header,
						   strlen(header), NULL, &length, NULL,
						   sodium_base64_VARIANT_URLSAFE),
				 0);
	assert_string_equal(plain, wanted);
	assert_int_equal(rc, err.status);
}

static void references_name_their_registry(void **state)
{
	static const struct {
		const char *image, *registry, *name, *tag;
	} references[] = {
		{ "busybox", "https://index.docker.io/v1/", "busybox", "latest" },
		{ "user/train:1.2", "https://index.docker.io/v1/", "user/train", "1.2" },
		{ "docker.io/user/train", "https://index.docker.io/v1/", "docker.io/user/train", "latest" },
		{ "gcr.io/p/train:v1", "gcr.io", "gcr.io/p/train", "v1" },
		/* Docker Hub's credentials must not be used for these (found by fuzz_image). */
		{ "MYHOST/train", "MYHOST", "MYHOST/train", "latest" },
		{ "[::1]:5000/train:t", "[::1]:5000", "[::1]:5000/train", "t" },
		{ "localhost/train", "localhost", "localhost/train", "latest" },
		{ "127.0.0.1:5000/train", "127.0.0.1:5000", "127.0.0.1:5000/train", "latest" },
		{ "127.0.0.1:5000/a/b:t", "127.0.0.1:5000", "127.0.0.1:5000/a/b", "t" },
		{ "gcr.io/p/t@sha256:abc", "gcr.io", "gcr.io/p/t", "sha256:abc" },
		{ "gcr.io/p/t:v1@sha256:abc", "gcr.io", "gcr.io/p/t", "sha256:abc" },
	};
	struct image_reference reference;

	(void)state;
	for (size_t i = 0; i < sizeof(references) / sizeof(references[0]); i++) {
		assert_int_equal(image_reference_parse(references[i].image, &reference, NULL), STATUS_OK);
		assert_string_equal(reference.registry, references[i].registry);
		assert_string_equal(reference.name, references[i].name);
		assert_string_equal(reference.tag, references[i].tag);
		assert_false(reference.is_id);
	}
	assert_int_equal(image_reference_parse("sha256:0123", &reference, NULL), STATUS_OK);
	assert_true(reference.is_id);
}

static void references_cannot_leave_their_path(void **state)
{
	static const char *const bad[] = { "",    "/x",  "../x",     "a/../b", "a//b", "a b",
					   "a?b", "a#b", "a%2fb",    "x:",     "x@",   ":x",
					   "@x",  "x/",  "\xc3\xa9", "a\nb",   "-",    "." };
	struct image_reference reference;
	char longest[REFERENCE_SIZE + 1];

	(void)state;
	memset(longest, 'a', sizeof(longest));
	longest[REFERENCE_SIZE] = '\0';
	assert_int_equal(image_reference_parse(longest, &reference, NULL), STATUS_INVALID_ARGUMENT);
	longest[REFERENCE_SIZE - 1] = '\0';
	assert_int_equal(image_reference_parse(longest, &reference, NULL), STATUS_OK);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (strcmp(bad[i], "-") != 0 && image_reference_parse(bad[i], &reference, NULL) == STATUS_OK)
			fail_msg("%s is taken", bad[i]);
}

static void without_a_file_there_are_no_credentials(void **state)
{
	(void)state;
	file_remove("config.json");
	expect_header("gcr.io", "");
}

static void auths_are_found_by_registry(void **state)
{
	(void)state;
	/* "user:pa:ss" */
	file_write(
		"config.json",
		"{\"auths\":{\"gcr.io\":{\"auth\":\"dXNlcjpwYTpzcw==\"},"
		"\"https://reg.example/v2/\":{\"username\":\"u\",\"password\":\"p\"},"
		"\"https://index.docker.io/v1/\":{\"auth\":\"dXNlcjpwYTpzcw==\",\"identitytoken\":\"tok\"},"
		"\"empty.example\":{},\"bad.example\":{\"auth\":\"***\"},\"latin.example\":{\"auth\":\"dTpw5A==\"},\"nocolon.example\":{\"auth\":"
		"\"dXNlcg==\"}}}",
		0600);
	expect_header("gcr.io",
		      "{\"username\":\"user\",\"password\":\"pa:ss\",\"serveraddress\":\"gcr.io\"}");
	expect_header("reg.example",
		      "{\"username\":\"u\",\"password\":\"p\",\"serveraddress\":\"reg.example\"}");
	expect_header("https://index.docker.io/v1/", "{\"username\":\"user\",\"identitytoken\":\"tok\","
						     "\"serveraddress\":\"https://index.docker.io/v1/\"}");
	expect_header("empty.example", "");
	expect_header("eu.gcr.io", "");
	/* Fails with: same_registry() that compares as much as the file's key has. */
	expect_header("gcr.io.evil.example", "");
	expect_header("gcr.i", "");
	expect_header("bad.example", "!FAILED_PRECONDITION");
	expect_header("nocolon.example", "!FAILED_PRECONDITION");
	/* Fails with: header_make() that takes it that there is always an object to write. */
	expect_header("latin.example", "!FAILED_PRECONDITION");
}

static void a_file_that_is_no_json_is_a_failure(void **state)
{
	(void)state;
	file_write("config.json", "{\"auths\":", 0600);
	expect_header("gcr.io", "!FAILED_PRECONDITION");
	file_write("config.json", "[]", 0600);
	expect_header("gcr.io", "!FAILED_PRECONDITION");
	file_write("config.json", "{\"auths\":7,\"credHelpers\":[],\"credsStore\":1}", 0600);
	expect_header("gcr.io", "");
}

static void a_helper_is_asked_for_its_registry(void **state)
{
	(void)state;
	file_write("docker-credential-good",
		   "#!/bin/sh\n[ \"$1\" = get ] || exit 1\nread server\n"
		   "printf '{\"ServerURL\":\"%s\",\"Username\":\"u-%s\",\"Secret\":\"s\"}' \"$server\" "
		   "\"$server\"\n",
		   0700);
	file_write("docker-credential-token",
		   "#!/bin/sh\nprintf '{\"Username\":\"<token>\",\"Secret\":\"tok\"}'\n", 0700);
	file_write("docker-credential-none",
		   "#!/bin/sh\necho credentials not found in native keychain\nexit 1\n", 0700);
	file_write("docker-credential-bad", "#!/bin/sh\necho secret-stuff\nexit 3\n", 0700);
	file_write("docker-credential-odd", "#!/bin/sh\necho '{}'\n", 0700);
	file_write("docker-credential-flood", "#!/bin/sh\nexec cat /dev/zero\n", 0700);
	file_write("config.json",
		   "{\"credsStore\":\"none\",\"credHelpers\":{\"gcr.io\":\"good\",\"tok.example\":\"token\","
		   "\"bad.example\":\"bad\",\"odd.example\":\"odd\",\"gone.example\":\"gone\",\"path."
		   "example\":\"../x\","
		   "\"flood.example\":\"flood\"},"
		   "\"auths\":{\"file.example\":{\"username\":\"f\",\"password\":\"p\"}}}",
		   0600);
	expect_header("gcr.io",
		      "{\"username\":\"u-gcr.io\",\"password\":\"s\",\"serveraddress\":\"gcr.io\"}");
	expect_header("tok.example", "{\"identitytoken\":\"tok\",\"serveraddress\":\"tok.example\"}");
	expect_header("other.example", "");
	expect_header("file.example",
		      "{\"username\":\"f\",\"password\":\"p\",\"serveraddress\":\"file.example\"}");
	expect_header("bad.example", "!FAILED_PRECONDITION");
	expect_header("odd.example", "!FAILED_PRECONDITION");
	expect_header("gone.example", "!FAILED_PRECONDITION");
	expect_header("path.example", "!FAILED_PRECONDITION");
	expect_header("flood.example", "!FAILED_PRECONDITION");
}

/* `serve` raises its own limit. Fails with: spawn_on() without descriptors_limit(): the helper waits until it is ended. */
static void a_helper_has_the_usual_limit_of_descriptors(void **state)
{
	AUTO(secret) char *output = NULL;
	struct rlimit before, high;

	(void)state;
	file_write("docker-credential-limit",
		   "#!/bin/sh\nuntil [ $(ulimit -Sn) -le 1024 ]; do sleep 0.01; done; echo $(ulimit -Sn)\n",
		   0700);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	high = before;
	high.rlim_cur = high.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &high), 0);
	assert_int_equal(credential_helper_run("limit", "gcr.io", -1, &output, NULL), STATUS_OK);
	assert_true(strtol(output, NULL, 10) == (high.rlim_max < 1024 ? (long)high.rlim_max : 1024));
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

static void a_helper_that_hangs_is_ended_with_us(void **state)
{
	AUTO(secret) char *output = NULL;
	struct error err AUTO_ERROR = { 0 };
	int64_t begin_us = clock_mono_us(&system_clock);

	(void)state;
	file_write("docker-credential-hang", "#!/bin/sh\nsleep 60\n", 0700);
	file_write("docker-credential-deaf", "#!/bin/sh\nexec >&- <&-\nsleep 60\n", 0700);
	assert_int_equal(credential_helper_run("hang", "gcr.io", now_fd, &output, &err), STATUS_CANCELLED);
	assert_int_equal(credential_helper_run("deaf", "gcr.io", now_fd, &output, &err), STATUS_CANCELLED);
	assert_true(clock_mono_us(&system_clock) - begin_us < 10 * 1000 * 1000);
}

/* Fails with: child_reap() that kills the helper alone, and not its group: what it had started went on. */
static void what_a_helper_started_is_ended_with_it(void **state)
{
	AUTO(secret) char *output = NULL;
	struct error err AUTO_ERROR = { 0 };
	struct pollfd started = { 0 };
	char path[128];

	(void)state;
	snprintf(path, sizeof(path), "%s/started", directory);
	assert_int_equal(mkfifo(path, 0600), 0);
	started.fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	assert_true(started.fd >= 0);
	file_write("docker-credential-parent",
		   "#!/bin/sh\n(echo; exec sleep 60) >\"${0%/*}/started\" &\nwait\n", 0700);
	/* Stopped as soon as it says that it runs. */
	assert_int_equal(credential_helper_run("parent", "gcr.io", started.fd, &output, &err),
			 STATUS_CANCELLED);
	assert_int_equal(poll(&started, 1, 20 * 1000), 1); /* the helper has ended: its end of the pipe is closed */
	assert_true(started.revents & POLLHUP);
	close(started.fd);
}

static int begin(void **state)
{
	char path[4096];
	const char *before = getenv("PATH");

	(void)state;
	snprintf(directory, sizeof(directory), "/tmp/ty-credentials-XXXXXX");
	if (sodium_init() < 0 || !mkdtemp(directory))
		return -1;
	snprintf(path, sizeof(path), "%s:%s", directory, before ? before : "/bin:/usr/bin");
	setenv("PATH", path, 1);
	never_fd = eventfd(0, EFD_CLOEXEC);
	now_fd = eventfd(1, EFD_CLOEXEC);
	return 0;
}

static int end(void **state)
{
	static const char *const names[] = { "config.json",
					     "docker-credential-good",
					     "docker-credential-token",
					     "docker-credential-none",
					     "docker-credential-bad",
					     "docker-credential-odd",
					     "docker-credential-flood",
					     "docker-credential-hang",
					     "docker-credential-deaf",
					     "docker-credential-parent",
					     "started" };

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		file_remove(names[i]);
	rmdir(directory);
	close(never_fd);
	close(now_fd);
	return 0;
}

static int TEST_MAIN(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(references_name_their_registry),
		cmocka_unit_test(references_cannot_leave_their_path),
		cmocka_unit_test(without_a_file_there_are_no_credentials),
		cmocka_unit_test(auths_are_found_by_registry),
		cmocka_unit_test(a_file_that_is_no_json_is_a_failure),
		cmocka_unit_test(a_helper_is_asked_for_its_registry),
		cmocka_unit_test(a_helper_has_the_usual_limit_of_descriptors),
		cmocka_unit_test(a_helper_that_hangs_is_ended_with_us),
		cmocka_unit_test(what_a_helper_started_is_ended_with_it),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("docker_credentials", tests, begin, end);
}
