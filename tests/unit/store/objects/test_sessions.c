/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/base/crc32c.h"
#include "store/objects/uploads.h"
#include "tests/unit/store/objects/objects_testing.h"

static void session_start(struct yard *yard, const char *name, char ret_id[SESSION_ID_SIZE])
{
	struct object_target target = target_of(name);

	OK(session_begin(yard->objects, &target, -1, ret_id, &yard->err));
}

/* Writes bytes at @offset and suspends the upload; returns the number of received bytes. */
static int64_t bytes_give(struct yard *yard, const char *id, int64_t offset, const char *bytes, size_t length)
{
	struct upload *upload = NULL;
	int64_t received = -1;

	OK(session_resume(yard->objects, id, offset, &upload, &yard->err));
	OK(upload_write(upload, bytes, length, &yard->err));
	OK(session_park(upload, &received, &yard->err));
	return received;
}

static int64_t received_of(struct yard *yard, const char *id)
{
	struct session session AUTO_SESSION = { 0 };

	OK(session_get(yard->objects, id, &session, &yard->err));
	assert_false(session.finished);
	return session.received_bytes;
}

static void session_end(struct yard *yard, const char *id, int64_t offset, const char *bytes, size_t length,
			struct object *ret_object)
{
	AUTO(upload) struct upload *upload = NULL;

	OK(session_resume(yard->objects, id, offset, &upload, &yard->err));
	OK(upload_write(upload, bytes, length, &yard->err));
	OK(upload_finish(upload, ret_object, &yard->err));
}

static void a_session_takes_bytes_in_pieces(void **state)
{
	YARD(state);
	char id[SESSION_ID_SIZE];
	struct session session AUTO_SESSION = { 0 };
	struct object object AUTO_OBJECT = { 0 };

	session_start(yard, "a", id);
	assert_int_equal(strlen(id), SESSION_ID_SIZE - 1);
	assert_int_equal(received_of(yard, id), 0);
	assert_int_equal(bytes_give(yard, id, 0, "1234", 4), 4);
	assert_int_equal(received_of(yard, id), 4);
	assert_false(is_there(yard, "a"));
	assert_int_equal(bytes_give(yard, id, 4, "567", 3), 7);
	/* Bytes that were already received are ignored. */
	session_end(yard, id, 2, "3456789", 7, &object);
	assert_int_equal(object.size_bytes, 9);
	assert_int_equal(object.crc32c, 0xe3069283);
	assert_memory_equal(object.md5, "\x25\xf9\xe7\x94\x32\x3b\x45\x38\x85\xf5\x18\x1f\x1b\x62\x4d\x0b",
			    16);
	assert_text(yard, "a", "123456789");
	OK(session_get(yard->objects, id, &session, &yard->err));
	assert_true(session.finished);
	assert_string_equal(session.object.name, "a");
	assert_int_equal(session.object.generation, object.generation);
	assert_int_equal(session.object.crc32c, object.crc32c);
	assert_memory_equal(session.object.md5, object.md5, 16);
	yard_settle(yard);
	assert_int_equal(files_below(yard, "uploads"), 0);
}

static void sessions_are_kept_over_restarts(void **state)
{
	YARD(state);
	AUTO(string) char *bytes = malloc(3000000);
	char id[SESSION_ID_SIZE];
	struct object object AUTO_OBJECT = { 0 };
	struct session session AUTO_SESSION = { 0 };
	AUTO(upload) struct upload *upload = NULL;

	for (size_t i = 0; i < 3000000; i++)
		bytes[i] = (char)(i * 2654435761u >> 9);
	session_start(yard, "a", id);
	assert_int_equal(bytes_give(yard, id, 0, bytes, 1500000), 1500000);
	yard_reopen(yard);
	assert_int_equal(received_of(yard, id), 1500000);
	assert_int_equal(session_resume(yard->objects, id, 1500001, &upload, &yard->err),
			 STATUS_OUT_OF_RANGE);
	assert_int_equal(bytes_give(yard, id, 1500000, bytes + 1500000, 1000), 1501000);
	yard_reopen(yard);
	session_end(yard, id, 1501000, bytes + 1501000, 3000000 - 1501000, &object);
	assert_int_equal(object.crc32c, crc32c_extend(0, bytes, 3000000));
	yard_reopen(yard);
	OK(session_get(yard->objects, id, &session, &yard->err));
	assert_true(session.finished);
	assert_int_equal(session.received_bytes, 3000000);
}

static void a_request_from_beyond_the_end_leaves_no_file_open(void **state)
{
	YARD(state);
	char id[SESSION_ID_SIZE];
	AUTO(upload) struct upload *upload = NULL;

	session_start(yard, "a", id);
	assert_int_equal(bytes_give(yard, id, 0, "bytes", 5), 5);
	assert_int_equal(session_resume(yard->objects, id, 6, &upload, &yard->err), STATUS_OUT_OF_RANGE);
	assert_int_equal(yard->objects->sessions.first->writer.fd, -1);
	OK(session_resume(yard->objects, id, 5, &upload, &yard->err));
	AUTO(upload) struct upload *other = NULL;
	assert_int_equal(session_resume(yard->objects, id, 6, &other, &yard->err), STATUS_OUT_OF_RANGE);
	OK(upload_write(upload, "more", 4, &yard->err)); /* no other request took the upload over */
}

static void a_later_request_takes_the_session_over(void **state)
{
	YARD(state);
	char id[SESSION_ID_SIZE];
	AUTO(upload) struct upload *first = NULL;
	AUTO(upload) struct upload *second = NULL;
	struct object object AUTO_OBJECT = { 0 };
	struct object other AUTO_OBJECT = { 0 };

	session_start(yard, "a", id);
	OK(session_resume(yard->objects, id, 0, &first, &yard->err));
	OK(upload_write(first, "1234", 4, &yard->err));
	OK(session_resume(yard->objects, id, 2, &second, &yard->err));
	assert_int_equal(upload_write(first, "xx", 2, &yard->err), STATUS_ABORTED);
	OK(upload_write(second, "3456789", 7, &yard->err));
	assert_int_equal(upload_finish(first, &other, &yard->err), STATUS_ABORTED);
	upload_free(TAKE(first));
	OK(upload_finish(second, &object, &yard->err));
	assert_int_equal(object.crc32c, 0xe3069283);
	assert_int_equal(session_resume(yard->objects, id, 0, &first, &yard->err), STATUS_ABORTED);
}

static void a_cancelled_session_is_gone(void **state)
{
	YARD(state);
	char id[SESSION_ID_SIZE];
	AUTO(upload) struct upload *upload = NULL;
	AUTO(upload) struct upload *later = NULL;
	struct session session AUTO_SESSION = { 0 };
	struct object object AUTO_OBJECT = { 0 };

	session_start(yard, "a", id);
	OK(session_resume(yard->objects, id, 0, &upload, &yard->err));
	OK(upload_write(upload, "1234", 4, &yard->err));
	OK(session_delete(yard->objects, id, &yard->err));
	assert_int_equal(upload_write(upload, "5", 1, &yard->err), STATUS_ABORTED);
	assert_int_equal(upload_finish(upload, &object, &yard->err), STATUS_ABORTED);
	assert_int_equal(session_get(yard->objects, id, &session, &yard->err), STATUS_NOT_FOUND);
	assert_int_equal(session_resume(yard->objects, id, 0, &later, &yard->err), STATUS_NOT_FOUND);
	assert_int_equal(session_delete(yard->objects, id, &yard->err), STATUS_NOT_FOUND);
	yard_settle(yard);
	assert_int_equal(files_below(yard, "uploads"), 0);
	assert_false(is_there(yard, "a"));
}

static void ids_that_are_none_are_not_found(void **state)
{
	YARD(state);
	static const char *const ids[] = { "", "x", "../../x" };
	char longest[200];
	struct session session AUTO_SESSION = { 0 };
	AUTO(upload) struct upload *upload = NULL;

	for (size_t i = 0; i < COUNT_OF(ids); i++) {
		assert_int_equal(session_get(yard->objects, ids[i], &session, &yard->err), STATUS_NOT_FOUND);
		assert_int_equal(session_resume(yard->objects, ids[i], 0, &upload, &yard->err),
				 STATUS_NOT_FOUND);
		assert_int_equal(session_delete(yard->objects, ids[i], &yard->err), STATUS_NOT_FOUND);
	}
	memset(longest, 'a', sizeof(longest));
	longest[199] = '\0';
	assert_int_equal(session_resume(yard->objects, longest, 0, &upload, &yard->err), STATUS_NOT_FOUND);
	assert_null(yard->objects->sessions.first);
}

static void a_session_ends_after_a_week(void **state)
{
	YARD(state);
	char old[SESSION_ID_SIZE], done[SESSION_ID_SIZE], new[SESSION_ID_SIZE];
	struct session session AUTO_SESSION = { 0 };
	AUTO(upload) struct upload *upload = NULL;
	struct object object AUTO_OBJECT = { 0 };

	session_start(yard, "a", old);
	session_start(yard, "b", done);
	assert_int_equal(bytes_give(yard, old, 0, "1234", 4), 4);
	session_end(yard, done, 0, "1234", 4, &object);
	yard_step(yard, INT64_C(7) * 86400 * 1000000000);
	assert_int_equal(received_of(yard, old), 4);
	yard_step(yard, 1000);
	assert_int_equal(session_get(yard->objects, old, &session, &yard->err), STATUS_NOT_FOUND);
	assert_int_equal(session_resume(yard->objects, old, 4, &upload, &yard->err), STATUS_NOT_FOUND);
	/* The next new session removes expired ones; the results of finished ones stay. */
	session_start(yard, "c", new);
	yard_settle(yard);
	assert_int_equal(files_below(yard, "uploads"), 0);
	assert_text(yard, "b", "1234");
	assert_int_equal(received_of(yard, new), 0);
}

static void the_wrong_bytes_end_a_session(void **state)
{
	YARD(state);
	char id[SESSION_ID_SIZE];
	struct object_target target = target_of("a");
	AUTO(upload) struct upload *upload = NULL;
	struct session session AUTO_SESSION = { 0 };
	struct object object AUTO_OBJECT = { 0 };

	target.expects_crc32c = true;
	target.crc32c = 1;
	OK(session_begin(yard->objects, &target, 4, id, &yard->err));
	OK(session_get(yard->objects, id, &session, &yard->err));
	assert_int_equal(session.total_bytes, 4);
	session_deinit(&session);
	yard_reopen(yard);
	OK(session_resume(yard->objects, id, 0, &upload, &yard->err));
	OK(upload_write(upload, "1234", 4, &yard->err));
	assert_int_equal(upload_finish(upload, &object, &yard->err), STATUS_INVALID_ARGUMENT);
	assert_int_equal(session_get(yard->objects, id, &session, &yard->err), STATUS_NOT_FOUND);
	assert_false(is_there(yard, "a"));
}

static void the_conditions_of_a_session_hold_at_its_end(void **state)
{
	YARD(state);
	char id[SESSION_ID_SIZE];
	struct object_target target = target_of("a");
	AUTO(upload) struct upload *upload = NULL;
	struct object object AUTO_OBJECT = { 0 };

	target.conditions.generation_match = 0;
	OK(session_begin(yard->objects, &target, -1, id, &yard->err));
	text_put(yard, "a", "faster");
	yard_reopen(yard);
	OK(session_resume(yard->objects, id, 0, &upload, &yard->err));
	REFUSED(upload_finish(upload, &object, &yard->err), STATUS_FAILED_PRECONDITION, PRECONDITION);
	assert_text(yard, "a", "faster");
}

/* As many small pieces as a slow client sends. */
static void many_small_pieces_are_one_object(void **state)
{
	YARD(state);
	char id[SESSION_ID_SIZE];
	struct object object AUTO_OBJECT = { 0 };
	uint32_t crc = 0;
	char piece[1000];

	memset(piece, 'p', sizeof(piece));
	session_start(yard, "a", id);
	for (int i = 0; i < 2000; i++) {
		assert_int_equal(bytes_give(yard, id, i * 1000, piece, 1000), (i + 1) * 1000);
		crc = crc32c_extend(crc, piece, sizeof(piece));
	}
	session_end(yard, id, 2000000, "", 0, &object);
	assert_int_equal(object.crc32c, crc);
	assert_int_equal(object.size_bytes, 2000000);
}

static void a_session_whose_bucket_is_gone_leaves_no_bytes(void **state)
{
	YARD(state);
	char id[SESSION_ID_SIZE];
	struct object object AUTO_OBJECT = { 0 };
	struct upload *upload = NULL;

	session_start(yard, "a", id);
	assert_int_equal(bytes_give(yard, id, 0, "1234", 4), 4);
	OK(bucket_delete(yard->objects, "bucket", &no_conditions, &yard->err));
	OK(session_resume(yard->objects, id, 4, &upload, &yard->err));
	REFUSED(upload_finish(upload, &object, &yard->err), STATUS_NOT_FOUND,
		"The specified bucket does not exist.");
	upload_free(upload);
	yard_settle(yard);
	assert_int_equal(files_below(yard, "uploads"), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, yard_open, yard_close)

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_session_takes_bytes_in_pieces),
		TEST(sessions_are_kept_over_restarts),
		TEST(a_request_from_beyond_the_end_leaves_no_file_open),
		TEST(a_later_request_takes_the_session_over),
		TEST(a_cancelled_session_is_gone),
		TEST(ids_that_are_none_are_not_found),
		TEST(a_session_ends_after_a_week),
		TEST(the_wrong_bytes_end_a_session),
		TEST(the_conditions_of_a_session_hold_at_its_end),
		TEST(a_session_whose_bucket_is_gone_leaves_no_bytes),
		TEST(many_small_pieces_are_one_object),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
