/* SPDX-License-Identifier: Apache-2.0 */
#include <sys/mount.h>

#include "store/objects/file_name.h"
#include "tests/unit/store/objects/objects_testing.h"

static void names_are_written_safely(void **state)
{
	(void)state;
	static const struct {
		const char *name, *file;
	} rows[] = {
		{ "a", "a" },
		{ "a/b.txt", "a/b.txt" },
		{ "100%", "100%25" },
		{ "a\x01\x1f\x7f", "a%01%1F%7F" },
		{ ".", "%2E" },
		{ "../../etc/passwd", "%2E%2E/%2E%2E/etc/passwd" },
		{ "...", "..." },
		{ ".hidden", ".hidden" },
		{ "/", "%2F/%2F" },
		{ "/a", "%2F/a" },
		{ "a/", "a/%2F" },
		{ "a//b", "a/%2F/b" },
		{ "%2F", "%252F" },
		{ "a%file", "a%25file" },
		{ "\xc3\xa4 b", "\xc3\xa4 b" },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct text path AUTO_TEXT = { 0 };

		file_name_write(&path, rows[i].name);
		assert_string_equal(path.data, rows[i].file);
	}
}

/* Fails with: dots_write() of whole parts alone (as it was): another object's file was this one's. */
static void what_is_left_of_a_long_part_is_no_directory(void **state)
{
	static const struct {
		const char *rest, *file;
	} rows[] = {
		{ ".", "%2E" }, { "..", "%2E%2E" }, { "../y", "%2E%2E/y" }, { "...", "..." }, { ".y", ".y" }
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct text name AUTO_TEXT = { 0 };
		struct text path AUTO_TEXT = { 0 };

		for (int j = 0; j < FILE_PART_MAX; j++)
			text_putc(&name, 'x');
		text_puts(&name, rows[i].rest);
		file_name_write(&path, name.data);
		assert_memory_equal(path.data + FILE_PART_MAX, "%~/", strlen("%~/"));
		assert_string_equal(path.data + FILE_PART_MAX + strlen("%~/"), rows[i].file);
	}
}

static void long_parts_are_cut_where_characters_end(void **state)
{
	(void)state;
	static const char *const letters[] = { "x", "\x01", "\xc3\xa4", "\xf0\x9f\x9a\x82", "%" };

	for (size_t i = 0; i < COUNT_OF(letters); i++) {
		struct text name AUTO_TEXT = { 0 };
		struct text path AUTO_TEXT = { 0 };

		while (name.length + strlen(letters[i]) <= 1024)
			text_puts(&name, letters[i]);
		file_name_write(&path, name.data);
		assert_true(utf8_valid(path.data, path.length));
		for (char *part = path.data; part;) {
			char *slash = strchr(part, '/');
			size_t length = slash ? (size_t)(slash - part) : strlen(part);

			assert_in_range(length, 1, FILE_PART_MAX + 2);
			if (slash)
				assert_memory_equal(slash - 2, "%~", 2);
			part = slash ? slash + 1 : NULL;
		}
	}
}

/* The text of a file in the tree, or "-". */
static const char *file_text(struct yard *yard, const char *path)
{
	static char text[64];
	char whole[512];
	FILE *file;

	snprintf(whole, sizeof(whole), "%s/gs/bucket/%s", yard->dir, path);
	file = fopen(whole, "r");
	if (!file)
		return "-";
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	return text;
}

static void object_remove(struct yard *yard, const char *name)
{
	OK(object_delete(yard->objects, "bucket", name, 0, &no_conditions, &yard->err));
}

static void the_tree_follows_the_index(void **state)
{
	YARD(state);
	char path[128];
	struct stat info;

	text_put(yard, "out/model", "one");
	yard_settle(yard);
	assert_string_equal(file_text(yard, "out/model"), "one");
	snprintf(path, sizeof(path), "%s/gs/bucket/out/model", yard->dir);
	assert_int_equal(stat(path, &info), 0);
	assert_int_equal(info.st_mode & 07777, 0444);
	text_put(yard, "out/model", "two");
	yard_settle(yard);
	assert_string_equal(file_text(yard, "out/model"), "two");
	object_remove(yard, "out/model");
	yard_settle(yard);
	snprintf(path, sizeof(path), "%s/gs/bucket/out", yard->dir);
	assert_int_equal(access(path, F_OK), -1);
	snprintf(path, sizeof(path), "%s/gs/bucket", yard->dir);
	assert_int_equal(access(path, F_OK), 0);
	OK(bucket_delete(yard->objects, "bucket", &no_conditions, &yard->err));
	yard_settle(yard);
	assert_int_equal(access(path, F_OK), -1);
}

static void a_file_makes_way_for_a_directory_and_comes_back(void **state)
{
	YARD(state);

	for (int order = 0; order < 2; order++) {
		text_put(yard, order ? "a/b" : "a", order ? "below" : "file");
		if (order == 0)
			yard_settle(yard);
		text_put(yard, order ? "a" : "a/b", order ? "file" : "below");
		yard_settle(yard);
		assert_string_equal(file_text(yard, "a%file"), "file");
		assert_string_equal(file_text(yard, "a/b"), "below");
		text_put(yard, "a", "changed");
		yard_settle(yard);
		assert_string_equal(file_text(yard, "a%file"), "changed");
		object_remove(yard, "a/b");
		yard_settle(yard);
		assert_string_equal(file_text(yard, "a"), "changed");
		assert_int_equal(files_below(yard, "gs"), 1);
		text_put(yard, "a/b", "below");
		object_remove(yard, "a");
		yard_settle(yard);
		assert_int_equal(files_below(yard, "gs"), 1);
		object_remove(yard, "a/b");
		yard_settle(yard);
		assert_int_equal(files_below(yard, "gs"), 0);
	}
}

static void hostile_names_stay_inside_and_apart(void **state)
{
	YARD(state);
	static const char *const fixed[] = {
		"../../outside",
		"/etc/passwd",
		"a/../b",
		"a/./b",
		"a//b",
		"a/b",
		"a",
		"A",
		"a/",
		"a//",
		"//",
		"/",
		"...",
		"~",
		"-rf",
		"%",
		"%2E",
		"%new",
		"a%file",
		"a%file/x",
		"%2F",
		"\x01",
		"*",
		"\\",
		" ",
		"\xe2\x80\xae"
		"x",
	};
	char *names[COUNT_OF(fixed) + 4];
	size_t count = 0;
	char outside[128];

	for (; count < COUNT_OF(fixed); count++)
		names[count] = strdup(fixed[count]);
	for (int i = 0; i < 4; i++, count++) {
		/* one long part; its beginning; as many parts as possible; control characters */
		names[count] = malloc(1025);
		memset(names[count], i == 3 ? '\x02' : 'n', 1024);
		names[count][i == 1 ? 200 : 1024] = '\0';
		for (int k = 1; i == 2 && k < 1024; k += 2)
			names[count][k] = '/';
	}
	for (size_t i = 0; i < count; i++)
		text_put(yard, names[i], "x");
	yard_settle(yard);
	assert_int_equal(files_below(yard, "gs/bucket"), count);
	assert_int_equal(files_below(yard, "gs"), count);
	snprintf(outside, sizeof(outside), "%s/outside", yard->dir);
	assert_int_equal(access(outside, F_OK), -1);
	for (size_t i = 0; i < count; i++) {
		assert_text(yard, names[i], "x");
		object_remove(yard, names[i]);
	}
	yard_settle(yard);
	assert_int_equal(files_below(yard, "gs"), 0);
	OK(bucket_delete(yard->objects, "bucket", &no_conditions, &yard->err));
	while (count > 0)
		free(names[--count]);
}

static void links_of_people_are_not_followed(void **state)
{
	YARD(state);
	char elsewhere[128], link[128], path[160];

	snprintf(elsewhere, sizeof(elsewhere), "%s/elsewhere", yard->dir);
	snprintf(link, sizeof(link), "%s/gs/bucket/trap", yard->dir);
	text_put(yard, "x", "x");
	yard_settle(yard);
	assert_int_equal(mkdir(elsewhere, 0700), 0);
	assert_int_equal(symlink(elsewhere, link), 0);
	text_put(yard, "trap/inside", "1");
	yard_settle(yard);
	snprintf(path, sizeof(path), "%s/inside", elsewhere);
	assert_int_equal(access(path, F_OK), -1);
	object_remove(yard, "trap/inside");
	yard_settle(yard);
	assert_int_equal(access(elsewhere, F_OK), 0);
	assert_text(yard, "x", "x");
	/* The same with a bucket's directory. */
	snprintf(link, sizeof(link), "%s/gs/trapped", yard->dir);
	assert_int_equal(symlink(elsewhere, link), 0);
	struct object_target target = { .bucket = "trapped",
					.name = "inside",
					.conditions = CONDITIONS_NONE };

	OK(target_put(yard, &target, "1", 1, NULL));
	yard_settle(yard);
	assert_int_equal(access(path, F_OK), -1);
}

static void a_tree_that_was_deleted_costs_no_object(void **state)
{
	YARD(state);
	char path[128];

	text_put(yard, "a/b", "1");
	yard_settle(yard);
	snprintf(path, sizeof(path), "%s/gs/bucket", yard->dir);
	nftw(path, path_remove, 8, FTW_DEPTH | FTW_PHYS);
	assert_text(yard, "a/b", "1");
	text_put(yard, "a/c", "2");
	yard_settle(yard);
	assert_string_equal(file_text(yard, "a/c"), "2");
	object_remove(yard, "a/b");
	yard_settle(yard);
	assert_int_equal(files_below(yard, "gs"), 1);
}

/* A file system of its own below gs/: hard links do not reach there. */
/* A callback in which unlink() meets another kind of file than expected. */
static int directory_put(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
	(void)info, (void)walk;
	return kind == FTW_F && (unlink(path) != 0 || mkdir(path, 0700) != 0) ? -1 : 0;
}

static void what_cannot_be_done_holds_up_nothing_else(void **state)
{
	enum { STUCK = 300 };
	YARD(state);
	char path[128], name[24];

	for (int i = 0; i < STUCK; i++) {
		snprintf(name, sizeof(name), "stuck-%03d", i);
		text_put(yard, name, "x");
	}
	yard_settle(yard);
	snprintf(path, sizeof(path), "%s/blobs", yard->dir);
	assert_int_equal(nftw(path, directory_put, 64, FTW_PHYS), 0);
	for (int i = 0; i < STUCK; i++) {
		snprintf(name, sizeof(name), "stuck-%03d", i);
		object_remove(yard, name);
	}
	text_put(yard, "last", "x");
	yard_settle(yard);
	assert_string_equal(file_text(yard, "last"), "x");
	object_remove(yard, "last");
	yard_settle(yard);
	assert_int_equal(files_below(yard, "gs") + files_below(yard, "blobs"), 0);
}

static void symbolic_links_stand_in_for_hard_ones(void **state)
{
	YARD(state);
	char path[128], link[160];
	struct stat info;

	snprintf(path, sizeof(path), "%s/gs", yard->dir);
	assert_int_equal(mkdir(path, 0700), 0);
	if (geteuid() != 0 || mount("none", path, "tmpfs", 0, "size=1m,mode=700") != 0) {
		print_message("# only root may mount a file system here\n");
		skip();
	}
	text_put(yard, "a", "one");
	yard_settle(yard);
	assert_string_equal(file_text(yard, "a"), "one");
	snprintf(link, sizeof(link), "%s/bucket/a", path);
	assert_int_equal(lstat(link, &info), 0);
	assert_true(S_ISLNK(info.st_mode));
	text_put(yard, "a", "two");
	text_put(yard, "a/b/c", "deep");
	yard_settle(yard);
	assert_string_equal(file_text(yard, "a%file"), "two");
	assert_string_equal(file_text(yard, "a/b/c"), "deep");
	object_remove(yard, "a/b/c");
	yard_settle(yard);
	assert_string_equal(file_text(yard, "a"), "two");
	object_remove(yard, "a");
	yard_settle(yard);
	assert_int_equal(files_below(yard, "gs"), 0);
	objects_free(yard->objects);
	yard->objects = NULL;
	assert_int_equal(umount2(path, MNT_DETACH), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, yard_open, yard_close)

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_written_safely),
		cmocka_unit_test(what_is_left_of_a_long_part_is_no_directory),
		cmocka_unit_test(long_parts_are_cut_where_characters_end),
		TEST(the_tree_follows_the_index),
		TEST(a_file_makes_way_for_a_directory_and_comes_back),
		TEST(hostile_names_stay_inside_and_apart),
		TEST(links_of_people_are_not_followed),
		TEST(a_tree_that_was_deleted_costs_no_object),
		TEST(what_cannot_be_done_holds_up_nothing_else),
		TEST(symbolic_links_stand_in_for_hard_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
