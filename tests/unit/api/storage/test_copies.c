/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <pthread.h>

#include "tests/unit/api/storage/storage_testing.h"

static int bench_open(void **state)
{
	if (yard_open(state))
		return -1;
	bucket_add("box");
	bucket_add("out");
	return 0;
}

#define BOX_TEST(name) cmocka_unit_test_setup_teardown(name, bench_open, yard_close)

TEST(a_rewrite_is_done_in_one_call)
{
	const int64_t generation = object_add("box", "dir/h.txt", "hello object\n");
	struct seen seen AUTO_SEEN = ask_for(200, "POST",
					     "/storage/v1/b/box/o/dir%2Fh.txt/rewriteTo/b/out/o/a%2Fcopy.txt"
					     "?maxBytesRewrittenPerCall=104857600&rewriteToken=abc",
					     "{'bucket':'out','name':'a/copy.txt'}");

	(void)state_;
	assert_text(seen, "kind", "storage#rewriteResponse");
	assert_true(json_true_at(seen.json, "done"));
	assert_text(seen, "totalBytesRewritten", "13");
	assert_text(seen, "objectSize", "13");
	assert_text(seen, "resource.name", "a/copy.txt");
	assert_text(seen, "resource.bucket", "out");
	assert_text(seen, "resource.contentType", "text/plain");
	assert_text(seen, "resource.metadata.color", "red");
	assert_text(seen, "resource.md5Hash", "SwLRKtfwY9Z67J3CEWpXog==");
	assert_true(json_int_at(json_object_get(seen.json, "resource"), "generation", 0) != generation);
	assert_null(json_object_get(seen.json, "rewriteToken"));
}

TEST(a_copy_takes_the_metadata_that_are_given_or_all_of_the_source)
{
	static const struct {
		const char *body, *content_type, *storage_class;
		bool colored;
	} rows[] = {
		{ NULL, "text/plain", "STANDARD", true },
		{ "{}", "text/plain", "STANDARD", true },
		{ "{'name':'x','kind':'storage#object'}", "text/plain", "STANDARD", true },
		{ "{'storageClass':'NEARLINE'}", "text/plain", "NEARLINE", true },
		{ "{'contentType':'a/b'}", "a/b", "STANDARD", false },
		{ "{'metadata':{'color':'red'},'storageClass':'ARCHIVE'}", NULL, "ARCHIVE", true },
	};

	(void)state_;
	object_add("box", "x", "1");
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct seen seen AUTO_SEEN =
			ask_for(200, "POST", "/storage/v1/b/box/o/x/copyTo/b/out/o/x", rows[i].body);

		assert_text(seen, "kind", "storage#object");
		assert_text(seen, "storageClass", rows[i].storage_class);
		assert_int_equal(json_object_get(seen.json, "metadata") != NULL, rows[i].colored);
		if (rows[i].content_type)
			assert_text(seen, "contentType", rows[i].content_type);
		else
			assert_null(json_object_get(seen.json, "contentType"));
	}
}

TEST(conditions_of_both_sides_must_hold)
{
	static const struct {
		const char *query;
		unsigned http_status;
	} rows[] = {
		{ "ifSourceGenerationMatch=1", 412 },
		{ "ifSourceMetagenerationMatch=2", 412 },
		{ "ifSourceMetagenerationNotMatch=1", 412 },
		{ "ifMetagenerationMatch=2", 412 },
		{ "ifGenerationMatch=0", 412 },
		{ "ifSourceMetagenerationMatch=1&ifMetagenerationMatch=1", 200 },
		{ "sourceGeneration=1", 404 },
	};

	(void)state_;
	object_add("box", "x", "1");
	object_add("out", "y", "2");
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		AUTO(string) char *copy = path_of("/storage/v1/b/box/o/x/copyTo/b/out/o/y?%s", rows[i].query);
		AUTO(string)
		char *rewrite = path_of("/storage/v1/b/box/o/x/rewriteTo/b/out/o/y?%s", rows[i].query);

		done(rows[i].http_status, "POST", copy, NULL);
		done(rows[i].http_status, "POST", rewrite, "{}");
	}
	refused(412, "conditionNotMet", "pre-conditions", "POST",
		"/storage/v1/b/box/o/x/copyTo/b/out/o/y?ifGenerationMatch=0", NULL);
	done(200, "POST", "/storage/v1/b/box/o/x/copyTo/b/out/o/new?ifGenerationMatch=0", NULL);
}

TEST(copies_from_and_to_nowhere_are_refused)
{
	(void)state_;
	object_add("box", "x", "1");
	refused(404, "notFound", "No such object: box/none", "POST",
		"/storage/v1/b/box/o/none/copyTo/b/out/o/y", NULL);
	refused(404, "notFound", "The specified bucket does not exist.", "POST",
		"/storage/v1/b/box/o/x/copyTo/b/none/o/y", NULL);
	refused(404, "notFound", "The specified bucket does not exist.", "POST",
		"/storage/v1/b/none/o/x/rewriteTo/b/out/o/y", NULL);
	refused(400, "invalid", "Invalid bucket name: 'No'", "POST", "/storage/v1/b/box/o/x/copyTo/b/No/o/y",
		NULL);
	refused(400, "invalid", "Invalid JSON", "POST", "/storage/v1/b/box/o/x/copyTo/b/out/o/y", "[");
	refused(400, "invalid", "storage class", "POST", "/storage/v1/b/box/o/x/copyTo/b/out/o/y",
		"{'storageClass':'WARM'}");
}

TEST(a_bucket_appears_when_something_is_copied_into_it)
{
	(void)state_;
	objects_free(yard.objects);
	objects_make("demo");
	object_add("box", "x", "1");
	done(404, "POST", "/storage/v1/b/box/o/none/copyTo/b/fresh/o/y", NULL);
	done(404, "GET", "/storage/v1/b/fresh", NULL);
	done(200, "POST", "/storage/v1/b/box/o/x/copyTo/b/fresh/o/y", NULL);
	done(200, "GET", "/storage/v1/b/fresh", NULL);
}

TEST(a_move_leaves_nothing_behind)
{
	(void)state_;
	object_add("box", "a/x", "1");
	{
		struct seen seen AUTO_SEEN =
			ask_for(200, "POST", "/storage/v1/b/box/o/a%2Fx/moveTo/o/b%2Fy", NULL);

		assert_text(seen, "name", "b/y");
		assert_text(seen, "metadata.color", "red");
	}
	done(404, "GET", "/storage/v1/b/box/o/a%2Fx", NULL);
	done(200, "GET", "/storage/v1/b/box/o/b%2Fy", NULL);
	refused(400, "invalid", "different names", "POST", "/storage/v1/b/box/o/x/moveTo/o/x", NULL);
	refused(404, "notFound", "No such object: box/none", "POST", "/storage/v1/b/box/o/none/moveTo/o/y",
		NULL);
	refused(412, "conditionNotMet", "pre-conditions", "POST",
		"/storage/v1/b/box/o/b%2Fy/moveTo/o/z?ifSourceMetagenerationMatch=2", NULL);
	done(200, "GET", "/storage/v1/b/box/o/b%2Fy", NULL);
}

TEST(objects_are_joined)
{
	(void)state_;
	object_add("box", "1", "one ");
	object_add("box", "2", "two");
	{
		struct seen seen AUTO_SEEN = ask_for(
			200, "POST", "/storage/v1/b/box/o/all/compose",
			"{'kind':'storage#composeRequest','sourceObjects':[{'name':'1'},{'name':'2'},"
			"{'name':'1'}],'destination':{'contentType':'a/b','crc32c':'AAAAAA==','md5Hash':'SwLRKtfwY9Z67J3CEWpXog==','metadata':{'k':'v'}}}");

		assert_text(seen, "size", "11");
		assert_text(seen, "contentType", "a/b");
		assert_text(seen, "metadata.k", "v");
		assert_int_equal(json_int_at(seen.json, "componentCount", 0), 3);
		assert_null(json_object_get(seen.json, "md5Hash"));
		assert_non_null(json_object_get(seen.json, "crc32c"));
	}
	done(200, "GET", "/storage/v1/b/box/o/1", NULL);
	done(200, "POST", "/storage/v1/b/box/o/all/compose",
	     "{'sourceObjects':[{'name':'1'},{'name':'2'}],'deleteSourceObjects':true}");
	done(404, "GET", "/storage/v1/b/box/o/1", NULL);
	done(404, "GET", "/storage/v1/b/box/o/2", NULL);
}

TEST(an_object_that_is_joined_to_itself_stays)
{
	(void)state_;
	object_add("box", "log", "one ");
	object_add("box", "more", "two");
	struct seen seen AUTO_SEEN = ask_for(200, "POST", "/storage/v1/b/box/o/log/compose",
					     "{'sourceObjects':[{'name':'log'},{'name':'more'}],"
					     "'deleteSourceObjects':true}");

	assert_text(seen, "size", "7");
	done(200, "GET", "/storage/v1/b/box/o/log", NULL);
	done(404, "GET", "/storage/v1/b/box/o/more", NULL);
}

TEST(joins_of_nothing_of_too_much_and_of_the_wrong_are_refused)
{
	struct text many AUTO_TEXT = { 0 };

	(void)state_;
	object_add("box", "1", "one");
	refused(400, "required", "at least one source component", "POST", "/storage/v1/b/box/o/all/compose",
		"{}");
	refused(400, "required", "non-empty", "POST", "/storage/v1/b/box/o/all/compose",
		"{'sourceObjects':[{}]}");
	refused(404, "notFound", "none", "POST", "/storage/v1/b/box/o/all/compose",
		"{'sourceObjects':[{'name':'1'},{'name':'none'}],'deleteSourceObjects':true}");
	refused(404, "notFound", "none", "POST", "/storage/v1/b/box/o/all/compose",
		"{'sourceObjects':[{'name':'1'},{'name':'none'}]}");
	refused(412, "conditionNotMet", "pre-conditions", "POST", "/storage/v1/b/box/o/all/compose",
		"{'sourceObjects':[{'name':'1','objectPreconditions':{'ifGenerationMatch':'5'}}]}");
	refused(412, "conditionNotMet", "pre-conditions", "POST",
		"/storage/v1/b/box/o/1/compose?ifGenerationMatch=0", "{'sourceObjects':[{'name':'1'}]}");
	text_puts(&many, "{'sourceObjects':[{'name':'1'}");
	for (int i = 1; i < 32; i++)
		text_puts(&many, ",{'name':'1'}");
	text_puts(&many, "]}");
	done(200, "POST", "/storage/v1/b/box/o/all/compose", many.data);
	many.length -= 2;
	text_puts(&many, ",{'name':'1'}]}");
	refused(400, "invalid", "(33) exceeds the maximum (32)", "POST", "/storage/v1/b/box/o/all/compose",
		many.data);
}

static void *replace_often(void *arg)
{
	for (int i = 0; i < 400; i++)
		object_add("box", "busy", "bytes");
	__atomic_store_n((bool *)arg, true, __ATOMIC_RELAXED);
	return NULL;
}

TEST(what_is_replaced_all_the_time_can_be_copied)
{
	bool is_over = false;
	unsigned missed = 0;
	pthread_t thread;

	(void)state_;
	object_add("box", "busy", "bytes");
	assert_int_equal(pthread_create(&thread, NULL, replace_often, &is_over), 0);
	while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
		struct seen seen AUTO_SEEN = ask("POST", "/storage/v1/b/box/o/busy/copyTo/b/box/o/copy", "");

		missed += seen.http_status != 200;
	}
	pthread_join(thread, NULL);
	assert_int_equal(missed, 0);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		BOX_TEST(a_rewrite_is_done_in_one_call),
		BOX_TEST(a_copy_takes_the_metadata_that_are_given_or_all_of_the_source),
		BOX_TEST(conditions_of_both_sides_must_hold),
		BOX_TEST(copies_from_and_to_nowhere_are_refused),
		BOX_TEST(a_bucket_appears_when_something_is_copied_into_it),
		BOX_TEST(what_is_replaced_all_the_time_can_be_copied),
		BOX_TEST(a_move_leaves_nothing_behind),
		BOX_TEST(objects_are_joined),
		BOX_TEST(an_object_that_is_joined_to_itself_stays),
		BOX_TEST(joins_of_nothing_of_too_much_and_of_the_wrong_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
