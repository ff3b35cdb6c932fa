/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/base/json.h"
#include "tests/unit/store/objects/objects_testing.h"

static void a_bucket_lives_and_dies(void **state)
{
	YARD(state);
	struct bucket bucket AUTO_BUCKET = { 0 };
	struct bucket again AUTO_BUCKET = { 0 };
	struct bucket changed AUTO_BUCKET = { 0 };
	AUTO(json) json_t *metadata = json_pack("{s:s}", "location", "EU");
	AUTO(json) json_t *other = json_pack("{s:s}", "location", "US");
	struct conditions conditions = CONDITIONS_NONE;

	REFUSED(bucket_get(yard->objects, "bucket", &bucket, &yard->err), STATUS_NOT_FOUND,
		"The specified bucket does not exist.");
	OK(bucket_insert(yard->objects, "demo", "bucket", metadata, &bucket, &yard->err));
	assert_string_equal(bucket.name, "bucket");
	assert_string_equal(bucket.project, "demo");
	assert_int_equal(bucket.created_us, START_NS / 1000);
	assert_int_equal(bucket.metageneration, 1);
	assert_string_equal(json_text_at(bucket.metadata, "location"), "EU");
	REFUSED(bucket_insert(yard->objects, "demo", "bucket", metadata, &again, &yard->err),
		STATUS_ALREADY_EXISTS,
		"Your previous request to create the named bucket succeeded and you already own it.");
	assert_int_equal(bucket_insert(yard->objects, "else", "bucket", metadata, &again, &yard->err),
			 STATUS_ALREADY_EXISTS);
	REFUSED(bucket_insert(yard->objects, "demo", "Bucket", metadata, &again, &yard->err),
		STATUS_INVALID_ARGUMENT, "Invalid bucket name: 'Bucket'");
	yard_step(yard, 1000000);
	conditions.metageneration_match = 2;
	REFUSED(bucket_update(yard->objects, "bucket", &conditions, other, &changed, &yard->err),
		STATUS_FAILED_PRECONDITION, PRECONDITION);
	conditions.metageneration_match = 1;
	OK(bucket_update(yard->objects, "bucket", &conditions, other, &changed, &yard->err));
	assert_int_equal(changed.metageneration, 2);
	assert_int_equal(changed.created_us, START_NS / 1000);
	assert_int_equal(changed.updated_us, START_NS / 1000 + 1000);
	yard_reopen(yard);
	OK(bucket_get(yard->objects, "bucket", &again, &yard->err));
	assert_string_equal(json_text_at(again.metadata, "location"), "US");
	text_put(yard, "a", "1");
	REFUSED(bucket_delete(yard->objects, "bucket", &no_conditions, &yard->err), STATUS_ABORTED,
		"The bucket you tried to delete is not empty.");
	OK(object_delete(yard->objects, "bucket", "a", 0, &no_conditions, &yard->err));
	REFUSED(bucket_delete(yard->objects, "bucket", &conditions, &yard->err), STATUS_FAILED_PRECONDITION,
		PRECONDITION);
	OK(bucket_delete(yard->objects, "bucket", &no_conditions, &yard->err));
	assert_int_equal(bucket_delete(yard->objects, "bucket", &no_conditions, &yard->err),
			 STATUS_NOT_FOUND);
}

static void buckets_are_listed_by_name(void **state)
{
	YARD(state);
	static const char *const names[] = { "aaa", "data-1", "data-2", "data-3", "zzz" };
	char *after = NULL;
	size_t seen = 0;

	for (size_t i = COUNT_OF(names); i-- > 0;) {
		struct bucket bucket AUTO_BUCKET = { 0 };

		OK(bucket_insert(yard->objects, i == 4 ? "else" : "demo", names[i], NULL, &bucket,
				 &yard->err));
	}
	for (bool more = true; more; seen++) {
		struct bucket_page page AUTO_BUCKET_PAGE = { 0 };

		OK(bucket_list(yard->objects, "demo", "data-", after, 1, &page, &yard->err));
		assert_int_equal(page.count, 1);
		assert_string_equal(page.buckets[0].name, names[1 + seen]);
		free(after);
		after = page.next ? strdup(page.next) : NULL;
		more = after;
	}
	assert_int_equal(seen, 3);
	struct bucket_page all AUTO_BUCKET_PAGE = { 0 };

	OK(bucket_list(yard->objects, "demo", NULL, NULL, 100, &all, &yard->err));
	assert_int_equal(all.count, 4);
	assert_null(all.next);
}

static void buckets_appear_on_first_use_or_not(void **state)
{
	YARD(state);
	struct bucket bucket AUTO_BUCKET = { 0 };
	struct object_target target = target_of("a");
	AUTO(upload) struct upload *upload = NULL;

	text_put(yard, "a", "1");
	OK(bucket_get(yard->objects, "bucket", &bucket, &yard->err));
	assert_string_equal(bucket.project, "demo");
	OK(bucket_ensure(yard->objects, "bucket", &yard->err));
	objects_free(yard->objects);
	yard_use(yard, NULL);
	target.bucket = "other";
	REFUSED(upload_begin(yard->objects, &target, &upload, &yard->err), STATUS_NOT_FOUND,
		"The specified bucket does not exist.");
	REFUSED(bucket_ensure(yard->objects, "other", &yard->err), STATUS_NOT_FOUND,
		"The specified bucket does not exist.");
}

/* Fails with: upload_target_check() that makes the bucket first (as it did), and object_copy() and object_compose() likewise. */
static void a_write_that_is_refused_makes_no_bucket(void **state)
{
	YARD(state);
	struct bucket bucket AUTO_BUCKET = { 0 };
	struct object made = { 0 };
	struct object_target target = target_of("a");
	const struct conditions none = CONDITIONS_NONE;
	const struct compose_source source = { .name = "b", .generation_match = -1 };
	AUTO(upload) struct upload *upload = NULL;

	text_put(yard, "there", "1");
	target.bucket = "other";
	target.conditions.generation_match = 7;
	assert_int_not_equal(upload_begin(yard->objects, &target, &upload, NULL), STATUS_OK);
	target.conditions = none;
	assert_int_equal(object_copy(yard->objects, "bucket", "nowhere", 0, &none, &target, false, &made, NULL),
			 STATUS_NOT_FOUND);
	REFUSED(object_compose(yard->objects, &source, 1, &target, &made, &yard->err), STATUS_NOT_FOUND,
		"The specified bucket does not exist.");
	REFUSED(bucket_get(yard->objects, "other", &bucket, &yard->err), STATUS_NOT_FOUND,
		"The specified bucket does not exist.");
	OK(object_copy(yard->objects, "bucket", "there", 0, &none, &target, false, &made, &yard->err));
	object_deinit(&made);
	OK(bucket_get(yard->objects, "other", &bucket, &yard->err));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, yard_open, yard_close)

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_bucket_lives_and_dies),
		TEST(buckets_are_listed_by_name),
		TEST(buckets_appear_on_first_use_or_not),
		TEST(a_write_that_is_refused_makes_no_bucket),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
