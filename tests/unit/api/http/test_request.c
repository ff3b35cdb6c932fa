/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "tests/unit/testing.h"

#include "api/http/request.h"
#include "daemon/base/text.h"

#define TEST(name) static void name(void **state_)

static void segments_join(const struct target *target, struct text *text)
{
	for (size_t i = 0; i < target->segment_count; i++)
		text_printf(text, "|%s", target->segments[i]);
	text_printf(text, " stem=%s verb=%s query=%s", target->stem ? target->stem : "-",
		    target->verb ? target->verb : "-", target->query);
}

TEST(a_path_is_split_at_raw_slashes_and_colons_and_decoded_after_that)
{
	static const struct {
		const char *raw, *seen;
	} cases[] = {
		{ "/", "| stem=- verb=- query=" },
		{ "/healthz", "|healthz stem=- verb=- query=" },
		{ "/v1/projects/p/jobs/j1:cancel",
		  "|v1|projects|p|jobs|j1:cancel stem=j1 verb=cancel query=" },
		{ "/v1/projects/p/jobs/j1%3Acancel", "|v1|projects|p|jobs|j1:cancel stem=- verb=- query=" },
		{ "/v1/a%2Fb/c", "|v1|a/b|c stem=- verb=- query=" },
		{ "/a:b/c", "|a:b|c stem=- verb=- query=" },
		{ "/a:b:c%64", "|a:b:cd stem=a:b verb=cd query=" },
		{ "/:x", "|:x stem= verb=x query=" },
		{ "/x:", "|x: stem=x verb= query=" },
		{ "//a/", "||a| stem=- verb=- query=" },
		{ "/a?", "|a stem=- verb=- query=" },
		{ "/a?b=c?d/e:f", "|a stem=- verb=- query=b=c?d/e:f" },
		{ "/a+b%20c", "|a+b c stem=- verb=- query=" },
		{ "/%C3%A9\xc3\xa9", "|\xc3\xa9\xc3\xa9 stem=- verb=- query=" },
	};

	(void)state_;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct target target = { 0 };
		struct text seen AUTO_TEXT = { 0 };

		assert_int_equal(target_parse(cases[i].raw, &target, NULL), STATUS_OK);
		segments_join(&target, &seen);
		assert_string_equal(seen.data, cases[i].seen);
		assert_null(target.authority);
		target_deinit(&target);
	}
}

TEST(a_doubtful_target_is_refused)
{
	static const char *const cases[] = {
		"",       "a",       "*",           "?a=b",         "/%",     "/%4",    "/%zz",      "/a%00b",
		"/%ff",   "/%c0%80", "/%ed%a0%80",  "/\xff",        "/a b",   "/a\tb",  "/a\x7f",    "/a#b",
		"/a:%zz", "/a%zz:b", "http://host", "ftp://host/x", "/a?b c", "/a?b#c", "/a/b%00/c",
	};

	(void)state_;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct error err AUTO_ERROR = { 0 };
		struct target target = { 0 };

		assert_int_equal(target_parse(cases[i], &target, &err), STATUS_INVALID_ARGUMENT);
		assert_non_null(err.text);
		assert_null(target.memory);
	}
}

TEST(an_absolute_form_target_gives_its_authority_and_path)
{
	struct target target = { 0 };

	(void)state_;
	assert_int_equal(target_parse("HTTP://localhost:8090/v1/x?y=z", &target, NULL), STATUS_OK);
	assert_string_equal(target.authority, "localhost:8090");
	assert_int_equal(target.segment_count, 2);
	assert_string_equal(target.query, "y=z");
	target_deinit(&target);
}

static void plain_is(const char *raw, enum status expected)
{
	struct target target = { 0 };

	assert_int_equal(target_parse(raw, &target, NULL), STATUS_OK);
	assert_int_equal(target_check_plain(&target, NULL), expected);
	target_deinit(&target);
}

TEST(a_path_deeper_than_any_route_is_not_found)
{
	char raw[2 * SEGMENT_LIMIT + 3] = "";

	(void)state_;
	for (size_t i = 0; i < SEGMENT_LIMIT; i++)
		strcat(raw, "/a");
	plain_is(raw, STATUS_OK);
	strcat(raw, "/a");
	plain_is(raw, STATUS_NOT_FOUND);
}

TEST(dot_segments_are_refused_where_no_row_takes_them)
{
	static const char *const cases[] = { "/a/../b", "/./b", "/a/%2e%2E", "/a/.", "/.." };

	(void)state_;
	for (size_t i = 0; i < COUNT_OF(cases); i++)
		plain_is(cases[i], STATUS_INVALID_ARGUMENT);
	plain_is("/a/.../.b/c.", STATUS_OK);
}

TEST(a_path_is_decoded_as_a_whole_too)
{
	struct target target = { 0 };

	(void)state_;
	assert_int_equal(target_parse("http://h/a%2Fb//c/../d%20e/?x", &target, NULL), STATUS_OK);
	assert_string_equal(target.path, "a/b//c/../d e/");
	assert_string_equal(target.query, "x");
	target_deinit(&target);
}

TEST(a_query_is_decoded_pair_by_pair)
{
	static const char raw[] = "a=b&&%24alt=json;x=y&f=p+q%2Br%20s&flag&e=&a=%26%3D";
	static const struct query_pair expected[] = {
		{ "a", "b" }, { "$alt", "json;x=y" }, { "f", "p q+r s" }, { "flag", "" },
		{ "e", "" },  { "a", "&=" },
	};
	struct query query = { 0 };

	(void)state_;
	assert_int_equal(query_parse(raw, strlen(raw), &query, NULL), STATUS_OK);
	assert_int_equal(query.count, COUNT_OF(expected));
	for (size_t i = 0; i < query.count; i++) {
		assert_string_equal(query.pairs[i].name, expected[i].name);
		assert_string_equal(query.pairs[i].value, expected[i].value);
	}
	query_deinit(&query);
	query_deinit(&query);
}

TEST(a_query_that_cannot_be_decoded_is_refused)
{
	static const char *const cases[] = { "a=%", "%zz=1", "a=%00", "a=%ff", "b=1&a=\xc3" };

	(void)state_;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct query query = { 0 };

		assert_int_equal(query_parse(cases[i], strlen(cases[i]), &query, NULL),
				 STATUS_INVALID_ARGUMENT);
		assert_null(query.memory);
	}
}

TEST(a_nul_in_a_form_body_is_refused)
{
	struct query query = { 0 };

	(void)state_;
	assert_int_equal(query_parse("a=b\0c", 5, &query, NULL), STATUS_INVALID_ARGUMENT);
}

TEST(a_query_of_too_many_pairs_is_refused)
{
	struct text raw AUTO_TEXT = { 0 };
	struct query query = { 0 };

	(void)state_;
	for (size_t i = 0; i < PAIR_LIMIT; i++)
		text_puts(&raw, "a&");
	assert_int_equal(query_parse(raw.data, raw.length - 1, &query, NULL), STATUS_OK);
	assert_int_equal(query.count, PAIR_LIMIT);
	query_deinit(&query);
	assert_int_equal(query_parse(raw.data, raw.length, &query, NULL), STATUS_INVALID_ARGUMENT);
}

struct head_case {
	const char *version;
	enum status expected;
	struct {
		const char *name, *value;
	} headers[4];
};

TEST(a_head_that_could_be_read_in_two_ways_is_refused)
{
	static const struct head_case cases[] = {
		{ "HTTP/1.1", STATUS_OK, { { "Host", "localhost" } } },
		{ "HTTP/1.1", STATUS_OK, { { "host", "localhost" }, { "content-length", "12" } } },
		{ "HTTP/1.1", STATUS_OK, { { "Host", "localhost" }, { "Transfer-Encoding", "Chunked" } } },
		{ "HTTP/1.0", STATUS_OK, { { "Accept", "x" } } },
		{ "HTTP/1.1", STATUS_INVALID_ARGUMENT, { { "Accept", "x" } } },
		{ "HTTP/1.9", STATUS_INVALID_ARGUMENT, { { "Host", "x" } } },
		{ "HTTP/1.1", STATUS_INVALID_ARGUMENT, { { "Host", "a" }, { "HOST", "a" } } },
		{ "HTTP/1.1",
		  STATUS_INVALID_ARGUMENT,
		  { { "Host", "a" }, { "Content-Length", "1" }, { "Content-Length", "1" } } },
		{ "HTTP/1.1",
		  STATUS_INVALID_ARGUMENT,
		  { { "Host", "a" }, { "Content-Length", "1" }, { "Transfer-Encoding", "chunked" } } },
		{ "HTTP/1.1", STATUS_INVALID_ARGUMENT, { { "Host", "a" }, { "Content-Length", "+1" } } },
		{ "HTTP/1.1", STATUS_INVALID_ARGUMENT, { { "Host", "a" }, { "Content-Length", "" } } },
		{ "HTTP/1.1", STATUS_INVALID_ARGUMENT, { { "Host", "a" }, { "Content-Length ", "1" } } },
		{ "HTTP/1.1", STATUS_INVALID_ARGUMENT, { { "Host", "a" }, { "X\tY", "1" } } },
		{ "HTTP/1.1", STATUS_INVALID_ARGUMENT, { { "Host", "a" }, { "X", "a\x7f" } } },
		{ "HTTP/1.1",
		  STATUS_INVALID_ARGUMENT,
		  { { "Host", "a" }, { "Origin", "x" }, { "Origin", "y" } } },
		{ "HTTP/1.1",
		  STATUS_UNIMPLEMENTED,
		  { { "Host", "a" }, { "Transfer-Encoding", "gzip, chunked" } } },
		{ "HTTP/1.0", STATUS_UNIMPLEMENTED, { { "Host", "a" }, { "Transfer-Encoding", "chunked" } } },
	};

	(void)state_;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct error err AUTO_ERROR = { 0 };
		struct head head = { 0 };

		for (size_t j = 0; cases[i].headers[j].name; j++)
			head_add(&head, cases[i].headers[j].name, cases[i].headers[j].value);
		assert_int_equal(head_check_framing(&head, cases[i].version, FRAMING_STRICT, &err),
				 cases[i].expected);
	}
}

TEST(only_gzip_is_a_body_coding)
{
	static const struct {
		const char *value;
		enum refusal expected;
	} cases[] = {
		{ "gzip", REFUSAL_BY_STATUS },        { "GZip", REFUSAL_BY_STATUS },
		{ "identity", REFUSAL_BY_STATUS },    { "br", REFUSAL_MEDIA_TYPE },
		{ "gzip, gzip", REFUSAL_MEDIA_TYPE },
	};

	(void)state_;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		enum refusal refusal = REFUSAL_BY_STATUS;
		struct head head = { 0 };

		head_add(&head, "Content-Encoding", cases[i].value);
		head_check_coding(&head, &refusal, NULL);
		assert_int_equal(refusal, cases[i].expected);
	}
}

TEST(a_media_type_is_compared_without_its_parameters_but_its_charset)
{
	static const struct {
		const char *value;
		bool json;
	} cases[] = {
		{ "application/json", true },
		{ " Application/JSON ", true },
		{ "application/json; charset=utf-8", true },
		{ "application/json;charset=\"UTF-8\"", true },
		{ "application/json ; x=y", true },
		{ "application/json; charset=latin1", false },
		{ "application/json5", false },
		{ "text/plain", false },
		{ "", false },
	};

	(void)state_;
	for (size_t i = 0; i < COUNT_OF(cases); i++)
		assert_int_equal(media_type_is(cases[i].value, "application/json"), cases[i].json);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_path_is_split_at_raw_slashes_and_colons_and_decoded_after_that),
		cmocka_unit_test(a_doubtful_target_is_refused),
		cmocka_unit_test(an_absolute_form_target_gives_its_authority_and_path),
		cmocka_unit_test(a_path_deeper_than_any_route_is_not_found),
		cmocka_unit_test(dot_segments_are_refused_where_no_row_takes_them),
		cmocka_unit_test(a_path_is_decoded_as_a_whole_too),
		cmocka_unit_test(a_query_is_decoded_pair_by_pair),
		cmocka_unit_test(a_query_that_cannot_be_decoded_is_refused),
		cmocka_unit_test(a_nul_in_a_form_body_is_refused),
		cmocka_unit_test(a_query_of_too_many_pairs_is_refused),
		cmocka_unit_test(a_head_that_could_be_read_in_two_ways_is_refused),
		cmocka_unit_test(only_gzip_is_a_body_coding),
		cmocka_unit_test(a_media_type_is_compared_without_its_parameters_but_its_charset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
