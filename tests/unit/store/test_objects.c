/* SPDX-License-Identifier: Apache-2.0 */
#include <nettle/md5.h>
#include <pthread.h>
#include <sys/statvfs.h>

#include "daemon/base/json.h"
#include "store/crc32c.h"
#include "store/hasher.h"
#include "tests/unit/store/objects_testing.h"

/* ---- pure things ---- */

static void the_checksum_is_that_of_iscsi(void **state)
{
	(void)state;
	static const char digits[] = "123456789";

	assert_int_equal(crc32c_extend(0, digits, 9), 0xe3069283);
	assert_int_equal(crc32c_extend(0, "", 0), 0);
	for (size_t cut = 0; cut <= 9; cut++) {
		uint32_t first = crc32c_extend(0, digits, cut);

		assert_int_equal(crc32c_extend(first, digits + cut, 9 - cut), 0xe3069283);
		assert_int_equal(crc32c_concat(first, crc32c_extend(0, digits + cut, 9 - cut), 9 - cut),
				 0xe3069283);
	}
}

static void checksums_of_long_pieces_join(void **state)
{
	(void)state;
	static char bytes[300000];
	const size_t cuts[] = { 0, 1, 7, 4096, 65537, 299999, 300000 };
	uint32_t whole;

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)(i * 2654435761u >> 13);
	whole = crc32c_extend(0, bytes, sizeof(bytes));
	for (size_t i = 0; i < COUNT_OF(cuts); i++) {
		size_t rest = sizeof(bytes) - cuts[i];

		assert_int_equal(crc32c_concat(crc32c_extend(0, bytes, cuts[i]),
					       crc32c_extend(0, bytes + cuts[i], rest), rest),
				 whole);
	}
}

static void conditions_are_a_table(void **state)
{
	(void)state;
	/* The object has generation 10 and metageneration 3; "none" is no object. */
	static const struct {
		struct conditions conditions;
		enum condition_outcome there, none;
	} rows[] = {
		{ { -1, -1, -1, -1 }, CONDITIONS_HOLD, CONDITIONS_HOLD },
		{ { 10, -1, -1, -1 }, CONDITIONS_HOLD, CONDITIONS_FAILED },
		{ { 11, -1, -1, -1 }, CONDITIONS_FAILED, CONDITIONS_FAILED },
		{ { 0, -1, -1, -1 }, CONDITIONS_FAILED, CONDITIONS_HOLD },
		{ { -1, 10, -1, -1 }, CONDITIONS_UNCHANGED, CONDITIONS_HOLD },
		{ { -1, 11, -1, -1 }, CONDITIONS_HOLD, CONDITIONS_HOLD },
		{ { -1, 0, -1, -1 }, CONDITIONS_HOLD, CONDITIONS_UNCHANGED },
		{ { -1, -1, 3, -1 }, CONDITIONS_HOLD, CONDITIONS_FAILED },
		{ { -1, -1, 4, -1 }, CONDITIONS_FAILED, CONDITIONS_FAILED },
		{ { -1, -1, -1, 3 }, CONDITIONS_UNCHANGED, CONDITIONS_HOLD },
		{ { -1, -1, -1, 4 }, CONDITIONS_HOLD, CONDITIONS_HOLD },
		{ { 10, -1, 3, -1 }, CONDITIONS_HOLD, CONDITIONS_FAILED },
		{ { 10, -1, -1, 3 }, CONDITIONS_UNCHANGED, CONDITIONS_FAILED },
		{ { 11, 10, -1, -1 }, CONDITIONS_FAILED, CONDITIONS_FAILED },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		assert_int_equal(conditions_check(&rows[i].conditions, 10, 3), rows[i].there);
		assert_int_equal(conditions_check(&rows[i].conditions, 0, 0), rows[i].none);
	}
}

static void names_of_buckets_follow_the_rules(void **state)
{
	(void)state;
	static const char *const good[] = {
		"abc", "a-b_c", "123", "a.b", "my-bucket.example.com", "1.2.3.4.5"
	};
	static const char *const bad[] = { "",
					   "ab",
					   "Abc",
					   "-ab",
					   "ab-",
					   "_ab",
					   "a..b",
					   "192.168.5.4",
					   "goog-x",
					   "my-google",
					   "g00gle-x",
					   "a b",
					   "a/b",
					   "..",
					   ".ab",
					   "ab.",
					   "\xc3\xa4"
					   "bc" };
	char name[300];

	for (size_t i = 0; i < COUNT_OF(good); i++)
		if (!bucket_name_valid(good[i]))
			fail_msg("%s", good[i]);
	for (size_t i = 0; i < COUNT_OF(bad); i++)
		if (bucket_name_valid(bad[i]))
			fail_msg("%s", bad[i]);
	memset(name, 'a', sizeof(name));
	name[63] = '\0';
	assert_true(bucket_name_valid(name));
	name[63] = 'a';
	name[64] = '\0';
	assert_false(bucket_name_valid(name));
	memset(name, 'a', sizeof(name));
	name[60] = name[120] = name[180] = '.';
	name[222] = '\0';
	assert_true(bucket_name_valid(name));
	name[222] = 'a';
	name[223] = '\0';
	assert_false(bucket_name_valid(name));
}

static void names_of_objects_follow_the_rules(void **state)
{
	(void)state;
	char name[1026];

	memset(name, 'n', sizeof(name));
	name[1025] = '\0';
	assert_false(object_name_valid(name));
	name[1024] = '\0';
	assert_true(object_name_valid(name));
	assert_true(object_name_valid("/"));
	assert_true(object_name_valid("../../etc/passwd"));
	assert_true(object_name_valid("..."));
	assert_true(object_name_valid("a\x01\x7f"));
	assert_true(object_name_valid(".well-known/acme"));
	assert_false(object_name_valid(""));
	assert_false(object_name_valid("."));
	assert_false(object_name_valid(".."));
	assert_false(object_name_valid("a\nb"));
	assert_false(object_name_valid("a\rb"));
	assert_false(object_name_valid("\xff"));
	assert_false(object_name_valid("\xed\xa0\x80")); /* a surrogate */
	assert_false(object_name_valid(".well-known/acme-challenge/x"));
}

/* ---- buckets ---- */

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

/* ---- objects ---- */

static void an_object_is_what_was_uploaded(void **state)
{
	YARD(state);
	AUTO(json) json_t *metadata = json_pack("{s:{s:s}}", "metadata", "key", "value");
	struct object_target target = target_of("dir/a.txt");
	struct object object AUTO_OBJECT = { 0 };
	struct object again AUTO_OBJECT = { 0 };

	target.content_type = "text/plain";
	target.metadata = metadata;
	OK(target_put(yard, &target, "123456789", 9, &object));
	assert_int_equal(object.size_bytes, 9);
	assert_int_equal(object.crc32c, 0xe3069283);
	assert_true(object.has_md5);
	assert_memory_equal(object.md5, "\x25\xf9\xe7\x94\x32\x3b\x45\x38\x85\xf5\x18\x1f\x1b\x62\x4d\x0b",
			    16);
	assert_int_equal(object.generation, START_NS / 1000);
	assert_int_equal(object.metageneration, 1);
	assert_int_equal(object.created_us, START_NS / 1000);
	assert_int_equal(object.component_count, 0);
	yard_reopen(yard);
	OK(object_get(yard->objects, "bucket", "dir/a.txt", object.generation, &again, &yard->err));
	assert_string_equal(again.content_type, "text/plain");
	assert_string_equal(again.bucket, "bucket");
	assert_true(json_equal(again.metadata, metadata));
	assert_text(yard, "dir/a.txt", "123456789");
}

static void an_empty_object_is_one(void **state)
{
	YARD(state);
	struct object_target target = target_of("empty");
	struct object object AUTO_OBJECT = { 0 };

	OK(target_put(yard, &target, "", 0, &object));
	assert_int_equal(object.size_bytes, 0);
	assert_int_equal(object.crc32c, 0);
	assert_memory_equal(object.md5, "\xd4\x1d\x8c\xd9\x8f\x00\xb2\x04\xe9\x80\x09\x98\xec\xf8\x42\x7e",
			    16);
	assert_text(yard, "empty", "");
}

static void missing_objects_are_told_in_the_services_words(void **state)
{
	YARD(state);
	struct object object AUTO_OBJECT = { 0 };
	AUTO(object_reader) struct object_reader *reader = NULL;
	int64_t generation = text_put(yard, "a", "1");

	REFUSED(object_get(yard->objects, "bucket", "x/y", 0, &object, &yard->err), STATUS_NOT_FOUND,
		"No such object: bucket/x/y");
	REFUSED(object_get(yard->objects, "bucket", "a", generation + 1, &object, &yard->err),
		STATUS_NOT_FOUND, "No such object: bucket/a");
	REFUSED(object_get(yard->objects, "nothing", "a", 0, &object, &yard->err), STATUS_NOT_FOUND,
		"The specified bucket does not exist.");
	REFUSED(object_open(yard->objects, "bucket", "x", 0, &reader, &yard->err), STATUS_NOT_FOUND,
		"No such object: bucket/x");
	REFUSED(object_delete(yard->objects, "bucket", "x", 0, &no_conditions, &yard->err), STATUS_NOT_FOUND,
		"No such object: bucket/x");
	REFUSED(object_update(yard->objects, "bucket", "x", 0, &no_conditions, NULL, NULL, &object,
			      &yard->err),
		STATUS_NOT_FOUND, "No such object: bucket/x");
}

static void generations_grow_even_when_the_clock_goes_back(void **state)
{
	YARD(state);
	int64_t last = text_put(yard, "a", "1");

	for (int i = 0; i < 4; i++) {
		int64_t next;

		if (i == 2) {
			yard_step(yard, -INT64_C(3600) * 1000000000);
			OK(object_delete(yard->objects, "bucket", "a", 0, &no_conditions, &yard->err));
			yard_reopen(yard);
		}
		next = text_put(yard, "a", "1");
		assert_true(next > last);
		last = next;
	}
}

static void an_update_keeps_the_bytes(void **state)
{
	YARD(state);
	AUTO(json) json_t *metadata = json_pack("{s:s}", "cacheControl", "no-store");
	struct object object AUTO_OBJECT = { 0 };
	struct conditions conditions = CONDITIONS_NONE;
	int64_t generation = text_put(yard, "a", "bytes");

	conditions.metageneration_match = 1;
	yard_step(yard, 5000);
	OK(object_update(yard->objects, "bucket", "a", generation, &conditions, "text/html", metadata,
			 &object, &yard->err));
	assert_int_equal(object.metageneration, 2);
	assert_int_equal(object.generation, generation);
	assert_int_equal(object.updated_us, START_NS / 1000 + 5);
	assert_int_equal(object.created_us, START_NS / 1000);
	assert_string_equal(object.content_type, "text/html");
	assert_text(yard, "a", "bytes");
	REFUSED(object_delete(yard->objects, "bucket", "a", 0, &conditions, &yard->err),
		STATUS_FAILED_PRECONDITION, PRECONDITION);
	conditions.metageneration_match = 2;
	OK(object_delete(yard->objects, "bucket", "a", 0, &conditions, &yard->err));
	assert_false(is_there(yard, "a"));
}

static void conditions_are_looked_at_first_and_last(void **state)
{
	YARD(state);
	struct object_target target = target_of("a");
	AUTO(upload) struct upload *first = NULL;
	AUTO(upload) struct upload *second = NULL;
	AUTO(upload) struct upload *third = NULL;
	struct object object AUTO_OBJECT = { 0 };
	struct object other AUTO_OBJECT = { 0 };

	target.conditions.generation_match = 0;
	OK(upload_begin(yard->objects, &target, &first, &yard->err));
	OK(upload_begin(yard->objects, &target, &second, &yard->err));
	OK(upload_write(first, "first", 5, &yard->err));
	OK(upload_write(second, "second", 6, &yard->err));
	OK(upload_finish(second, &object, &yard->err));
	REFUSED(upload_finish(first, &other, &yard->err), STATUS_FAILED_PRECONDITION, PRECONDITION);
	REFUSED(upload_begin(yard->objects, &target, &third, &yard->err), STATUS_FAILED_PRECONDITION,
		PRECONDITION);
	assert_text(yard, "a", "second");
	upload_free(TAKE(first));
	yard_settle(yard);
	assert_int_equal(files_below(yard, "uploads"), 0);
	assert_int_equal(files_below(yard, "blobs"), 1);
}

static void wrong_checksums_make_no_object(void **state)
{
	YARD(state);
	struct object_target target = target_of("a");

	target.expects_crc32c = true;
	target.crc32c = 0xe3069284;
	REFUSED(target_put(yard, &target, "123456789", 9, NULL), STATUS_INVALID_ARGUMENT,
		"Provided CRC32C \"4waShA==\" doesn't match calculated CRC32C \"4waSgw==\".");
	target.crc32c = 0xe3069283;
	target.expects_md5 = true;
	REFUSED(target_put(yard, &target, "123456789", 9, NULL), STATUS_INVALID_ARGUMENT,
		"Provided MD5 hash \"AAAAAAAAAAAAAAAAAAAAAA==\" doesn't match calculated MD5 hash "
		"\"JfnnlDI7RTiF9RgfG2JNCw==\".");
	assert_false(is_there(yard, "a"));
	memcpy(target.md5, "\x25\xf9\xe7\x94\x32\x3b\x45\x38\x85\xf5\x18\x1f\x1b\x62\x4d\x0b", 16);
	OK(target_put(yard, &target, "123456789", 9, NULL));
	yard_settle(yard);
	assert_int_equal(files_below(yard, "uploads"), 0);
}

static void checksums_may_be_learned_late(void **state)
{
	YARD(state);
	struct object_target target = target_of("a");
	AUTO(upload) struct upload *upload = NULL;
	struct object object AUTO_OBJECT = { 0 };

	OK(upload_begin(yard->objects, &target, &upload, &yard->err));
	OK(upload_write(upload, "x", 1, &yard->err));
	upload_expect_crc32c(upload, 1);
	assert_int_equal(upload_finish(upload, &object, &yard->err), STATUS_INVALID_ARGUMENT);
	assert_int_equal(upload_write(upload, "x", 1, &yard->err), STATUS_INVALID_ARGUMENT);
	assert_false(is_there(yard, "a"));
}

static void bad_names_are_refused(void **state)
{
	YARD(state);
	struct object_target target = target_of("a\nb");

	assert_int_equal(target_put(yard, &target, "1", 1, NULL), STATUS_INVALID_ARGUMENT);
	target.name = "";
	assert_int_equal(target_put(yard, &target, "1", 1, NULL), STATUS_INVALID_ARGUMENT);
	target.name = "a";
	target.bucket = "../x";
	REFUSED(target_put(yard, &target, "1", 1, NULL), STATUS_INVALID_ARGUMENT,
		"Invalid bucket name: '../x'");
}

static void long_bytes_fill(char *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++)
		bytes[i] = (char)(i * 2654435761u >> 11);
}

/* Past what is hashed in place, in pieces of all sizes. */
static void long_objects_are_hashed_beside(void **state)
{
	YARD(state);
	const size_t lengths[] = { 1024 * 1024 - 1, 1024 * 1024, 1024 * 1024 + 1, 5 * 1024 * 1024 + 77 };
	const size_t pieces[] = { 7777, 32768, 262144, 300001, 8 * 1024 * 1024 };
	AUTO(string) char *bytes = malloc(lengths[3]);

	long_bytes_fill(bytes, lengths[3]);
	for (size_t i = 0; i < COUNT_OF(lengths) * COUNT_OF(pieces); i++) {
		size_t length = lengths[i / COUNT_OF(pieces)], piece = pieces[i % COUNT_OF(pieces)];
		struct object_target target = target_of("long");
		AUTO(upload) struct upload *upload = NULL;
		struct object object AUTO_OBJECT = { 0 };
		unsigned char md5[16];
		struct md5_ctx context;
		size_t got;

		OK(upload_begin(yard->objects, &target, &upload, &yard->err));
		for (size_t at = 0; at < length; at += piece)
			OK(upload_write(upload, bytes + at, length - at < piece ? length - at : piece,
					&yard->err));
		OK(upload_finish(upload, &object, &yard->err));
		md5_init(&context);
		md5_update(&context, length, (unsigned char *)bytes);
		md5_digest(&context, 16, md5);
		assert_memory_equal(object.md5, md5, 16);
		assert_int_equal(object.crc32c, crc32c_extend(0, bytes, length));
		AUTO(string) char *read = bytes_get(yard, "long", &got);

		assert_int_equal(got, length);
		assert_memory_equal(read, bytes, length);
	}
	yard_settle(yard);
	assert_int_equal(files_below(yard, "blobs"), 1);
	assert_int_equal(files_below(yard, "uploads"), 0);
}

static void an_upload_that_is_given_up_leaves_nothing(void **state)
{
	YARD(state);
	AUTO(string) char *bytes = calloc(1, 3 * 1024 * 1024);

	for (size_t length = 1; length <= 3 * 1024 * 1024; length *= 1024) {
		struct object_target target = target_of("a");
		struct upload *upload;

		OK(upload_begin(yard->objects, &target, &upload, &yard->err));
		OK(upload_write(upload, bytes, length, &yard->err));
		OK(upload_write(upload, bytes, length, &yard->err));
		upload_free(upload);
	}
	assert_false(is_there(yard, "a"));
	assert_int_equal(files_below(yard, "uploads"), 0);
}

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
	/* Onto one of its own parts. */
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

/* ---- reading ---- */

static void what_was_opened_stays_readable(void **state)
{
	YARD(state);
	AUTO(object_reader) struct object_reader *reader = NULL;
	char buffer[16];

	text_put(yard, "a", "before");
	OK(object_open(yard->objects, "bucket", "a", 0, &reader, &yard->err));
	text_put(yard, "a", "after");
	OK(object_delete(yard->objects, "bucket", "a", 0, &no_conditions, &yard->err));
	yard_settle(yard);
	assert_int_equal(object_read(reader, 0, buffer, sizeof(buffer), &yard->err), 6);
	assert_memory_equal(buffer, "before", 6);
	assert_int_equal(object_read(reader, 4, buffer, sizeof(buffer), &yard->err), 2);
	assert_int_equal(object_read(reader, 4, buffer, 1, &yard->err), 1);
	assert_int_equal(object_read(reader, 6, buffer, sizeof(buffer), &yard->err), 0);
	assert_int_equal(object_read(reader, INT64_MAX, buffer, sizeof(buffer), &yard->err), 0);
}

static int truncated_to = -1;

static int file_truncate(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
	(void)info, (void)walk;
	if (kind != FTW_F)
		return 0;
	return truncated_to < 0 ? remove(path) : truncate(path, truncated_to);
}

static void lost_bytes_are_told_and_never_short(void **state)
{
	YARD(state);
	char path[128], buffer[16];
	AUTO(object_reader) struct object_reader *reader = NULL;
	AUTO(object_reader) struct object_reader *later = NULL;

	text_put(yard, "a", "bytes");
	yard_settle(yard);
	OK(object_open(yard->objects, "bucket", "a", 0, &reader, &yard->err));
	snprintf(path, sizeof(path), "%s/blobs", yard->dir);
	truncated_to = 3;
	assert_int_equal(nftw(path, file_truncate, 8, FTW_PHYS), 0);
	assert_int_equal(object_open(yard->objects, "bucket", "a", 0, &later, &yard->err), STATUS_DATA_LOSS);
	assert_int_equal(object_read(reader, 0, buffer, sizeof(buffer), &yard->err), 3);
	assert_int_equal(object_read(reader, 3, buffer, sizeof(buffer), &yard->err), -1);
	assert_int_equal(yard->err.status, STATUS_DATA_LOSS);
	truncated_to = -1;
	assert_int_equal(nftw(path, file_truncate, 8, FTW_PHYS), 0);
	assert_int_equal(object_open(yard->objects, "bucket", "a", 0, &later, &yard->err), STATUS_DATA_LOSS);
	text_put(yard, "a", "again");
	assert_text(yard, "a", "again");
}

/* ---- many at once ---- */

enum { WRITERS = 8, ROUNDS = 40 };

static void *writer_run(void *arg)
{
	struct yard *yard = arg;

	for (int i = 0; i < ROUNDS; i++) {
		struct object_target target = target_of("same");
		struct error err AUTO_ERROR = { 0 };
		struct object object AUTO_OBJECT = { 0 };
		AUTO(upload) struct upload *upload = NULL;
		char text[64];
		int length = snprintf(text, sizeof(text), "%d by %p", i, (void *)&object);

		if (upload_begin(yard->objects, &target, &upload, &err) ||
		    upload_write(upload, text, (size_t)length, &err) ||
		    upload_finish(upload, &object, &err) ||
		    object.crc32c != crc32c_extend(0, text, (size_t)length))
			return yard;
	}
	return NULL;
}

static void *reader_run(void *arg)
{
	struct yard *yard = arg;

	for (int i = 0; i < ROUNDS * WRITERS; i++) {
		struct error err AUTO_ERROR = { 0 };
		AUTO(object_reader) struct object_reader *reader = NULL;
		const struct object *object;
		char buffer[64];

		if (object_open(yard->objects, "bucket", "same", 0, &reader, &err))
			return yard;
		object = object_reader_object(reader);
		if (object_read(reader, 0, buffer, sizeof(buffer), &err) != object->size_bytes ||
		    crc32c_extend(0, buffer, (size_t)object->size_bytes) != object->crc32c)
			return yard;
	}
	return NULL;
}

static void many_who_write_the_same_name_leave_one_whole_object(void **state)
{
	YARD(state);
	pthread_t threads[WRITERS + 2];

	text_put(yard, "same", "first");
	for (int i = 0; i < WRITERS + 2; i++)
		assert_int_equal(
			pthread_create(&threads[i], NULL, i < WRITERS ? writer_run : reader_run, yard), 0);
	for (int i = 0; i < WRITERS + 2; i++) {
		void *failed;

		pthread_join(threads[i], &failed);
		assert_null(failed);
	}
	yard_settle(yard);
	assert_int_equal(files_below(yard, "blobs"), 1);
	assert_int_equal(files_below(yard, "gs"), 1);
	assert_int_equal(files_below(yard, "uploads"), 0);
}

static void nothing_is_opened_before_it_is_used(void **state)
{
	YARD(state);
	char path[128];

	snprintf(path, sizeof(path), "%s/storage.db", yard->dir);
	assert_int_equal(access(path, F_OK), -1);
	OK(bucket_ensure(yard->objects, "bucket", &yard->err));
	assert_int_equal(access(path, F_OK), 0);
}

static void a_directory_that_cannot_be_used_is_told_each_time(void **state)
{
	(void)state;
	struct error err AUTO_ERROR = { 0 };
	AUTO(json) json_t *nothing = json_object();
	struct bucket bucket AUTO_BUCKET = { 0 };
	struct objects *objects;
	const struct objects_options options = { "/proc/nothing/here", &system_clock, NULL };

	assert_int_equal(objects_new(&options, &objects, &err), STATUS_OK);
	for (int i = 0; i < 2; i++)
		assert_int_not_equal(bucket_insert(objects, "p", "bucket", nothing, &bucket, &err),
				     STATUS_OK);
	objects_free(objects);
	objects_free(NULL);
}

static void another_process_may_read_what_is_stored_and_change_nothing(void **state)
{
	YARD(state);
	const struct objects_options options = { .state_dir = yard->dir,
						 .clock = &yard->clock,
						 .reads_only = true };
	struct objects *other;
	struct object object AUTO_OBJECT = { 0 };
	AUTO(object_reader) struct object_reader *reader = NULL;
	char text[8] = "";

	OK(objects_prepare(yard->objects, &yard->err));
	OK(objects_new(&options, &other, &yard->err));
	text_put(yard, "n", "bytes");
	OK(object_get(other, "bucket", "n", 0, &object, &yard->err));
	assert_int_equal(object.size_bytes, 5);
	OK(object_open(other, "bucket", "n", 0, &reader, &yard->err));
	assert_int_equal(pread(object_reader_file(reader), text, sizeof(text), 0), 5);
	assert_string_equal(text, "bytes");
	REFUSED(object_delete(other, "bucket", "n", 0, &no_conditions, &yard->err),
		STATUS_FAILED_PRECONDITION, "Objects are only read here.");
	OK(object_delete(yard->objects, "bucket", "n", 0, &no_conditions, &yard->err));
	REFUSED(object_get(other, "bucket", "n", 0, &object, &yard->err), STATUS_NOT_FOUND,
		"No such object: bucket/n");
	objects_free(other);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, yard_open, yard_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_checksum_is_that_of_iscsi),
		cmocka_unit_test(checksums_of_long_pieces_join),
		cmocka_unit_test(conditions_are_a_table),
		cmocka_unit_test(names_of_buckets_follow_the_rules),
		cmocka_unit_test(names_of_objects_follow_the_rules),
		TEST(a_bucket_lives_and_dies),
		TEST(buckets_are_listed_by_name),
		TEST(buckets_appear_on_first_use_or_not),
		TEST(an_object_is_what_was_uploaded),
		TEST(an_empty_object_is_one),
		TEST(missing_objects_are_told_in_the_services_words),
		TEST(generations_grow_even_when_the_clock_goes_back),
		TEST(an_update_keeps_the_bytes),
		TEST(conditions_are_looked_at_first_and_last),
		TEST(wrong_checksums_make_no_object),
		TEST(checksums_may_be_learned_late),
		TEST(bad_names_are_refused),
		TEST(long_objects_are_hashed_beside),
		TEST(an_upload_that_is_given_up_leaves_nothing),
		TEST(copies_share_the_bytes),
		TEST(an_object_can_be_copied_onto_itself),
		TEST(composed_objects_are_their_parts),
		TEST(what_was_opened_stays_readable),
		TEST(lost_bytes_are_told_and_never_short),
		TEST(many_who_write_the_same_name_leave_one_whole_object),
		TEST(nothing_is_opened_before_it_is_used),
		TEST(another_process_may_read_what_is_stored_and_change_nothing),
		cmocka_unit_test(a_directory_that_cannot_be_used_is_told_each_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
