/* SPDX-License-Identifier: Apache-2.0 */
#include "api/storage/multipart.h"

#include <string.h>

#include "daemon/base/text.h"
#include "tests/unit/testing.h"

#define TEST(name) static void name(void **state_)
#define TYPE       "multipart/related; boundary=b"

/* What arrived, as a text: "<type>data</>" for each part. */
struct seen {
	struct text text;
	unsigned fail_at; /* the number of the sink's call that fails; 0: none */
	unsigned calls;
};

static enum status call_count(struct seen *seen, struct error *err)
{
	if (++seen->calls == seen->fail_at)
		return error_set(err, STATUS_UNAVAILABLE, NULL, "the sink is full");
	return STATUS_OK;
}

static enum status on_begin(void *arg, const struct multipart *multipart, struct error *err)
{
	struct seen *seen = arg;

	text_printf(&seen->text, "<%s>", multipart_header(multipart, "content-type"));
	return call_count(seen, err);
}

static enum status on_data(void *arg, const char *data, size_t length, struct error *err)
{
	struct seen *seen = arg;

	assert_true(length > 0);
	text_append(&seen->text, data, length);
	return call_count(seen, err);
}

static enum status on_end(void *arg, struct error *err)
{
	struct seen *seen = arg;

	text_puts(&seen->text, "</>");
	return call_count(seen, err);
}

/* Feeds @body in pieces, cut at @first and @second. */
static enum status body_read(const char *type, const char *body, size_t length, size_t first, size_t second,
			     struct seen *seen, struct error *err)
{
	const struct multipart_sink sink = { on_begin, on_data, on_end, seen };
	AUTO(multipart) struct multipart *multipart = NULL;
	enum status rc = multipart_new(type, &sink, &multipart, err);

	if (!rc)
		rc = multipart_receive(multipart, body, first, err);
	if (!rc)
		rc = multipart_receive(multipart, body + first, second - first, err);
	if (!rc)
		rc = multipart_receive(multipart, body + second, length - second, err);
	if (!rc)
		return multipart_finish(multipart, err);
	if (multipart) {
		assert_int_equal(multipart_receive(multipart, "x", 1, NULL), STATUS_INVALID_ARGUMENT);
		assert_int_equal(multipart_finish(multipart, NULL), STATUS_INVALID_ARGUMENT);
	}
	return rc;
}

static void parts_are(const char *type, const char *body, const char *expected)
{
	const size_t length = strlen(body);

	for (size_t first = 0; first <= length; first++) {
		for (size_t second = first; second <= length; second++) {
			struct error err AUTO_ERROR = { 0 };
			struct seen seen = { .calls = 0 };
			AUTO(string) char *text = NULL;
			enum status rc = body_read(type, body, length, first, second, &seen, &err);

			text = text_take(&seen.text);
			if (rc || strcmp(text, expected) != 0)
				fail_msg("%s\ncut at %zu, %zu: %s\n%s\nnot\n%s", body, first, second,
					 err.text ? err.text : "", text, expected);
		}
	}
}

static void refused(const char *type, const char *body, const char *message)
{
	const size_t length = strlen(body);

	for (size_t first = 0; first <= length; first++) {
		struct error err AUTO_ERROR = { 0 };
		struct seen seen = { .calls = 0 };
		enum status rc = body_read(type, body, length, first, length, &seen, &err);

		text_deinit(&seen.text);
		if (rc != STATUS_INVALID_ARGUMENT)
			fail_msg("%s\ncut at %zu was taken", body, first);
		assert_string_equal(err.text, message);
	}
}

TEST(parts_are_found_wherever_the_body_is_cut)
{
	(void)state_;
	parts_are(
		TYPE,
		"--b\r\nContent-Type: text/x\r\n\r\n{}\r\n--b\r\nA: 1\r\ncontent-type:\t y\r\n\r\none\r\ntwo\r\n--b--",
		"<text/x>{}</><y>one\r\ntwo</>");
	parts_are(TYPE, "--b\n\n{}\n--b\nContent-Type: y\n\none\r\ntwo\r\n--b--\n",
		  "<>{}</><y>one\r\ntwo\r</>");
	parts_are(TYPE, "before\r\n--bb\r\n--b \r\n\r\n1\r\n--b\t\r\n\r\n2\r\n--b--\r\n--b\r\nafter",
		  "<>1</><>2</>");
}

TEST(what_only_begins_like_a_boundary_is_data)
{
	(void)state_;
	parts_are(TYPE, "--b\r\n\r\n\r\r\n\r\n-\r\n--\r\n--c\r\n--b--", "<>\r\r\n\r\n-\r\n--\r\n--c</>");
	parts_are(TYPE, "--b\r\n\r\n--c\n--b\r\n--b--", "<>--c\n--b</>");
	parts_are(TYPE, "--b\n\n-\n-\n\n--c\r\n--b--", "<>-\n-\n\n--c\r</>");
}

TEST(a_part_may_be_empty)
{
	(void)state_;
	parts_are(TYPE, "--b\r\n\r\n\r\n--b--", "<></>");
	parts_are(TYPE, "--b\r\n\r\n--b--", "<></>");
	parts_are(TYPE, "--b\n\n--b\n\n\n--b--", "<></><></>");
}

TEST(a_boundary_may_be_quoted)
{
	(void)state_;
	parts_are("multipart/related; type=\"a;b=\\\"c\"; Boundary=\"==(x y)\\\"==\"",
		  "--==(x y)\"==\r\n\r\n1\r\n--==(x y)\"==--", "<>1</>");
	parts_are("multipart/related;boundary=x/y;charset=utf-8", "--x/y\r\n\r\n1\r\n--x/y--", "<>1</>");
	/* Quotes as gcloud writes them, and as part of the boundary. */
	parts_are("multipart/related; boundary='==1=='", "--==1==\n\n1\n--==1==\n\n\n--==1==--\n",
		  "<>1</><></>");
	parts_are("multipart/related; boundary='1'", "--'1'\r\n\r\n--1\r\n--'1'--", "<>--1</>");
}

TEST(base64_is_undone)
{
	(void)state_;
	parts_are(TYPE, "--b\r\nContent-Transfer-Encoding: BASE64\r\n\r\nSGVs\r\nbG8s\r\nIQ==\r\n--b--",
		  "<>Hello,!</>");
	refused(TYPE, "--b\r\nContent-Transfer-Encoding: base64\r\n\r\nSGV\r\n--b--",
		"Malformed multipart body.");
	refused(TYPE, "--b\r\nContent-Transfer-Encoding: base64\r\n\r\nSG==VA==\r\n--b--",
		"Malformed multipart body.");
	refused(TYPE, "--b\r\nContent-Transfer-Encoding: base64\r\n\r\nS(Vs\r\n--b--",
		"Malformed multipart body.");
}

TEST(what_has_no_end_or_no_form_is_refused)
{
	static const char no_end[] = "Missing end boundary in multipart body.";

	(void)state_;
	refused(TYPE, "", no_end);
	refused(TYPE, "--b", no_end);
	refused(TYPE, "--b\r\n", no_end);
	refused(TYPE, "--b\r\nA: 1\r\n", no_end);
	refused(TYPE, "--b\r\n\r\ndata\r\n--", no_end);
	refused(TYPE, "--b\r\n\r\ndata\r\n--b", no_end);
	refused(TYPE, "--b\r\n\r\ndata\r\n--b-", no_end);
	refused(TYPE, "--b\r\n\r\ndata\n--b--", no_end);
	refused(TYPE, "--b\r\n\r\ndata\r\n--bc\r\n", "Malformed multipart body.");
	refused(TYPE, "--b\r\n\r\ndata\r\n--b-x\r\n", "Malformed multipart body.");
	refused("multipart/related", "--b--", "Missing boundary in multipart content type.");
	refused("multipart/related; boundary=", "--b--", "Missing boundary in multipart content type.");
	refused("multipart/related; boundary=\"b", "--b--", "Missing boundary in multipart content type.");
}

TEST(heads_are_bounded)
{
	static char body[20000];

	(void)state_;
	memset(body, 'x', sizeof(body) - 1);
	for (int preamble = 0; preamble <= 1; preamble++) {
		for (int lines = 0; lines <= 1; lines++) {
			struct error err AUTO_ERROR = { 0 };
			struct seen seen = { .calls = 0 };

			for (size_t i = 0; i < sizeof(body) - 1; i++)
				body[i] = lines && i % 2 ? '\n' : 'x';
			if (!preamble)
				memcpy(body, "--b\r\nx", 6);
			assert_int_equal(body_read(TYPE, body, sizeof(body) - 1, 1, 2, &seen, &err),
					 STATUS_INVALID_ARGUMENT);
			assert_int_equal(seen.calls, 0);
			assert_string_equal(err.text, "Malformed multipart body.");
		}
	}
}

TEST(a_nul_in_a_head_is_refused)
{
	static const char body[] = "--b\r\nA: \0\r\n\r\n\r\n--b--";
	struct seen seen = { .calls = 0 };

	(void)state_;
	assert_int_equal(body_read(TYPE, body, sizeof(body) - 1, 3, 7, &seen, NULL), STATUS_INVALID_ARGUMENT);
}

TEST(a_failure_of_the_sink_is_passed_on)
{
	static const char body[] = "--b\r\n\r\n1\r\n--b\r\n\r\n2\r\n--b--";

	(void)state_;
	for (unsigned fail_at = 1; fail_at <= 6; fail_at++) {
		struct error err AUTO_ERROR = { 0 };
		struct seen seen = { .fail_at = fail_at };

		assert_int_equal(body_read(TYPE, body, strlen(body), 0, 0, &seen, &err), STATUS_UNAVAILABLE);
		assert_string_equal(err.text, "the sink is full");
		assert_int_equal(seen.calls, fail_at);
		text_deinit(&seen.text);
	}
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_are_found_wherever_the_body_is_cut),
		cmocka_unit_test(what_only_begins_like_a_boundary_is_data),
		cmocka_unit_test(a_part_may_be_empty),
		cmocka_unit_test(a_boundary_may_be_quoted),
		cmocka_unit_test(base64_is_undone),
		cmocka_unit_test(what_has_no_end_or_no_form_is_refused),
		cmocka_unit_test(heads_are_bounded),
		cmocka_unit_test(a_nul_in_a_head_is_refused),
		cmocka_unit_test(a_failure_of_the_sink_is_passed_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
