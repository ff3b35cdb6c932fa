/* SPDX-License-Identifier: Apache-2.0 */
/* The process is killed, or the disk is full. */
#include <fcntl.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <sys/wait.h>

#include "daemon/base/crc32c.h"
#include "tests/unit/store/objects/objects_testing.h"

/* ---- kills ---- */

enum { KILLS = 25, PIECE = 300 * 1000 };

static const char *name_of(int number, char buffer[32])
{
	snprintf(buffer, 32, "n%d/%d", number % 7, number);
	return buffer;
}

/* Uploads, replaces, copies and deletes until it is killed. Writes each answered change to @fd: the number of an
 * existing object, or its negative if it was deleted. */
static void work_until_killed(struct yard *yard, int fd, int first)
{
	static char bytes[PIECE];

	for (int number = first;; number++) {
		char name[32];
		struct object_target target = target_of(name_of(number, name));
		size_t length = number % 3 ? (size_t)number % 1000 : sizeof(bytes);
		int answered = number;

		memset(bytes, number, length);
		if (number % 5 == 0) {
			struct upload *given_up;

			OK(upload_begin(yard->objects, &target, &given_up, &yard->err));
			OK(upload_write(given_up, bytes, length, &yard->err));
		}
		OK(target_put(yard, &target, bytes, length, NULL));
		if (write(fd, &answered, sizeof(answered)) != sizeof(answered))
			_exit(1);
		if (number % 4)
			continue;
		/* Written first: from here on, the object may or may not exist. */
		answered = -number;
		if (write(fd, &answered, sizeof(answered)) != sizeof(answered))
			_exit(1);
		OK(object_delete(yard->objects, "bucket", name, 0, &no_conditions, &yard->err));
	}
}

/* Runs a child and kills it after @answers answers. Adds numbers to @there (must exist) and @unsure (may exist). */
static int child_kill(struct yard *yard, int first, int answers, bool *there, bool *unsure)
{
	int ends[2], number, last = first;
	pid_t child;

	assert_int_equal(pipe(ends), 0);
	child = fork();
	if (child == 0) {
		close(ends[0]);
		yard_use(yard, "demo");
		work_until_killed(yard, ends[1], first);
	}
	close(ends[1]);
	for (int seen = 0; read(ends[0], &number, sizeof(number)) == sizeof(number); seen++) {
		last = abs(number);
		there[last] = number > 0;
		unsure[last] = number < 0;
		if (seen == answers)
			kill(child, SIGKILL);
	}
	close(ends[0]);
	assert_int_equal(waitpid(child, NULL, 0), child);
	unsure[last + 1] = true; /* stored, but not reported */
	return last + 2;
}

static size_t check_all(struct yard *yard, int count, const bool *there, bool *unsure)
{
	size_t found = 0;

	for (int number = 1; number < count; number++) {
		char name[32];
		AUTO(string) char *bytes = NULL;
		size_t length, expected = number % 3 ? (size_t)number % 1000 : PIECE;
		bool is = is_there(yard, name_of(number, name));

		if (!unsure[number])
			assert_int_equal(is, there[number]);
		if (!is)
			continue;
		found++;
		bytes = bytes_get(yard, name, &length);
		assert_int_equal(length, expected);
		for (size_t i = 0; i < length; i++)
			if (bytes[i] != (char)number)
				fail_msg("byte %zu of %s", i, name);
	}
	return found;
}

static void what_was_answered_survives_kills(void **state)
{
	YARD(state);
	enum { MOST = 4096 };
	static bool there[MOST], unsure[MOST];
	int next = 1;

	objects_free(yard->objects);
	yard->objects = NULL;
	for (int round = 0; round < KILLS && next < MOST - 200; round++) {
		size_t found;

		next = child_kill(yard, next, round * 2, there, unsure);
		yard_use(yard, "demo");
		OK(bucket_ensure(yard->objects, "bucket", &yard->err));
		yard_settle(yard);
		found = check_all(yard, next, there, unsure);
		/* Nothing of unfinished work is left, and the tree is complete. */
		assert_int_equal(files_below(yard, "uploads"), 0);
		assert_int_equal(files_below(yard, "blobs"), found);
		assert_int_equal(files_below(yard, "gs"), found);
		objects_free(yard->objects);
		yard->objects = NULL;
	}
}

static void a_session_survives_kills_with_what_arrived(void **state)
{
	YARD(state);
	struct object_target target = target_of("a");
	char id[SESSION_ID_SIZE];
	struct object object AUTO_OBJECT = { 0 };
	uint32_t crc = 0;
	int64_t received = 0;

	OK(session_begin(yard->objects, &target, -1, id, &yard->err));
	objects_free(yard->objects);
	for (int round = 0; round < 10; round++) {
		int ends[2];
		char ready;
		pid_t child;

		assert_int_equal(pipe(ends), 0);
		child = fork();
		if (child == 0) {
			static char piece[64 * 1024];
			struct upload *upload;

			yard_use(yard, "demo");
			OK(session_resume(yard->objects, id, received, &upload, &yard->err));
			memset(piece, 's', sizeof(piece));
			for (int i = 0; i < 4 + round * 4; i++)
				OK(upload_write(upload, piece, sizeof(piece), &yard->err));
			if (write(ends[1], "r", 1) != 1)
				_exit(1);
			for (;;)
				if (upload_write(upload, piece, sizeof(piece), &yard->err))
					_exit(1);
		}
		close(ends[1]);
		assert_int_equal(read(ends[0], &ready, 1), 1);
		kill(child, SIGKILL);
		close(ends[0]);
		assert_int_equal(waitpid(child, NULL, 0), child);
		yard_use(yard, "demo");
		struct session session AUTO_SESSION = { 0 };

		OK(session_get(yard->objects, id, &session, &yard->err));
		assert_true(session.received_bytes > received);
		received = session.received_bytes;
		if (round < 9)
			objects_free(yard->objects);
	}
	AUTO(upload) struct upload *upload = NULL;

	OK(session_resume(yard->objects, id, received, &upload, &yard->err));
	OK(upload_finish(upload, &object, &yard->err));
	assert_int_equal(object.size_bytes, received);
	for (int64_t i = 0; i < received; i++)
		crc = crc32c_extend(crc, "s", 1);
	assert_int_equal(object.crc32c, crc);
}

/* ---- a full disk ---- */

static int small_disk_open(void **state)
{
	int rc = yard_open(state);
	struct yard *yard = *state;

	if (rc || geteuid() != 0)
		return rc;
	if (mount("none", yard->dir, "tmpfs", 0, "size=8m,mode=700") != 0)
		yard->now_ns = 0; /* the test says why it cannot be */
	return 0;
}

static int small_disk_close(void **state)
{
	struct yard *yard = *state;
	char dir[64];

	objects_free(yard->objects);
	yard->objects = NULL;
	snprintf(dir, sizeof(dir), "%s", yard->dir);
	umount2(dir, MNT_DETACH);
	return yard_close(state);
}

static void a_full_disk_is_told_and_leaves_nothing_half(void **state)
{
	YARD(state);
	AUTO(string) char *bytes = calloc(1, 1024 * 1024);
	struct object_target target = target_of("big");
	AUTO(upload) struct upload *upload = NULL;
	enum status rc = STATUS_OK;
	char id[SESSION_ID_SIZE];
	struct session session AUTO_SESSION = { 0 };

	if (geteuid() != 0 || yard->now_ns == 0) {
		print_message("# only root may mount a small disk here\n");
		skip();
	}
	text_put(yard, "kept", "before");
	yard_settle(yard);
	memset(bytes, 'x', 1024 * 1024); /* zeros would be stored as a hole, which takes no space */
	OK(upload_begin(yard->objects, &target, &upload, &yard->err));
	for (int i = 0; !rc && i < 20; i++)
		rc = upload_write(upload, bytes, 1024 * 1024, &yard->err);
	assert_int_equal(rc, STATUS_RESOURCE_EXHAUSTED);
	assert_int_equal(upload_write(upload, "1", 1, &yard->err), STATUS_RESOURCE_EXHAUSTED);
	/* Other uploads fail now, without leaving anything. */
	target.name = "other";
	assert_int_equal(target_put(yard, &target, bytes, 100 * 1000, NULL), STATUS_RESOURCE_EXHAUSTED);
	assert_text(yard, "kept", "before");
	upload_free(TAKE(upload));
	assert_int_equal(files_below(yard, "uploads"), 0);
	assert_false(is_there(yard, "big"));
	assert_false(is_there(yard, "other"));
	OK(target_put(yard, &target, bytes, 100 * 1000, NULL));
	/* A session keeps received bytes, and continues when there is space. */
	target.name = "session";
	OK(session_begin(yard->objects, &target, -1, id, &yard->err));
	OK(session_resume(yard->objects, id, 0, &upload, &yard->err));
	for (rc = STATUS_OK; !rc;)
		rc = upload_write(upload, bytes, 500 * 1000, &yard->err);
	assert_int_equal(rc, STATUS_RESOURCE_EXHAUSTED);
	upload_free(TAKE(upload));
	OK(session_get(yard->objects, id, &session, &yard->err));
	assert_true(session.received_bytes > 1000 * 1000);
	assert_int_equal(mount("none", yard->dir, "tmpfs", MS_REMOUNT, "size=20m"), 0);
	OK(session_resume(yard->objects, id, session.received_bytes, &upload, &yard->err));
	struct object object AUTO_OBJECT = { 0 };
	uint32_t crc = 0;

	OK(upload_write(upload, bytes, 1000, &yard->err));
	OK(upload_finish(upload, &object, &yard->err));
	assert_int_equal(object.size_bytes, session.received_bytes + 1000);
	for (int64_t i = 0; i < object.size_bytes; i++)
		crc = crc32c_extend(crc, "x", 1);
	assert_int_equal(object.crc32c, crc);
}

/* Commits of the index fail while there is no space, and succeed afterwards. */
static void a_full_index_refuses_changes_and_no_more(void **state)
{
	YARD(state);
	char path[128];
	AUTO(string) char *bytes = calloc(1, 65536);
	int fd;
	enum status rc = STATUS_OK;

	if (geteuid() != 0 || yard->now_ns == 0) {
		print_message("# only root may mount a small disk here\n");
		skip();
	}
	text_put(yard, "kept", "before");
	yard_settle(yard);
	snprintf(path, sizeof(path), "%s/ballast", yard->dir);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	while (write(fd, bytes, 4096) > 0)
		;
	for (int i = 0; !rc && i < 5000; i++) {
		char name[32];
		struct object_target target = target_of(name_of(i + 1, name));

		rc = target_put(yard, &target, "", 0, NULL);
		if (!rc)
			assert_true(is_there(yard, name));
		else
			assert_false(is_there(yard, name));
	}
	assert_int_equal(rc, STATUS_RESOURCE_EXHAUSTED);
	assert_text(yard, "kept", "before");
	close(fd);
	assert_int_equal(unlink(path), 0);
	text_put(yard, "later", "after");
	assert_text(yard, "later", "after");
	yard_reopen(yard);
	assert_text(yard, "later", "after");
}

#define TEST(name)  cmocka_unit_test_setup_teardown(name, yard_open, yard_close)
#define SMALL(name) cmocka_unit_test_setup_teardown(name, small_disk_open, small_disk_close)

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_was_answered_survives_kills),
		TEST(a_session_survives_kills_with_what_arrived),
		SMALL(a_full_disk_is_told_and_leaves_nothing_half),
		SMALL(a_full_index_refuses_changes_and_no_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
