/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "api/storage/part_claims.h"
#include "daemon/base/text.h"
#include "tests/unit/testing.h"

#define MD5       "25f9e794323b453885f5181f1b624d0b"
#define PART(N)   "<Part><PartNumber>" N "</PartNumber><ETag>\"" MD5 "\"</ETag></Part>"
#define WHOLE(IN) "<CompleteMultipartUpload>" IN "</CompleteMultipartUpload>"

static enum status read_all(struct part_claims *claims, const char *text, const struct part_claim **ret_list,
			    size_t *ret_count, struct error *err)
{
	enum status rc = part_claims_receive(claims, text, strlen(text), err);

	return rc ? rc : part_claims_finish(claims, ret_list, ret_count, err);
}

/* Checks that @text has one claim, of part @number; @has_md5: with the MD5 above. */
static void assert_one(const char *text, unsigned number, bool has_md5)
{
	AUTO(part_claims) struct part_claims *claims = part_claims_new();
	struct error err AUTO_ERROR = { 0 };
	const struct part_claim *list;
	size_t count;

	if (read_all(claims, text, &list, &count, &err))
		fail_msg("%s: %s", text, err.metadata_count ? err.metadata[0].value : err.text);
	assert_int_equal(count, 1);
	assert_int_equal(list[0].number, number);
	assert_int_equal(list[0].has_md5, has_md5);
	if (has_md5)
		assert_memory_equal(list[0].md5,
				    "\x25\xf9\xe7\x94\x32\x3b\x45\x38\x85\xf5\x18\x1f\x1b\x62\x4d\x0b", 16);
}

static void a_part_is_read_however_it_is_written(void **state)
{
	(void)state;
	assert_one(WHOLE(PART("1")), 1, true);
	assert_one(WHOLE(PART("10000")), 10000, true);
	assert_one(WHOLE("<Part><ETag>" MD5 "</ETag><PartNumber>00002</PartNumber></Part>"), 2, true);
	assert_one(
		WHOLE("<Part>\n <PartNumber> 3\n</PartNumber>\n <ETag>&quot;25F9E794323B453885F5181F1B624D0B&#34;</ETag></Part>"),
		3, true);
	assert_one(
		"<?xml version='1.0' encoding='UTF-8'?>\n<s:CompleteMultipartUpload xmlns:s='urn:x|y'><s:Part>"
		"<s:PartNumber>4</s:PartNumber><s:ETag><![CDATA[\"" MD5 "\"]]></s:ETag></s:Part>"
		"</s:CompleteMultipartUpload>",
		4, true);
	assert_one(WHOLE("<Other><PartNumber>x</PartNumber></Other>"
			 "<Part><ChecksumCRC32>x<y/></ChecksumCRC32><PartNumber>5</PartNumber><ETag>" MD5
			 "<x>no</x></ETag></Part>"),
		   5, true);
}

static void a_tag_that_is_no_md5_is_no_parts(void **state)
{
	(void)state;
#define TAGGED(TAG) WHOLE("<Part><PartNumber>1</PartNumber><ETag>" TAG "</ETag></Part>")
	assert_one(TAGGED(""), 1, false);
	assert_one(TAGGED("\""), 1, false);
	assert_one(TAGGED("\"\""), 1, false);
	assert_one(TAGGED("25f9e794323b453885f5181f1b624d0"), 1, false);
	assert_one(TAGGED("25f9e794323b453885f5181f1b624d0bc"), 1, false);
	assert_one(TAGGED("25f9e794323b453885f5181f1b624d0x"), 1, false);
	assert_one(TAGGED("\"" MD5 "-1\""), 1, false);
	assert_one(TAGGED(MD5 MD5 MD5 MD5), 1, false);
}

static void what_is_no_such_document_is_refused(void **state)
{
	static const struct {
		const char *text, *details;
	} cases[] = {
		{ "", "no element found" },
		{ "x", "syntax error" },
		{ "<CompleteMultipartUpload>", "no element found" },
		{ WHOLE(PART("1")) "x", "junk after document element" },
		{ WHOLE(""), "There is no part." },
		{ "<Other>" PART("1") "</Other>", "The document is no CompleteMultipartUpload." },
		{ WHOLE("<Part/>"), "A Part has a PartNumber and an ETag." },
		{ WHOLE("<Part><PartNumber>1</PartNumber></Part>"), "A Part has a PartNumber and an ETag." },
		{ WHOLE("<Part><ETag>" MD5 "</ETag></Part>"), "A Part has a PartNumber and an ETag." },
		{ WHOLE(PART("0")), "between 1 and 10000" },
		{ WHOLE(PART("10001")), "between 1 and 10000" },
		{ WHOLE(PART("-1")), "between 1 and 10000" },
		{ WHOLE(PART("100000")), "between 1 and 10000" },
		{ WHOLE(PART("1x")), "between 1 and 10000" },
		{ WHOLE(PART("")), "between 1 and 10000" },
		{ WHOLE("<Part><PartNumber>1</PartNumber><PartNumber>1</PartNumber><ETag/></Part>"),
		  "between 1 and 10000" },
		{ "<!DOCTYPE a [<!ENTITY b 'c'>]>" WHOLE(PART("&b;")), "A document type is not allowed." },
		{ WHOLE(PART("&b;")), "undefined entity" },
		{ "<a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a>", "is no CompleteMultipartUpload" },
		{ "<CompleteMultipartUpload><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a>",
		  "nested too deeply" },
	};
	(void)state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		AUTO(part_claims) struct part_claims *claims = part_claims_new();
		struct error err AUTO_ERROR = { 0 };
		const struct part_claim *list;
		size_t count;

		assert_int_equal(read_all(claims, cases[i].text, &list, &count, &err),
				 STATUS_INVALID_ARGUMENT);
		assert_string_equal(err.reason, "MalformedXML");
		if (!strstr(err.metadata[0].value, cases[i].details))
			fail_msg("%s: %s", cases[i].text, err.metadata[0].value);
	}
}

/* Reads a document of @count parts with this much whitespace. */
static enum status many_read(unsigned count, size_t space, struct error *err)
{
	AUTO(part_claims) struct part_claims *claims = part_claims_new();
	struct text text AUTO_TEXT = { 0 };
	const struct part_claim *list;
	size_t found;
	enum status rc;

	text_puts(&text, "<CompleteMultipartUpload>");
	for (unsigned i = 0; i < count; i++)
		text_printf(&text, "<Part><PartNumber>%u</PartNumber><ETag>&#34;" MD5 "&#34;</ETag></Part>",
			    i % 10000 + 1);
	while (space--)
		text_putc(&text, ' ');
	text_puts(&text, "</CompleteMultipartUpload>");
	rc = read_all(claims, text.data, &list, &found, err);
	if (!rc)
		assert_int_equal(found, count);
	return rc;
}

static void a_document_has_its_limits(void **state)
{
	static const size_t one =
		sizeof(WHOLE("<Part><PartNumber>1</PartNumber><ETag>&#34;" MD5 "&#34;</ETag></Part>")) - 1;
	struct error err AUTO_ERROR = { 0 };
	(void)state;

	assert_int_equal(many_read(10000, 0, &err), STATUS_OK);
	assert_int_equal(many_read(10001, 0, &err), STATUS_INVALID_ARGUMENT);
	assert_string_equal(err.metadata[0].value, "There are more than 10000 parts.");
	assert_int_equal(many_read(1, PART_CLAIMS_MOST_BYTES - one, &err), STATUS_OK);
	assert_int_equal(many_read(1, PART_CLAIMS_MOST_BYTES - one + 1, &err), STATUS_INVALID_ARGUMENT);
	assert_string_equal(err.metadata[0].value, "The document is longer than 1 MiB.");
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_part_is_read_however_it_is_written),
		cmocka_unit_test(a_tag_that_is_no_md5_is_no_parts),
		cmocka_unit_test(what_is_no_such_document_is_refused),
		cmocka_unit_test(a_document_has_its_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
