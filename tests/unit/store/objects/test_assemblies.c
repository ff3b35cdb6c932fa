/* SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>
#include <sys/wait.h>

#include "daemon/base/crc32c.h"
#include "daemon/base/json.h"
#include "daemon/base/text.h"
#include "store/objects/assemblies.h"
#include "tests/unit/store/objects/objects_testing.h"

#define DAY_NS INT64_C(86400000000000)

/* Bytes for the parts; no two positions look the same. */
static char bytes[3 * PART_LEAST_BYTES];

static struct assembly_key key_of(const char *name, const char *id)
{
	return (struct assembly_key){ "bucket", name, id };
}

static void assembly_start(struct yard *yard, const char *name, char ret_id[SESSION_ID_SIZE])
{
	struct object_target target = target_of(name);

	OK(assembly_begin(yard->objects, &target, ret_id, &yard->err));
}

static struct part_claim part_give(struct yard *yard, const struct assembly_key *key, unsigned number,
				   const char *data, size_t length)
{
	AUTO(upload) struct upload *upload = NULL;
	struct part_claim claim = { .number = number, .has_md5 = true };
	struct part part;

	OK(part_begin(yard->objects, key, number, &upload, &yard->err));
	OK(upload_write(upload, data, length, &yard->err));
	OK(part_finish(upload, &part, &yard->err));
	assert_int_equal(part.number, number);
	assert_int_equal(part.size_bytes, length);
	assert_int_equal(part.crc32c, crc32c_extend(0, data, length));
	memcpy(claim.md5, part.md5, sizeof(claim.md5));
	return claim;
}

static enum status finish(struct yard *yard, const struct assembly_key *key, const struct part_claim *claims,
			  size_t count, struct object *ret_object)
{
	return assembly_finish(yard->objects, key, claims, count, ret_object, &yard->err);
}

static void refused(struct yard *yard, const struct assembly_key *key, const struct part_claim *claims,
		    size_t count, const char *code)
{
	struct object object AUTO_OBJECT = { 0 };

	assert_int_equal(finish(yard, key, claims, count, &object), STATUS_INVALID_ARGUMENT);
	assert_string_equal(yard->err.reason, code);
	assert_string_equal(yard->err.metadata[0].key, "details");
}

static void assert_bytes(struct yard *yard, const char *name, const char *expected, size_t length)
{
	size_t found;
	AUTO(string) char *all = bytes_get(yard, name, &found);

	assert_int_equal(found, length);
	assert_memory_equal(all, expected, length);
}

static void parts_in_any_order_become_one_object(void **state)
{
	YARD(state);
	AUTO(json)
	json_t *metadata = json_pack("{s:s, s:{s:s}}", "storageClass", "NEARLINE", "metadata", "a", "b");
	struct object_target target = target_of("a");
	char id[SESSION_ID_SIZE];
	struct part_claim claims[3];
	struct object object AUTO_OBJECT = { 0 };

	target.content_type = "x/y";
	target.metadata = metadata;
	OK(assembly_begin(yard->objects, &target, id, &yard->err));
	assert_int_equal(strlen(id), SESSION_ID_SIZE - 1);

	const struct assembly_key key = key_of("a", id);

	claims[2] = part_give(yard, &key, PART_NUMBER_MOST, bytes + 2 * PART_LEAST_BYTES + 1, 9);
	claims[0] = part_give(yard, &key, 1, bytes, PART_LEAST_BYTES);
	claims[1] = part_give(yard, &key, 7, bytes + PART_LEAST_BYTES, PART_LEAST_BYTES + 1);
	assert_false(is_there(yard, "a"));
	OK(finish(yard, &key, claims, 3, &object));
	assert_int_equal(object.size_bytes, 2 * PART_LEAST_BYTES + 10);
	assert_int_equal(object.crc32c, crc32c_extend(0, bytes, 2 * PART_LEAST_BYTES + 10));
	assert_false(object.has_md5);
	assert_int_equal(object.component_count, 0);
	assert_string_equal(object.content_type, "x/y");
	assert_true(json_equal(object.metadata, metadata));
	assert_bytes(yard, "a", bytes, 2 * PART_LEAST_BYTES + 10);
	REFUSED(finish(yard, &key, claims, 3, &object), STATUS_NOT_FOUND,
		"The requested upload was not found.");
	yard_settle(yard);
	assert_int_equal(files_below(yard, "uploads"), 0);
	assert_int_equal(files_below(yard, "blobs"), 1);
}

static void the_only_part_becomes_the_object_as_it_is(void **state)
{
	YARD(state);
	char id[SESSION_ID_SIZE];
	struct object object AUTO_OBJECT = { 0 };

	assembly_start(yard, "a", id);

	const struct assembly_key key = key_of("a", id);
	const struct part_claim claim = part_give(yard, &key, 3, "123456789", 9);

	OK(finish(yard, &key, &claim, 1, &object));
	assert_int_equal(object.crc32c, 0xe3069283);
	assert_false(object.has_md5);
	yard_settle(yard);
	assert_text(yard, "a", "123456789");
	assert_int_equal(files_below(yard, "uploads"), 0);
	assert_int_equal(files_below(yard, "blobs"), 1);
	OK(object_delete(yard->objects, "bucket", "a", 0, &no_conditions, &yard->err));
	yard_settle(yard);
	assert_int_equal(files_below(yard, "blobs"), 0);
}

static void a_part_that_comes_again_replaces_the_one_before(void **state)
{
	YARD(state);
	char id[SESSION_ID_SIZE];
	struct part_page page AUTO_PART_PAGE = { .parts = NULL };
	struct object object AUTO_OBJECT = { 0 };

	assembly_start(yard, "a", id);

	const struct assembly_key key = key_of("a", id);
	const struct part_claim before = part_give(yard, &key, 1, "one", 3);
	const struct part_claim after = part_give(yard, &key, 1, "other", 5);

	OK(part_list(yard->objects, &key, 0, 10, &page, &yard->err));
	assert_int_equal(page.count, 1);
	assert_int_equal(page.parts[0].size_bytes, 5);
	yard_settle(yard);
	assert_int_equal(files_below(yard, "uploads"), 1);
	refused(yard, &key, &before, 1, "InvalidPart");
	OK(finish(yard, &key, &after, 1, &object));
	assert_text(yard, "a", "other");
}

static void what_is_said_of_the_parts_must_be_true(void **state)
{
	YARD(state);
	char id[SESSION_ID_SIZE];
	struct object object AUTO_OBJECT = { 0 };

	assembly_start(yard, "a", id);

	const struct assembly_key key = key_of("a", id);
	const struct part_claim small = part_give(yard, &key, 1, bytes, PART_LEAST_BYTES - 1);
	const struct part_claim large = part_give(yard, &key, 2, bytes, PART_LEAST_BYTES);
	const struct part_claim last = part_give(yard, &key, 3, "", 0);
	struct part_claim wrong = last, missing = last, odd = last;

	wrong.md5[15] ^= 1;
	missing.number = 4;
	odd.has_md5 = false;
	refused(yard, &key, (struct part_claim[]){ large, wrong }, 2, "InvalidPart");
	refused(yard, &key, (struct part_claim[]){ large, missing }, 2, "InvalidPart");
	refused(yard, &key, (struct part_claim[]){ large, odd }, 2, "InvalidPart");
	refused(yard, &key, (struct part_claim[]){ last, large }, 2, "InvalidPartOrder");
	refused(yard, &key, (struct part_claim[]){ large, large }, 2, "InvalidPartOrder");
	refused(yard, &key, (struct part_claim[]){ small, large }, 2, "EntityTooSmall");
	assert_int_equal(finish(yard, &key, NULL, 0, &object), STATUS_INVALID_ARGUMENT);
	assert_false(is_there(yard, "a"));
	/* The refused upload is unchanged. */
	OK(finish(yard, &key, (struct part_claim[]){ large, last }, 2, &object));
	assert_bytes(yard, "a", bytes, PART_LEAST_BYTES);
	yard_settle(yard);
	assert_int_equal(files_below(yard, "uploads"), 0);
}

static void bytes_that_are_not_what_was_said_are_no_part(void **state)
{
	YARD(state);
	static const unsigned char md5[16] = { 1 };
	char id[SESSION_ID_SIZE];
	struct part part;
	struct part_page page AUTO_PART_PAGE = { .parts = NULL };

	assembly_start(yard, "a", id);

	const struct assembly_key key = key_of("a", id);

	for (int by_md5 = 0; by_md5 < 2; by_md5++) {
		AUTO(upload) struct upload *upload = NULL;

		OK(part_begin(yard->objects, &key, 1, &upload, &yard->err));
		OK(upload_write(upload, "123", 3, &yard->err));
		if (by_md5)
			upload_expect_md5(upload, md5);
		else
			upload_expect_crc32c(upload, 1);
		assert_int_equal(part_finish(upload, &part, &yard->err), STATUS_INVALID_ARGUMENT);
		assert_non_null(strstr(yard->err.text, "doesn't match calculated"));
	}
	OK(part_list(yard->objects, &key, 0, 10, &page, &yard->err));
	assert_int_equal(page.count, 0);
	assert_int_equal(files_below(yard, "uploads"), 0);
}

static void what_is_none_is_not_found(void **state)
{
	YARD(state);
	char id[SESSION_ID_SIZE];
	struct assembly assembly AUTO_ASSEMBLY = { .name = NULL };
	struct part_page page AUTO_PART_PAGE = { .parts = NULL };
	struct object object AUTO_OBJECT = { 0 };
	AUTO(upload) struct upload *upload = NULL;

	assembly_start(yard, "a", id);
	text_put(yard, "other", "x");
	OK(bucket_ensure(yard->objects, "second", &yard->err));

	const struct assembly_key keys[] = { { "bucket", "a", "" },
					     { "bucket", "a", "0123" },
					     { "bucket", "other", id },
					     { "second", "a", id } };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const struct part_claim claim = { .number = 1 };

		assert_int_equal(assembly_get(yard->objects, &keys[i], &assembly, &yard->err),
				 STATUS_NOT_FOUND);
		assert_string_equal(yard->err.reason, "NoSuchUpload");
		assert_int_equal(part_begin(yard->objects, &keys[i], 1, &upload, &yard->err),
				 STATUS_NOT_FOUND);
		assert_int_equal(part_list(yard->objects, &keys[i], 0, 1, &page, &yard->err),
				 STATUS_NOT_FOUND);
		assert_int_equal(finish(yard, &keys[i], &claim, 1, &object), STATUS_NOT_FOUND);
		assert_int_equal(assembly_delete(yard->objects, &keys[i], &yard->err), STATUS_NOT_FOUND);
	}
	REFUSED(assembly_get(yard->objects, &(struct assembly_key){ "nowhere", "a", id }, &assembly,
			     &yard->err),
		STATUS_NOT_FOUND, "The specified bucket does not exist.");
}

static void what_is_ended_leaves_no_file(void **state)
{
	YARD(state);
	char ids[2][SESSION_ID_SIZE];
	AUTO(upload) struct upload *late = NULL;
	struct part part;

	assembly_start(yard, "a", ids[0]);
	assembly_start(yard, "a", ids[1]);

	const struct assembly_key first = key_of("a", ids[0]), second = key_of("a", ids[1]);

	part_give(yard, &first, 1, "one", 3);
	part_give(yard, &first, 2, "two", 3);
	part_give(yard, &second, 1, "one", 3);
	OK(part_begin(yard->objects, &first, 3, &late, &yard->err));
	OK(upload_write(late, "late", 4, &yard->err));
	OK(assembly_delete(yard->objects, &first, &yard->err));
	assert_int_equal(part_finish(late, &part, &yard->err), STATUS_NOT_FOUND);
	upload_free(TAKE(late));
	yard_settle(yard);
	assert_int_equal(files_below(yard, "uploads"), 1);
	/* Deleting a bucket removes its uploads. */
	OK(bucket_delete(yard->objects, "bucket", &no_conditions, &yard->err));
	yard_settle(yard);
	assert_int_equal(files_below(yard, "uploads"), 0);
}

static void an_assembly_ends_after_a_week(void **state)
{
	YARD(state);
	char old[SESSION_ID_SIZE], young[SESSION_ID_SIZE];
	struct assembly assembly AUTO_ASSEMBLY = { .name = NULL };
	struct assembly_page page AUTO_ASSEMBLY_PAGE = { .count = 0 };
	const struct assembly_query query = { .bucket = "bucket", .most = 10 };

	assembly_start(yard, "a", old);

	const struct assembly_key key = key_of("a", old);

	part_give(yard, &key, 1, "one", 3);
	yard_step(yard, 7 * DAY_NS);
	OK(assembly_get(yard->objects, &key, &assembly, &yard->err));
	yard_step(yard, 1000);
	assert_int_equal(assembly_get(yard->objects, &key, &assembly, &yard->err), STATUS_NOT_FOUND);
	OK(assembly_list(yard->objects, &query, &page, &yard->err));
	assert_int_equal(page.count, 0);
	yard_settle(yard);
	assert_int_equal(files_below(yard, "uploads"), 1);
	yard_step(yard, DAY_NS);
	assembly_start(yard, "b", young);
	yard_settle(yard);
	assert_int_equal(files_below(yard, "uploads"), 0);
}

static void parts_are_listed_in_pages(void **state)
{
	YARD(state);
	static const unsigned numbers[] = { 5, 1, 9999, 3 };
	static const unsigned sorted[] = { 1, 3, 5, 9999 };
	char id[SESSION_ID_SIZE];

	assembly_start(yard, "a", id);

	const struct assembly_key key = key_of("a", id);

	for (size_t i = 0; i < 4; i++)
		part_give(yard, &key, numbers[i], "xyz", i % 3);
	for (unsigned most = 1; most <= 5; most++) {
		unsigned after = 0, seen = 0;
		bool more = true;

		while (more) {
			struct part_page page AUTO_PART_PAGE = { .parts = NULL };

			OK(part_list(yard->objects, &key, after, most, &page, &yard->err));
			assert_true(page.count > 0 && page.count <= most);
			for (size_t i = 0; i < page.count; i++)
				assert_int_equal(page.parts[i].number, sorted[seen++]);
			assert_int_equal(page.parts[0].created_us, START_NS / 1000);
			after = page.parts[page.count - 1].number;
			more = page.more;
		}
		assert_int_equal(seen, 4);
	}
}

/* Checks the entries of a list over all its pages, "name" or "prefix>". */
static void assert_list(struct yard *yard, const char *prefix, const char *delimiter, unsigned most,
			const char *expected)
{
	struct text seen AUTO_TEXT = { 0 };
	AUTO(string) char *after = NULL;
	AUTO(string) char *after_id = NULL;

	text_puts(&seen, "");
	do {
		struct assembly_page page AUTO_ASSEMBLY_PAGE = { .count = 0 };
		const struct assembly_query query = { "bucket", prefix, delimiter, after, after_id, most };

		OK(assembly_list(yard->objects, &query, &page, &yard->err));
		assert_true(page.count + page.prefix_count <= most);
		for (size_t i = 0; i < page.count; i++)
			text_printf(&seen, "%s ", page.assemblies[i].name);
		for (size_t i = 0; i < page.prefix_count; i++)
			text_printf(&seen, "%s> ", page.prefixes[i]);
		free(after);
		free(after_id);
		after = TAKE(page.next);
		after_id = TAKE(page.next_id);
	} while (after);
	assert_string_equal(seen.data, expected);
}

static void assemblies_are_listed_by_name_in_pages(void **state)
{
	YARD(state);
	static const char *const names[] = { "b", "a", "d/2", "d/1", "a", "c/x/y", "e", "d/1" };
	struct assembly_page page AUTO_ASSEMBLY_PAGE = { .count = 0 };
	char id[SESSION_ID_SIZE];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assembly_start(yard, names[i], id);
	for (unsigned most = 1; most <= 9; most++) {
		assert_list(yard, NULL, NULL, most, "a a b c/x/y d/1 d/1 d/2 e ");
		assert_list(yard, "d/", NULL, most, "d/1 d/1 d/2 ");
		assert_list(yard, "d/", "/", most, "d/1 d/1 d/2 ");
		assert_list(yard, "c", "/", most, "c/> ");
		assert_list(yard, "z", "/", most, "");
	}
	assert_list(yard, NULL, "/", 1, "a a b c/> d/> e ");
	assert_list(yard, NULL, "/", 9, "a a b e c/> d/> ");
	/* A marker without an id skips all uploads of its name. */
	OK(assembly_list(yard->objects,
			 &(struct assembly_query){ .bucket = "bucket", .after = "a", .most = 1 }, &page,
			 &yard->err));
	assert_string_equal(page.assemblies[0].name, "b");
	assert_null(page.assemblies[0].storage_class);
	assert_int_equal(page.assemblies[0].created_us, START_NS / 1000);
}

static void parts_survive_kills(void **state)
{
	YARD(state);
	char id[SESSION_ID_SIZE];
	struct part_claim claims[3];
	struct object object AUTO_OBJECT = { 0 };

	assembly_start(yard, "a", id);

	const struct assembly_key key = key_of("a", id);

	objects_free(yard->objects);
	yard->objects = NULL;
	for (unsigned i = 0; i < 3; i++) {
		int ends[2];
		pid_t child;

		assert_int_equal(pipe(ends), 0);
		child = fork();
		if (child == 0) {
			AUTO(upload) struct upload *other = NULL;

			yard_use(yard, "demo");
			claims[i] =
				part_give(yard, &key, i + 1, bytes + i * PART_LEAST_BYTES, PART_LEAST_BYTES);
			OK(part_begin(yard->objects, &key, 1, &other, &yard->err));
			OK(upload_write(other, bytes, sizeof(bytes), &yard->err));
			if (write(ends[1], &claims[i], sizeof(claims[i])) != sizeof(claims[i]))
				_exit(1);
			for (;;)
				pause();
		}
		close(ends[1]);
		assert_int_equal(read(ends[0], &claims[i], sizeof(claims[i])), sizeof(claims[i]));
		kill(child, SIGKILL);
		close(ends[0]);
		assert_int_equal(waitpid(child, NULL, 0), child);
	}
	yard_use(yard, "demo");
	OK(objects_use(yard->objects, &yard->err));
	assert_int_equal(files_below(yard, "uploads"), 3);
	assert_false(is_there(yard, "a"));
	OK(finish(yard, &key, claims, 3, &object));
	assert_bytes(yard, "a", bytes, sizeof(bytes));
	yard_reopen(yard);
	assert_bytes(yard, "a", bytes, sizeof(bytes));
	yard_settle(yard);
	assert_int_equal(files_below(yard, "uploads"), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, yard_open, yard_close)

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		TEST(parts_in_any_order_become_one_object),
		TEST(the_only_part_becomes_the_object_as_it_is),
		TEST(a_part_that_comes_again_replaces_the_one_before),
		TEST(what_is_said_of_the_parts_must_be_true),
		TEST(bytes_that_are_not_what_was_said_are_no_part),
		TEST(what_is_none_is_not_found),
		TEST(what_is_ended_leaves_no_file),
		TEST(an_assembly_ends_after_a_week),
		TEST(parts_are_listed_in_pages),
		TEST(assemblies_are_listed_by_name_in_pages),
		TEST(parts_survive_kills),
	};

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)(i * 2654435761u >> 9);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
