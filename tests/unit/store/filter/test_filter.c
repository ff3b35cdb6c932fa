/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/text.h"
#include "store/filter/filter.h"
#include "tests/unit/testing.h"

static const char *const signs[] = { "=", "!=", ">", ">=", "<", "<=", ":", "=~", "!~" };

static const char *const functions[] = { "log_id", "source", "search", "ip_in_net",
					 "sample", "cast",   "extract" };

/* Shows a path and its conversions: a>cast0>extract"x" */
static void operand_show(struct text *text, const struct filter_node *node)
{
	for (size_t i = 0; i < node->path_length; i++)
		text_printf(text, "%s%s", i ? "/" : "", node->path[i]);
	for (const struct filter_step *step = node->steps; step; step = step->next) {
		text_printf(text, ">%s", functions[step->function]);
		if (step->function == FUNCTION_CAST)
			text_printf(text, "%d", (int)step->type);
		if (step->text)
			text_printf(text, "'%s'", step->text);
	}
}

/* Shows the tree with parentheses. */
static void show(struct text *text, const struct filter_node *node)
{
	switch (node->kind) {
	case FILTER_COMPARE:
		operand_show(text, node);
		text_printf(text, "%s%s", signs[node->operator], node->value);
		return;
	case FILTER_SEARCH:
		text_printf(text, "~%s", node->value);
		return;
	case FILTER_CALL:
		text_printf(text, "%s(", functions[node->function]);
		operand_show(text, node);
		text_printf(text, "%s%s)", node->path_length ? "," : "", node->value);
		return;
	default:
		break;
	}
	text_puts(text, node->kind == FILTER_AND ? "[and" : node->kind == FILTER_OR ? "[or" : "[not");
	for (const struct filter_node *child = node->child; child; child = child->next) {
		text_putc(text, ' ');
		show(text, child);
	}
	text_putc(text, ']');
}

static const struct {
	const char *filter, *tree;
} trees[] = {
	{ "", "" },
	{ "  -- nothing but a comment", "" },
	{ "state=FAILED", "state=FAILED" },
	{ "state = FAILED", "state=FAILED" },
	{ "jobId:census*", "jobId:census*" },
	{ "jobId:rnn* AND state:FAILED", "[and jobId:rnn* state:FAILED]" },
	{ "createTime>2017-01-18T00:00", "createTime>2017-01-18T00:00" },
	{ "labels.owner=alice", "labels/owner=alice" },
	{ "labels.\"a.b/c\"=x", "labels/a.b/c=x" },
	{ "labels.'a.b/c'.d=x", "labels/a.b/c/d=x" },
	{ "a=1 b=2", "[and a=1 b=2]" },
	{ "a=1 AND b=2 OR c=3", "[and a=1 [or b=2 c=3]]" },
	{ "a=1 OR b=2 AND c=3", "[and [or a=1 b=2] c=3]" },
	{ "a=1 b=2 OR c=3", "[and a=1 [or b=2 c=3]]" },
	{ "(a=1 AND b=2) AND c=3", "[and a=1 b=2 c=3]" },
	{ "(a=1 AND b=2) OR c=3", "[or [and a=1 b=2] c=3]" },
	{ "a=1 OR (b=2 OR c=3)", "[or a=1 b=2 c=3]" },
	{ "NOT a=1 OR b=2", "[or [not a=1] b=2]" },
	{ "NOT NOT a=1", "a=1" },
	{ "-a=1", "[not a=1]" },
	{ "-(a=1 b=2)", "[not [and a=1 b=2]]" },
	{ "a=-1", "a=-1" },
	{ "a=(\"x\" OR \"y\")", "[or a=x a=y]" },
	{ "severity=(ERROR OR WARNING) AND b:*", "[and [or severity=ERROR severity=WARNING] b:*]" },
	{ "a:(\"x\" AND NOT \"y\")", "[and a:x [not a:y]]" },
	{ "a=(1 OR -2)", "[or a=1 a=-2]" },
	{ "\"hello world\"", "~hello world" },
	{ "hello world", "[and ~hello ~world]" },
	{ "10.0.0.1", "~10.0.0.1" },
	{ "and or", "[and ~and ~or]" },
	{ "a=\"say \\\"hi\\\"\"", "a=say \"hi\"" },
	{ "a=~\"\\d+\\.x\"", "a=~\\d+\\.x" },
	{ "a!~'x'", "a!~x" },
	{ "a=\"\\u00e4\\n\"", "a=\xc3\xa4\n" },
	{ "a>=1 -- at least\nb<=2", "[and a>=1 b<=2]" },
	{ "log_id(\"x/y\")", "log_id(x/y)" },
	{ "log_id( x ) a=1", "[and log_id(x) a=1]" },
	{ "SEARCH(\"needle\")", "search(needle)" },
	{ "search( needle )", "search(needle)" },
	{ "SEARCH(jsonPayload.a, \"b c\") OR x", "[or search(jsonPayload/a,b c) ~x]" },
	{ "NOT ip_in_net(jsonPayload.ip, \"10.1.2.0/24\")", "[not ip_in_net(jsonPayload/ip,10.1.2.0/24)]" },
	{ "sample(insertId, 0.25)", "sample(insertId,0.25)" },
	{ "source(folders/folder_123)", "source(folders/folder_123)" },
	{ "cast(a.b, INT64) < 30", "a/b>cast1<30" },
	{ "Cast(timestamp, string, TIMEZONE(\"America/New_York\")) =~ \"^2025\"",
	  "timestamp>cast0'America/New_York'=~^2025" },
	{ "CAST(REGEXP_EXTRACT(CAST(timestamp, STRING), \"\\d+:(\\d+)\"), INT64) < 30",
	  "timestamp>cast0>extract'\\d+:(\\d+)'>cast1<30" },
	{ "regexp_extract(a, \"(b)\"):(\"x\" OR \"y\")", "[or a>extract'(b)':x a>extract'(b)':y]" },
	{ "timestamp>=\"2026-11-20T21:41:24.028499Z\" AND logName=\"projects/p/logs/l\" AND \"line\"",
	  "[and timestamp>=2026-11-20T21:41:24.028499Z logName=projects/p/logs/l ~line]" },
};

static void filters_become_trees(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(trees); i++) {
		struct filter filter AUTO_FILTER = { 0 };
		struct error err AUTO_ERROR = { 0 };
		struct text text AUTO_TEXT = { 0 };

		if (filter_parse(trees[i].filter, NULL, &filter, &err))
			fail_msg("%s: %s", trees[i].filter, err.text);
		text_puts(&text, "");
		if (filter.root)
			show(&text, filter.root);
		assert_string_equal(text.data, trees[i].tree);
	}
}

static const struct {
	const char *filter;
	unsigned column;
} faults[] = {
	{ "resource.type= = ((", 16 },
	{ "a=", 3 },
	{ "a=1 AND", 8 },
	{ "AND a=1", 1 },
	{ "a=1 OR OR b=2", 8 },
	{ "(a=1", 5 },
	{ "a=1)", 4 },
	{ "()", 2 },
	{ "a=\"x", 3 },
	{ "a..b=1", 3 },
	{ "a=AND", 3 },
	{ "=1", 1 },
	{ "a=1=2", 4 },
	{ "NOT", 4 },
	{ "-", 2 },
	{ "a=()", 4 },
	{ "f(x)", 1 },
	{ "SEARCH(", 8 },
	{ "SEARCH()", 8 },
	{ "SEARCH(a.b, \"x\"", 16 },
	{ "SEARCH(\"x\" OR \"y\")", 12 },
	{ "ip_in_net(a)", 12 },
	{ "sample(insertId 0.5)", 17 },
	{ "cast(a, INT64)", 15 },
	{ "cast(a, THING)=1", 9 },
	{ "cast(a, STRING, ZONE(\"x\"))=1", 17 },
	{ "cast(log_id(x), STRING)=1", 6 },
	{ "cast(a)=1", 7 },
	{ "log_id(x", 9 },
	{ "a.=1", 3 },
	{ "a=(b=1)", 5 },
	{ ",", 1 },
	{ "a,b", 2 },
};

static void faults_are_told_with_their_place(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(faults); i++) {
		struct filter filter AUTO_FILTER = { 0 };
		struct error err AUTO_ERROR = { 0 };
		char place[32];

		snprintf(place, sizeof(place), "line 1, column %u", faults[i].column);
		assert_int_equal(filter_parse(faults[i].filter, NULL, &filter, &err),
				 STATUS_INVALID_ARGUMENT);
		if (!strstr(err.text, place) || strlen(strstr(err.text, place)) != strlen(place))
			fail_msg("%s: %s, not %s", faults[i].filter, err.text, place);
		assert_true(strncmp(err.text, "Unparseable filter: ", 20) == 0);
	}
}

static char *repeated(const char *before, const char *part, size_t count, const char *after)
{
	struct text text = { 0 };

	text_puts(&text, before);
	for (size_t i = 0; i < count; i++)
		text_puts(&text, part);
	text_puts(&text, after);
	return text_take(&text);
}

static enum status parse_and_free(char *text)
{
	struct filter filter AUTO_FILTER = { 0 };
	enum status rc = filter_parse(text, "filter", &filter, NULL);

	free(text);
	return rc;
}

static void length_depth_and_number_are_bounded(void **state)
{
	(void)state;
	assert_int_equal(parse_and_free(repeated("", " ", FILTER_LENGTH_MAX, "")), STATUS_OK);
	assert_int_equal(parse_and_free(repeated("", " ", FILTER_LENGTH_MAX, " ")), STATUS_INVALID_ARGUMENT);
	assert_int_equal(parse_and_free(repeated("", "(", FILTER_DEPTH_MAX + 1, "")),
			 STATUS_INVALID_ARGUMENT);
	assert_int_equal(parse_and_free(repeated("", "(", 19000, "")), STATUS_INVALID_ARGUMENT);
	assert_int_equal(parse_and_free(repeated("", "regexp_extract(", FILTER_STEPS_MAX + 1, "a")),
			 STATUS_INVALID_ARGUMENT);
	assert_int_equal(parse_and_free(repeated("", "cast(", 3900, "a")), STATUS_INVALID_ARGUMENT);
	assert_int_equal(parse_and_free(repeated("", "NOT ", 4000, "a")), STATUS_OK);
	assert_int_equal(parse_and_free(repeated("", "a ", FILTER_COMPARISONS_MAX, "")), STATUS_OK);
	assert_int_equal(parse_and_free(repeated("", "a ", FILTER_COMPARISONS_MAX + 1, "")),
			 STATUS_INVALID_ARGUMENT);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(filters_become_trees),
		cmocka_unit_test(faults_are_told_with_their_place),
		cmocka_unit_test(length_depth_and_number_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
