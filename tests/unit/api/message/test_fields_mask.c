/* SPDX-License-Identifier: Apache-2.0 */
#include "api/message/message.h"

#include <stdio.h>

#include "api/message/names.h"
#include "tests/unit/api/message/json_testing.h"
#include "tests/unit/api/message/sample_message.h"

static const char page[] = "{'jobs':[{'jobId':'a','state':'FAILED','labels':{'x':'1','y':'2'},"
			   "'trainingInput':{'region':'r','args':['p']}},{'jobId':'b'}],'nextPageToken':'t'}";

static const struct {
	const char *mask, *kept;
} rows[] = {
	{ "*", page },
	{ "nextPageToken", "{'nextPageToken':'t'}" },
	{ "next_page_token", "{'nextPageToken':'t'}" },
	{ "jobs(jobId,state),nextPageToken",
	  "{'jobs':[{'jobId':'a','state':'FAILED'},{'jobId':'b'}],'nextPageToken':'t'}" },
	{ "jobs/jobId", "{'jobs':[{'jobId':'a'},{'jobId':'b'}]}" },
	{ "jobs.jobId", "{'jobs':[{'jobId':'a'},{'jobId':'b'}]}" },
	{ "jobs/jobId,jobs/state", "{'jobs':[{'jobId':'a','state':'FAILED'},{'jobId':'b'}]}" },
	{ "jobs/trainingInput/region", "{'jobs':[{'trainingInput':{'region':'r'}},{}]}" },
	{ "jobs(trainingInput(args),labels/x)",
	  "{'jobs':[{'labels':{'x':'1'},'trainingInput':{'args':['p']}},{}]}" },
	{ "jobs(*/region)", "{'jobs':[{'trainingInput':{'region':'r'}},{}]}" },
	{ "*/jobId", "{'jobs':[{'jobId':'a'},{'jobId':'b'}]}" },
	{ "jobs(*/region,labels/y)", "{'jobs':[{'labels':{'y':'2'},'trainingInput':{'region':'r'}},{}]}" },
	{ "jobs/jobId,jobs", "{'jobs':[{'jobId':'a','state':'FAILED','labels':{'x':'1','y':'2'},"
			     "'trainingInput':{'region':'r','args':['p']}},{'jobId':'b'}]}" },
	{ "nextPageToken,nextPageToken/x", "{'nextPageToken':'t'}" },
	{ " nextPageToken , nope ", "{'nextPageToken':'t'}" },
	{ "*/labels/x,jobs(labels)", "{'jobs':[{'labels':{'x':'1','y':'2'}},{}]}" },
	{ "jobs(*/region,trainingInput/region/x)", "{'jobs':[{'trainingInput':{'region':'r'}},{}]}" },
	{ "nope", "{}" },
	{ "nextPageToken/nope", "{}" },
};

static void only_what_the_mask_names_is_kept(void **state)
{
	AUTO(string) char *json = quoted(page);

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		AUTO(string) char *wanted = quoted(rows[i].kept);
		struct text kept AUTO_TEXT = { 0 };
		struct error err AUTO_ERROR = { 0 };

		if (fields_mask_write(&kept, rows[i].mask, json, &err))
			fail_msg("%s: %s", rows[i].mask, err.text);
		assert_string_equal(kept.data, wanted);
		assert_int_equal(fields_mask_check(NULL, rows[i].mask, NULL, NULL), STATUS_OK);
	}
}

static void malformed_masks_are_refused(void **state)
{
	static const char *const masks[] = { "",    ",",   "a,",    "a,,b",   "a(",   "a(b",
					     "a)",  "a()", "/a",    "a/",     "a//b", "a b",
					     "a;b", "(a)", "a(b)c", "a(b)/c", "\xff", "jobs(jobId,)" };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(masks); i++) {
		struct text kept AUTO_TEXT = { 0 };
		struct error err AUTO_ERROR = { 0 };

		if (!fields_mask_check(NULL, masks[i], NULL, &err))
			fail_msg("'%s' was taken", masks[i]);
		assert_int_equal(err.status, STATUS_INVALID_ARGUMENT);
		assert_string_equal(err.text, "Request contains an invalid argument.");
		assert_string_equal(err.violations[0].field, masks[i]);
		assert_non_null(strstr(err.violations[0].text, "Invalid field selection"));
		assert_int_equal(fields_mask_write(&kept, masks[i], "{}", NULL), STATUS_INVALID_ARGUMENT);
		assert_int_equal(kept.length, 0);
	}
}

/* Masks are checked by the table of fields, not by the value. */
static const struct {
	const char *mask, *nowhere; /* @nowhere: the path that names no field; NULL: all do */
} checks[] = {
	{ "*", NULL },
	{ "text,smallCount,small_count", NULL },
	{ "consumed_ml_units", NULL },
	{ "child/child.child(text,children/text)", NULL },
	{ "children(words,labels/any-key,nodes/any.thing,bag/x/y,thing/z)", NULL },
	{ "*/text", NULL },
	{ "child/*/text,*/*/*/etag", NULL },
	{ "ownerName,child(owner_name/any)", NULL }, /* the service's, never set here */
	{ "*/any-key", NULL },                       /* a label may have such a name */
	{ "nosuch", "nosuch" },
	{ "Text", "Text" },
	{ "small-count", "small-count" },
	{ "text,children(nosuch)", "children.nosuch" },
	{ "children/nosuch,other", "children.nosuch" },
	{ "children(text,nosuch(a/b,c)),child", "children.nosuch.a.b" },
	{ "child,child(nosuch)", "child.nosuch" },
	{ "text/nosuch", "text.nosuch" },
	{ "text/*", "text.*" },
	{ "words(nosuch)", "words.nosuch" },
	{ "endTime/seconds", "endTime.seconds" },
};

static enum status refuse_here(const char *mask, const char *path, const char *name, struct error *err)
{
	assert_string_equal(mask, "text,children(nosuch(a))");
	assert_string_equal(path, "children.nosuch.a");
	return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "here: %s", name);
}

static void names_that_are_no_fields_are_refused(void **state)
{
	struct error here AUTO_ERROR = { 0 };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(checks); i++) {
		struct error err AUTO_ERROR = { 0 };
		AUTO(string) char *wanted = NULL;
		const enum status rc = fields_mask_check(&sample_message, checks[i].mask, NULL, &err);

		if (rc != (checks[i].nowhere ? STATUS_INVALID_ARGUMENT : STATUS_OK))
			fail_msg("%s: %s", checks[i].mask, rc ? err.violations[0].text : "taken");
		if (!rc)
			continue;
		assert_true(asprintf(&wanted,
				     "Error expanding 'fields' parameter. Cannot find matching fields for "
				     "path '%s'.",
				     checks[i].nowhere) > 0);
		assert_string_equal(err.text, "Request contains an invalid argument.");
		assert_int_equal(err.violation_count, 1);
		assert_string_equal(err.violations[0].field, checks[i].mask);
		assert_string_equal(err.violations[0].text, wanted);
	}
	assert_int_equal(fields_mask_check(&sample_message, "text,children(nosuch(a))", refuse_here, &here),
			 STATUS_INVALID_ARGUMENT);
	assert_string_equal(here.text, "here: nosuch");
	assert_int_equal(fields_mask_check(&sample_message, "nosuch", NULL, NULL), STATUS_INVALID_ARGUMENT);
}

static void more_names_than_any_message_has_are_refused(void **state)
{
	struct text mask AUTO_TEXT = { 0 };

	(void)state;
	text_puts(&mask, "*");
	for (int i = 1; i < 4096; i++)
		text_puts(&mask, ",*");
	assert_int_equal(fields_mask_check(&sample_message, mask.data, NULL, NULL), STATUS_OK);
	text_puts(&mask, ",*");
	assert_int_equal(fields_mask_check(&sample_message, mask.data, NULL, NULL), STATUS_INVALID_ARGUMENT);
}

static void endless_nesting_is_refused(void **state)
{
	struct text mask AUTO_TEXT = { 0 };

	(void)state;
	for (int i = 0; i < 100000; i++)
		text_puts(&mask, "a(");
	assert_int_equal(fields_mask_check(NULL, mask.data, NULL, NULL), STATUS_INVALID_ARGUMENT);
	text_clear(&mask);
	for (int i = 0; i < 100000; i++)
		text_puts(&mask, "a/");
	text_putc(&mask, 'a');
	assert_int_equal(fields_mask_check(NULL, mask.data, NULL, NULL), STATUS_INVALID_ARGUMENT);
	text_clear(&mask);
	for (int i = 0; i < 100000; i++)
		text_putc(&mask, '[');
	assert_int_equal(fields_mask_write(&mask, "a", mask.data, NULL), STATUS_INTERNAL);
}

static void what_is_no_json_is_an_error_of_ours(void **state)
{
	static const char *const texts[] = { "",        "{",         "{'a'",        "{'a':",    "{'a':1",
					     "{'a':1,", "{'a':1,}",  "{'b':[1,2}",  "{'b':'x}", "{'b':'x\\",
					     "{a:1}",   "{'a':1}}",  "[1,2",        "[1,",      "[,]",
					     "{'a':}",  "{'b':{'c'", "{'a':[1 2]}x" };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(texts); i++) {
		AUTO(string) char *json = quoted(texts[i]);
		struct text kept AUTO_TEXT = { 0 };

		if (fields_mask_write(&kept, "a,d/e", json, NULL) != STATUS_INTERNAL)
			fail_msg("%s was taken", texts[i]);
	}
}

static void space_and_escapes_are_read(void **state)
{
	static const char json[] =
		" { \"a\\u0062\" : [ 1 , { \"c\" : \"}\\\"\" , \"d\" : 2 } ] , \"e\\\"\" : 3 } ";
	struct text kept AUTO_TEXT = { 0 };

	(void)state;
	assert_int_equal(fields_mask_write(&kept, "ab/c", json, NULL), STATUS_OK);
	assert_string_equal(kept.data, "{\"a\\u0062\":[1,{\"c\":\"}\\\"\"}]}");
}

/* ---- chance ---- */

enum { NAMES_MAX = 4, PATHS_MAX = 6, ROUNDS = 20000 };

struct path {
	const char *names[NAMES_MAX];
	unsigned count;
};

static unsigned seed = 20261122;

static unsigned chance(unsigned below)
{
	return (unsigned)rand_r(&seed) % below;
}

static json_t *value_of_chance(unsigned depth)
{
	static const char *const keys[] = { "a", "b", "jobId", "my_key", "Big", "q\"\\\n" };
	const unsigned kind = chance(depth ? 6 : 3);
	json_t *value = kind < 5 ? json_object() : json_array();

	if (kind < 3) {
		json_decref(value);
		return kind == 0 ? json_string("}]\",\\") : kind == 1 ? json_integer(-7) : json_null();
	}
	for (unsigned i = chance(5); i > 0; i--) {
		if (json_is_object(value))
			json_object_set_new(value, keys[chance(COUNT_OF(keys))], value_of_chance(depth - 1));
		else
			json_array_append_new(value, value_of_chance(depth - 1));
	}
	return value;
}

static struct path path_of_chance(void)
{
	static const char *const names[] = { "a", "b", "jobId", "job_id", "my_key", "big", "*" };
	struct path path = { .count = 1 + chance(NAMES_MAX) };

	for (unsigned i = 0; i < path.count; i++)
		path.names[i] = names[chance(COUNT_OF(names))];
	return path;
}

/* Writes a path in a random form: a/b, a.b and a(b) are equal. */
static void path_write(struct text *mask, const struct path *path)
{
	unsigned open = 0;

	for (unsigned i = 0; i < path->count; i++) {
		const char separator = "/.("[chance(3)];

		text_puts(mask, path->names[i]);
		if (i + 1 == path->count)
			break;
		text_putc(mask, separator);
		open += separator == '(';
	}
	while (open--)
		text_putc(mask, ')');
}

/* A second implementation, path by path on a tree: keeps what the paths, from their name number @level on, select of
 * @value. */
static void value_keep(json_t *value, const struct path *const *paths, size_t count, unsigned level)
{
	size_t index;
	const char *key;
	json_t *member;
	void *next;

	json_array_foreach(value, index, member)
		value_keep(member, paths, count, level);
	json_object_foreach_safe(value, next, key, member) {
		const struct path *below[PATHS_MAX];
		size_t below_count = 0;
		bool whole = false;

		for (size_t i = 0; i < count; i++) {
			const char *name = paths[i]->names[level];

			if (strcmp(name, "*") != 0 && !name_matches(key, name))
				continue;
			if (paths[i]->count == level + 1)
				whole = true;
			else
				below[below_count++] = paths[i];
		}
		if (whole)
			continue;
		if (below_count)
			value_keep(member, below, below_count, level + 1);
		if (!below_count || !(json_is_array(member) || json_object_size(member)))
			json_object_del(value, key);
	}
}

static void a_pass_over_the_text_keeps_what_a_walk_through_the_tree_keeps(void **state)
{
	(void)state;
	for (unsigned round = 0; round < ROUNDS; round++) {
		AUTO(json) json_t *value = value_of_chance(5);
		AUTO(string) char *json = json_dump_compact(value);
		struct path paths[PATHS_MAX];
		const struct path *pointers[PATHS_MAX];
		const size_t count = 1 + chance(PATHS_MAX);
		struct text mask AUTO_TEXT = { 0 };
		struct text kept AUTO_TEXT = { 0 };

		for (size_t i = 0; i < count; i++) {
			paths[i] = path_of_chance();
			pointers[i] = &paths[i];
			text_puts(&mask, i ? "," : "");
			path_write(&mask, &paths[i]);
		}
		assert_int_equal(fields_mask_write(&kept, mask.data, json, NULL), STATUS_OK);
		value_keep(value, pointers, count, 0);
		AUTO(string) char *wanted = json_dump_compact(value);
		if (strcmp(kept.data, wanted) != 0)
			fail_msg("%s of %s: %s, not %s", mask.data, json, kept.data, wanted);
	}
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_what_the_mask_names_is_kept),
		cmocka_unit_test(malformed_masks_are_refused),
		cmocka_unit_test(names_that_are_no_fields_are_refused),
		cmocka_unit_test(more_names_than_any_message_has_are_refused),
		cmocka_unit_test(endless_nesting_is_refused),
		cmocka_unit_test(what_is_no_json_is_an_error_of_ours),
		cmocka_unit_test(space_and_escapes_are_read),
		cmocka_unit_test(a_pass_over_the_text_keeps_what_a_walk_through_the_tree_keeps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
