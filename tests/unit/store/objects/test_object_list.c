/* SPDX-License-Identifier: Apache-2.0 */
#include <time.h>

#include "daemon/base/text.h"
#include "daemon/base/work.h"
#include "store/objects/glob.h"
#include "tests/unit/store/objects/objects_testing.h"

/* ---- patterns ---- */

static void patterns_fit_what_they_say(void **state)
{
	(void)state;
	static const struct {
		const char *pattern, *fits, *does_not; /* separated by spaces */
	} rows[] = {
		{ "a*b", "ab axb axxb", "a/b abc xab" },
		{ "a**b", "ab a/b a/x/y/b", "abc" },
		{ "a?b",
		  "axb a\xc3\xa4"
		  "b",
		  "ab a/b axxb" },
		{ "[abc].t", "a.t c.t", "d.t ab.t /.t" },
		{ "[!a-c]x", "dx -x", "ax cx /x" },
		{ "[a-]x", "ax -x", "bx" },
		{ "[]]x", "]x", "x" },
		{ "{a,b*}.t", "a.t b.t bcd.t", "c.t ab.t" },
		{ "{a,{b,c}}x", "ax bx cx", "x" },
		{ "a,b}", "a,b}", "a" },
		{ "**/x", "a/x a/b/x", "x" },
		{ "a.b", "a.b", "axb" },
		{ "\\*", "*", "a" },
		{ "(a|b)+^$", "(a|b)+^$", "a" },
		{ "dir/**", "dir/ dir/a dir/a/b", "dir" },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		for (int fits = 0; fits < 2; fits++) {
			AUTO(string) char *names = strdup(fits ? rows[i].fits : rows[i].does_not);
			AUTO(glob) struct glob *glob = NULL;
			char *rest = NULL;

			assert_int_equal(glob_new(rows[i].pattern, &glob, NULL), STATUS_OK);
			for (char *name = strtok_r(names, " ", &rest); name;
			     name = strtok_r(NULL, " ", &rest)) {
				if (glob_match(glob, name, strlen(name)) != fits)
					fail_msg("%s on %s", rows[i].pattern, name);
			}
		}
	}
}

static void what_is_no_pattern_is_refused(void **state)
{
	(void)state;
	static const char *const bad[] = { "[", "[a", "{a", "{a,b", "a\\", "[z-a]", "\xff" };
	char *longest = malloc(1026);

	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		AUTO(glob) struct glob *glob = NULL;

		if (glob_new(bad[i], &glob, NULL) != STATUS_INVALID_ARGUMENT)
			fail_msg("%s", bad[i]);
	}
	memset(longest, 'a', 1025);
	longest[1025] = '\0';
	struct glob *glob = NULL;

	assert_int_equal(glob_new(longest, &glob, NULL), STATUS_INVALID_ARGUMENT);
	free(longest);
}

/* Fails with: steps followed one way after the other: this takes longer than the test may. */
static void no_pattern_takes_long(void **state)
{
	(void)state;
	static const char *const patterns[] = {
		"**a**a**a**a**a**a**a**a**a**a**a**a[!ax]",
		"{a,**{a,**{a,**{a,**{a,**{a,**{a,**{a,**}}}}}}}}{a,**{a,**{a,**{a,**{a,**}}}}}b",
	};
	char name[1025], longest[1025];

	memset(name, 'a', 1023);
	strcpy(name + 1023, "x");
	for (size_t i = 0; i < 1024; i += 2)
		memcpy(longest + i, "**", 3);
	for (size_t i = 0; i < COUNT_OF(patterns) + 1; i++) {
		const char *pattern = i < COUNT_OF(patterns) ? patterns[i] : longest;
		AUTO(glob) struct glob *glob = NULL;

		assert_int_equal(glob_new(pattern, &glob, NULL), STATUS_OK);
		for (size_t length = 1; length <= 1024; length *= 2)
			assert_int_equal(glob_match(glob, name, length), pattern == longest);
	}
}

static void a_pattern_tells_the_directory_of_all_that_fits(void **state)
{
	(void)state;
	static const struct {
		const char *pattern, *directory;
	} rows[] = {
		{ "*", "" },        { "a", "" },       { "a/*", "a/" },           { "a/b/c*d/e", "a/b/" },
		{ "a/", "" },       { "a/b/", "a/" },  { "a\\b/\\[/?", "ab/[/" }, { "a\\\\b/c", "a\\b/" },
		{ "{a/,b/}c", "" }, { "[a]/b/c", "" }, { "a/{b/c}", "a/" },       { "a,}/b", "a,}/" },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		AUTO(glob) struct glob *glob = NULL;

		assert_int_equal(glob_new(rows[i].pattern, &glob, NULL), STATUS_OK);
		assert_string_equal(glob_directory(glob), rows[i].directory);
	}
}

/* ---- lists ---- */

/* Names and prefixes of all pages, each kind in its order: "a b | p/ q/". */
static char *list_all(struct yard *yard, struct object_query query, unsigned *ret_pages)
{
	struct text items AUTO_TEXT = { 0 };
	struct text prefixes AUTO_TEXT = { 0 };
	AUTO(string) char *after = NULL;

	*ret_pages = 0;
	text_puts(&items, "");
	text_puts(&prefixes, "|");
	do {
		struct object_page page AUTO_OBJECT_PAGE = { 0 };

		query.bucket = "bucket";
		query.after = after;
		OK(object_list(yard->objects, &query, &page, &yard->err));
		assert_true(page.count + page.prefix_count <= query.most + query.trailing_delimiter);
		assert_true(!page.next || page.count + page.prefix_count >= query.most);
		for (size_t i = 0; i < page.count; i++)
			text_printf(&items, "%s ", page.objects[i].name);
		for (size_t i = 0; i < page.prefix_count; i++)
			text_printf(&prefixes, " %s", page.prefixes[i]);
		free(after);
		after = page.next ? strdup(page.next) : NULL;
		++*ret_pages;
	} while (after);
	text_puts(&items, prefixes.data);
	return text_take(&items);
}

static void assert_list(struct yard *yard, struct object_query query, const char *expected)
{
	for (unsigned most = 1; most < 9; most++) {
		unsigned pages;

		query.most = most;
		AUTO(string) char *got = list_all(yard, query, &pages);

		if (strcmp(got, expected) != 0)
			fail_msg("pages of %u: got %s, not %s", most, got, expected);
	}
}

static void names_are_listed_by_their_bytes(void **state)
{
	YARD(state);
	static const char *const names[] = { "a/1", "b",        "a/2", "a",     "a/",
					     "a0",  "\xc3\xa4", "B",   "a/b/c", "z/" };

	for (size_t i = 0; i < COUNT_OF(names); i++)
		text_put(yard, names[i], "x");
	assert_list(yard, (struct object_query){ 0 }, "B a a/ a/1 a/2 a/b/c a0 b z/ \xc3\xa4 |");
	assert_list(yard, (struct object_query){ .delimiter = "/" }, "B a a0 b \xc3\xa4 | a/ z/");
	assert_list(yard, (struct object_query){ .delimiter = "/", .prefix = "a/" }, "a/ a/1 a/2 | a/b/");
	assert_list(yard, (struct object_query){ .delimiter = "/", .prefix = "a" }, "a a0 | a/");
	assert_list(yard, (struct object_query){ .delimiter = "/", .trailing_delimiter = true },
		    "B a a/ a0 b z/ \xc3\xa4 | a/ z/");
	assert_list(yard, (struct object_query){ .prefix = "a/" }, "a/ a/1 a/2 a/b/c |");
	assert_list(yard, (struct object_query){ .prefix = "q" }, "|");
	assert_list(yard, (struct object_query){ .start = "a/1", .end = "b" }, "a/1 a/2 a/b/c a0 |");
	assert_list(yard, (struct object_query){ .start = "a/1", .end = "b", .delimiter = "/" }, "a0 | a/");
	assert_list(yard, (struct object_query){ .start = "a/2", .prefix = "a/" }, "a/2 a/b/c |");
	assert_list(yard, (struct object_query){ .start = "A", .prefix = "a/" }, "a/ a/1 a/2 a/b/c |");
	assert_list(yard, (struct object_query){ .match_glob = "a/*" }, "a/ a/1 a/2 |");
	assert_list(yard, (struct object_query){ .match_glob = "a/*", .prefix = "a/b/" }, "|");
	assert_list(yard, (struct object_query){ .match_glob = "a/*", .prefix = "b" }, "|");
}

/* Fails with: row_take() that asks the pattern about the whole name: no prefix fits it but by chance. */
static void a_pattern_is_about_prefixes_as_well(void **state)
{
	YARD(state);
	static const char *const names[] = { "level0/file", "other/file",   "top",      "dir/",
					     "dir/x.jpg",   "dir/in/y.jpg", "dir/in2/z" };

	for (size_t i = 0; i < COUNT_OF(names); i++)
		text_put(yard, names[i], "x");
#define GLOB(PATTERN, ...) (struct object_query){ .match_glob = PATTERN, .delimiter = "/", ##__VA_ARGS__ }
	assert_list(yard, GLOB("*/"), "| dir/ level0/ other/");
	assert_list(yard, GLOB("**"), "top | dir/ level0/ other/");
	assert_list(yard, GLOB("*"), "top |");
	assert_list(yard, GLOB("**le"), "|");
	assert_list(yard, GLOB("{dir,top}*"), "top |");
	assert_list(yard, GLOB("{dir/,top}"), "top | dir/");
	assert_list(yard, GLOB("{dir/,top}", .trailing_delimiter = true), "dir/ top | dir/");
	assert_list(yard, GLOB("dir/**.jpg", .prefix = "dir/"), "dir/x.jpg |");
	assert_list(yard, GLOB("dir/*/", .prefix = "dir/"), "| dir/in/ dir/in2/");
	assert_list(yard, GLOB("dir/*"), "dir/ dir/x.jpg |");
	assert_list(yard, GLOB("dir/**"), "dir/ dir/x.jpg | dir/in/ dir/in2/");
	assert_list(yard, GLOB("dir/in*"), "|");
	assert_list(yard, GLOB("d\\ir/x*"), "dir/x.jpg |");
}

static void lists_without_a_bucket_or_a_pattern_are_refused(void **state)
{
	YARD(state);
	struct object_page page AUTO_OBJECT_PAGE = { 0 };
	struct object_query query = { .bucket = "bucket", .most = 1 };

	REFUSED(object_list(yard->objects, &query, &page, &yard->err), STATUS_NOT_FOUND,
		"The specified bucket does not exist.");
	query.match_glob = "[";
	assert_int_equal(object_list(yard->objects, &query, &page, &yard->err), STATUS_INVALID_ARGUMENT);
}

/* ---- against a model ---- */

enum { MODEL_NAMES = 200, MODEL_QUERIES = 400 };

static unsigned random_state = 12345;

static unsigned chance(unsigned below)
{
	random_state = random_state * 1103515245 + 12345;
	return (random_state >> 16) % below;
}

static void name_make(char ret_name[16], unsigned longest)
{
	static const char *const letters[] = { "a", "b", "/", "/", "%", "\xc3\xa9", "0", "\x7f" };
	unsigned count = 1 + chance(longest);

	ret_name[0] = '\0';
	for (unsigned i = 0; i < count && strlen(ret_name) < 12; i++)
		strcat(ret_name, letters[chance(COUNT_OF(letters))]);
}

static int name_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The expected list, computed by looking at every name. */
static char *model_list(char **names, size_t count, const struct object_query *query)
{
	struct text items AUTO_TEXT = { 0 };
	struct text prefixes AUTO_TEXT = { 0 };
	char last[32] = "";
	size_t prefix_length = strlen(query->prefix);

	text_puts(&items, "");
	text_puts(&prefixes, "|");
	for (size_t i = 0; i < count; i++) {
		const char *name = names[i];
		const char *found;

		if (strncmp(name, query->prefix, prefix_length) != 0 ||
		    (query->start && strcmp(name, query->start) < 0) ||
		    (query->end && strcmp(name, query->end) >= 0))
			continue;
		found = query->delimiter ? strstr(name + prefix_length, query->delimiter) : NULL;
		if (!found || (query->trailing_delimiter && !found[strlen(query->delimiter)]))
			text_printf(&items, "%s ", name);
		if (!found)
			continue;
		char directory[32];

		snprintf(directory, sizeof(directory), "%.*s",
			 (int)(found - name + (long)strlen(query->delimiter)), name);
		if (strcmp(directory, last) != 0)
			text_printf(&prefixes, " %s", directory);
		strcpy(last, directory);
	}
	text_puts(&items, prefixes.data);
	return text_take(&items);
}

static void lists_are_what_a_look_at_every_name_gives(void **state)
{
	YARD(state);
	static const char *const delimiters[] = { NULL, "/", "/", "a", "//", "\xc3\xa9" };
	char *names[MODEL_NAMES];
	size_t count = 0;

	for (int i = 0; i < MODEL_NAMES; i++) {
		char name[16];
		bool is_new = true;

		name_make(name, 7);
		for (size_t k = 0; k < count; k++)
			is_new = is_new && strcmp(names[k], name) != 0;
		if (!is_new)
			continue;
		text_put(yard, name, name);
		names[count++] = strdup(name);
	}
	qsort(names, count, sizeof(names[0]), name_compare);
	for (int i = 0; i < MODEL_QUERIES; i++) {
		char prefix[16] = "", start[16], end[16];
		unsigned pages;
		struct object_query query = { .prefix = prefix,
					      .delimiter = delimiters[chance(COUNT_OF(delimiters))],
					      .trailing_delimiter = chance(3) == 0,
					      .start = chance(2) ? NULL : start,
					      .end = chance(2) ? NULL : end,
					      .most = 1 + chance(20) };

		if (chance(2))
			name_make(prefix, 2);
		name_make(start, 3);
		name_make(end, 3);
		AUTO(string) char *expected = model_list(names, count, &query);
		AUTO(string) char *got = list_all(yard, query, &pages);

		if (strcmp(got, expected) != 0)
			fail_msg("prefix %s delimiter %s start %s end %s most %u: got %s, not %s", prefix,
				 query.delimiter, query.start, query.end, query.most, got, expected);
	}
	while (count > 0)
		free(names[--count]);
}

/* ---- many ---- */

enum { MANY = 100 * 1000 };

static enum status many_insert(struct connection *connection, int64_t now_ns, void *arg, struct error *err)
{
	(void)now_ns, (void)arg;
	return connection_exec(
		connection,
		"WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 99999)"
		"INSERT INTO object SELECT (SELECT id FROM bucket), printf('d%d/part-%06d', i / 50000, i), i + 1, 1, 1,"
		" 1, 1, 'text/plain', '{}', 1, x'00112233445566778899aabbccddeeff', 0, i + 1 FROM n",
		err);
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void pages_of_many_objects_are_quick(void **state)
{
	YARD(state);
	static const struct object_query queries[] = {
		{ .bucket = "bucket", .most = 1000 },
		{ .bucket = "bucket", .most = 1000, .delimiter = "/" },
		{ .bucket = "bucket",
		  .most = 1000,
		  .prefix = "d1/",
		  .delimiter = "/",
		  .after = "d1/part-090000" },
	};
	static const size_t expected[] = { 1000, 2, 1000 };

	OK(bucket_ensure(yard->objects, "bucket", &yard->err));
	OK(objects_change(yard->objects, many_insert, NULL, &yard->err));
	for (size_t i = 0; i < COUNT_OF(queries); i++) {
		struct object_page page AUTO_OBJECT_PAGE = { 0 };
		double begin = seconds();

		OK(object_list(yard->objects, &queries[i], &page, &yard->err));
		print_message("# list %zu of %d: %.2f ms\n", i, MANY, (seconds() - begin) * 1000);
		assert_int_equal(page.count + page.prefix_count, expected[i]);
	}
}

/* A clock that advances by a tenth of a second with each look. */
static int64_t slow_mono_us(void *arg)
{
	static int64_t now_us;

	(void)arg;
	return now_us += 100 * 1000;
}

/* Fails with: row_take() that looks at the clock for names that do not fit only, or not for prefixes. */
static void a_search_that_takes_long_ends_its_page_and_goes_on_in_the_next(void **state)
{
	YARD(state);
	static const struct {
		const char *pattern, *delimiter, *seen;
		bool trailing;
	} rows[] = {
		{ "**9", "/", "19 ", false },
		{ "*/", "/", "p00/ p01/ p02/ p03/ p04/ p05/ p06/ p07/ p08/ p09/ ", false },
		{ "*/", "/", "p00/ p01/ p02/ p03/ p04/ p05/ p06/ p07/ p08/ p09/ ", true },
		{ "1?", NULL, "10 11 12 13 14 15 16 17 18 19 ", false },
		{ "?x/", "/", "", true },
	};
	char name[16];

	yard->clock.mono_us = slow_mono_us;
	for (int i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), i < 10 ? "p%02d/in" : "%02d", i);
		text_put(yard, name, "1");
	}
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct object_query query = { .bucket = "bucket",
					      .match_glob = rows[i].pattern,
					      .delimiter = rows[i].delimiter,
					      .trailing_delimiter = rows[i].trailing,
					      .most = 100 };
		struct text seen AUTO_TEXT = { 0 };
		AUTO(string) char *after = NULL;
		unsigned pages = 0;

		text_puts(&seen, "");
		do {
			struct object_page page AUTO_OBJECT_PAGE = { 0 };

			query.after = after;
			OK(object_list(yard->objects, &query, &page, &yard->err));
			for (size_t k = 0; k < page.prefix_count; k++)
				text_printf(&seen, "%s ", page.prefixes[k]);
			for (size_t k = 0; k < page.count; k++)
				text_printf(&seen, "%s ", page.objects[k].name);
			free(after);
			after = TAKE(page.next);
		} while (++pages < 20 && after);
		assert_string_equal(seen.data, rows[i].seen);
		assert_in_range(pages, 4, 10);
	}
}

static bool is_given_up(void *arg)
{
	(void)arg;
	return true;
}

/* Fails with: rows_take() that does not ask. */
static void a_list_that_is_not_waited_for_ends(void **state)
{
	YARD(state);
	const struct object_query query = { .bucket = "bucket", .most = 1 };
	struct object_page page AUTO_OBJECT_PAGE = { 0 };

	text_put(yard, "a", "1");
	work_begin(&(struct work){ .is_abandoned = is_given_up });
	usleep(20 * 1000);
	assert_int_equal(object_list(yard->objects, &query, &page, &yard->err), STATUS_CANCELLED);
	work_end();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, yard_open, yard_close)

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(patterns_fit_what_they_say),
		cmocka_unit_test(what_is_no_pattern_is_refused),
		cmocka_unit_test(no_pattern_takes_long),
		cmocka_unit_test(a_pattern_tells_the_directory_of_all_that_fits),
		TEST(names_are_listed_by_their_bytes),
		TEST(a_pattern_is_about_prefixes_as_well),
		TEST(lists_without_a_bucket_or_a_pattern_are_refused),
		TEST(lists_are_what_a_look_at_every_name_gives),
		TEST(a_search_that_takes_long_ends_its_page_and_goes_on_in_the_next),
		TEST(a_list_that_is_not_waited_for_ends),
		TEST(pages_of_many_objects_are_quick),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
