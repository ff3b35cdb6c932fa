/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/gcs/gcs_path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/cleanup.h"
#include "tests/unit/testing.h"

static void paths_name_buckets_and_objects(void **state)
{
	static const struct {
		const char *path;
		enum gcs_kind kind;
		const char *bucket, *object, *prefix;
		bool is_twin;
	} rows[] = {
		{ "/", GCS_TOP, "", "", "", false },
		{ "/gcs", GCS_BUCKETS, "", "", "", false },
		{ "/gcs/my-bucket", GCS_BUCKET, "my-bucket", "", "", false },
		{ "/gcs/my-bucket/a", GCS_ENTRY, "my-bucket", "a", "a/", false },
		{ "/gcs/b.example.com/a/b c/\xc3\xa9", GCS_ENTRY, "b.example.com", "a/b c/\xc3\xa9",
		  "a/b c/\xc3\xa9/", false },
		{ "/gcs/my-bucket/a/b\n", GCS_ENTRY, "my-bucket", "a/b", "a/b/", true },
		{ "/gcs/my-bucket/...", GCS_ENTRY, "my-bucket", "...", ".../", false },
		{ "/gcs/my-bucket/.hidden", GCS_ENTRY, "my-bucket", ".hidden", ".hidden/", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char prefix[GCS_OBJECT_SIZE];
		struct gcs_path path;

		assert_int_equal(gcs_path_parse(rows[i].path, &path), 0);
		assert_int_equal(path.kind, rows[i].kind);
		assert_string_equal(path.bucket, rows[i].bucket);
		assert_string_equal(path.object, rows[i].object);
		assert_int_equal(path.is_twin, rows[i].is_twin);
		gcs_path_prefix(&path, prefix);
		assert_string_equal(prefix, rows[i].prefix);
	}
}

static void paths_that_name_nothing_are_refused(void **state)
{
	static const struct {
		const char *path;
		int problem;
	} rows[] = {
		{ "/g", -ENOENT },
		{ "/gcsx", -ENOENT },
		{ "/other/my-bucket", -ENOENT },
		{ "/gcs/", -ENOENT },
		{ "/gcs/No_Bucket", -ENOENT },
		{ "/gcs/..", -ENOENT },
		{ "/gcs/.Trash-0", -ENOENT },
		{ "/gcs/192.168.0.1", -ENOENT },
		{ "/gcs/my-bucket/a//b", -ENOENT },
		{ "/gcs/my-bucket/../b", -ENOENT },
		{ "/gcs/my-bucket/a/./b", -ENOENT },
		{ "/gcs/my-bucket/\n", -EINVAL },
		{ "/gcs/my-bucket/a\n/b", -EINVAL },
		{ "/gcs/my-bucket/a/\n", -EINVAL },
		{ "/gcs/my-bucket/a\rb", -EINVAL },
		{ "/gcs/my-bucket/\xff", -EINVAL },
		{ "/gcs/my-bucket/.well-known/acme-challenge/x", -EINVAL },
	};
	struct gcs_path path;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (gcs_path_parse(rows[i].path, &path) != rows[i].problem)
			fail_msg("%s: not %d", rows[i].path, rows[i].problem);
}

/* "/gcs/my-bucket/" and @length bytes, cut into parts of @part bytes. */
static char *long_path(size_t length, size_t part)
{
	static const char start[] = "/gcs/my-bucket/";
	char *path = calloc(1, sizeof(start) + length);

	memcpy(path, start, sizeof(start) - 1);
	for (size_t i = 0; i < length; i++)
		path[sizeof(start) - 1 + i] = (i + 1) % (part + 1) == 0 ? '/' : 'n';
	return path;
}

static void names_have_the_lengths_of_cloud_storage_and_of_file_systems(void **state)
{
	static const struct {
		size_t length, part;
		int problem;
	} rows[] = {
		{ 255, 255, 0 }, { 256, 256, -ENAMETOOLONG }, { 1023, 254, 0 },
		{ 1024, 99, 0 }, { 1025, 99, -ENAMETOOLONG }, { 4000, 99, -ENAMETOOLONG },
		{ 511, 255, 0 },
	};
	struct gcs_path path;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		AUTO(string) char *text = long_path(rows[i].length, rows[i].part);

		assert_int_equal(gcs_path_parse(text, &path), rows[i].problem);
	}
}

static void segments_that_are_no_names_are_told(void **state)
{
	(void)state;
	assert_true(gcs_segment_is_name("a/", 1));
	assert_true(gcs_segment_is_name(".a", 2));
	assert_true(gcs_segment_is_name("..a", 3));
	assert_true(gcs_segment_is_name("a.", 2));
	assert_false(gcs_segment_is_name("", 0));
	assert_false(gcs_segment_is_name("./a", 1));
	assert_false(gcs_segment_is_name("../a", 2));
}

static void media_types_are_told_by_endings(void **state)
{
	(void)state;
	assert_string_equal(gcs_content_type("a/b.json"), "application/json");
	assert_string_equal(gcs_content_type("a.PNG"), "image/png");
	assert_string_equal(gcs_content_type("a.json/b"), "application/octet-stream");
	assert_string_equal(gcs_content_type("json"), "application/octet-stream");
	assert_string_equal(gcs_content_type(""), "application/octet-stream");
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_name_buckets_and_objects),
		cmocka_unit_test(paths_that_name_nothing_are_refused),
		cmocka_unit_test(names_have_the_lengths_of_cloud_storage_and_of_file_systems),
		cmocka_unit_test(segments_that_are_no_names_are_told),
		cmocka_unit_test(media_types_are_told_by_endings),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("gcs_path", tests, NULL, NULL);
}
