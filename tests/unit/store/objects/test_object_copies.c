/* SPDX-License-Identifier: Apache-2.0 */
/* Tests store/objects/object_compose.c, and copies. */
#include "daemon/base/json.h"
#include "daemon/base/work.h"
#include "tests/unit/store/objects/objects_testing.h"

static void copies_share_the_bytes(void **state)
{
	YARD(state);
	AUTO(json) json_t *metadata = json_pack("{s:s}", "cacheControl", "no-store");
	struct object_target target = target_of("copy");
	struct object copy AUTO_OBJECT = { 0 };
	struct object renamed AUTO_OBJECT = { 0 };
	struct conditions conditions = CONDITIONS_NONE;
	int64_t generation = text_put(yard, "a", "bytes");

	conditions.generation_match = generation + 1;
	REFUSED(object_copy(yard->objects, "bucket", "a", 0, &conditions, &target, false, &copy, &yard->err),
		STATUS_FAILED_PRECONDITION, PRECONDITION);
	conditions.generation_match = generation;
	target.bucket = "elsewhere";
	OK(object_copy(yard->objects, "bucket", "a", 0, &conditions, &target, false, &copy, &yard->err));
	assert_true(copy.generation > generation);
	assert_string_equal(copy.bucket, "elsewhere");
	assert_true(copy.has_md5);
	target.bucket = "bucket";
	target.content_type = "x/y";
	target.metadata = metadata;
	OK(object_copy(yard->objects, "elsewhere", "copy", 0, &no_conditions, &target, true, &renamed,
		       &yard->err));
	assert_string_equal(renamed.content_type, "x/y");
	assert_true(json_equal(renamed.metadata, metadata));
	yard_settle(yard);
	assert_int_equal(files_below(yard, "blobs"), 1);
	OK(object_delete(yard->objects, "bucket", "a", 0, &no_conditions, &yard->err));
	OK(object_delete(yard->objects, "elsewhere", "copy", 0, &no_conditions, &yard->err));
	yard_settle(yard);
	assert_text(yard, "copy", "bytes");
	OK(object_delete(yard->objects, "bucket", "copy", 0, &no_conditions, &yard->err));
	yard_settle(yard);
	assert_int_equal(files_below(yard, "blobs"), 0);
	assert_int_equal(files_below(yard, "gs"), 0);
}

static void an_object_can_be_copied_onto_itself(void **state)
{
	YARD(state);
	struct object_target target = target_of("a");
	struct object copy AUTO_OBJECT = { 0 };

	text_put(yard, "a", "bytes");
	target.content_type = "x/y";
	OK(object_copy(yard->objects, "bucket", "a", 0, &no_conditions, &target, true, &copy, &yard->err));
	yard_settle(yard);
	assert_text(yard, "a", "bytes");
	assert_int_equal(files_below(yard, "blobs"), 1);
	assert_int_equal(files_below(yard, "gs"), 1);
}

static void composed_objects_are_their_parts(void **state)
{
	YARD(state);
	struct object_target target = target_of("whole");
	struct compose_source sources[33] = { { "a", 0, -1 }, { "b", 0, -1 }, { "a", 0, -1 } };
	struct object whole AUTO_OBJECT = { 0 };
	struct object twice AUTO_OBJECT = { 0 };

	text_put(yard, "a", "1234");
	text_put(yard, "b", "56789");
	OK(object_compose(yard->objects, sources, 2, &target, &whole, &yard->err));
	assert_int_equal(whole.crc32c, 0xe3069283);
	assert_int_equal(whole.size_bytes, 9);
	assert_false(whole.has_md5);
	assert_int_equal(whole.component_count, 2);
	assert_text(yard, "whole", "123456789");
	/* The target is one of the sources. */
	sources[0] = (struct compose_source){ "whole", whole.generation, whole.generation };
	OK(object_compose(yard->objects, sources, 3, &target, &twice, &yard->err));
	assert_int_equal(twice.component_count, 4);
	assert_text(yard, "whole", "123456789567891234");
	REFUSED(object_compose(yard->objects, sources, 33, &target, &twice, &yard->err),
		STATUS_INVALID_ARGUMENT,
		"The number of source components provided (33) exceeds the maximum (32)");
	assert_int_equal(object_compose(yard->objects, sources, 0, &target, &twice, &yard->err),
			 STATUS_INVALID_ARGUMENT);
	sources[0] = (struct compose_source){ "a", 0, 1 };
	REFUSED(object_compose(yard->objects, sources, 2, &target, &twice, &yard->err),
		STATUS_FAILED_PRECONDITION, PRECONDITION);
	sources[0] = (struct compose_source){ "none", 0, -1 };
	REFUSED(object_compose(yard->objects, sources, 2, &target, &twice, &yard->err), STATUS_NOT_FOUND,
		"No such object: bucket/none");
	sources[0] = (struct compose_source){ "a", 0, -1 };
	target.expects_crc32c = true;
	assert_int_equal(object_compose(yard->objects, sources, 2, &target, &twice, &yard->err),
			 STATUS_INVALID_ARGUMENT);
	yard_settle(yard);
	assert_int_equal(files_below(yard, "uploads"), 0);
	assert_int_equal(files_below(yard, "blobs"), 3);
}

static bool always(void *arg)
{
	(void)arg;
	return true;
}

/* Fails with: file_join() that does not ask. */
static void a_join_that_is_not_waited_for_leaves_nothing(void **state)
{
	YARD(state);
	const struct object_target target = target_of("whole");
	const struct compose_source sources[2] = { { "a", 0, -1 }, { "a", 0, -1 } };
	struct object whole AUTO_OBJECT = { 0 };

	text_put(yard, "a", "1234");
	work_begin(&(struct work){ .is_abandoned = always });
	usleep(20 * 1000);
	assert_int_equal(object_compose(yard->objects, sources, 2, &target, &whole, &yard->err),
			 STATUS_CANCELLED);
	work_end();
	yard_settle(yard);
	assert_int_equal(files_below(yard, "uploads"), 0);
	assert_int_equal(files_below(yard, "blobs"), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, yard_open, yard_close)

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		TEST(copies_share_the_bytes),
		TEST(an_object_can_be_copied_onto_itself),
		TEST(composed_objects_are_their_parts),
		TEST(a_join_that_is_not_waited_for_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
