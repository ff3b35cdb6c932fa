/* SPDX-License-Identifier: Apache-2.0 */
/* Tests scheduler/engine/docker_archive.c: what a sink is given of archives that engines, or the containers in them, make. */
#include <stdio.h>
#include <string.h>

#include "scheduler/engine/docker_archive.h"
#include "tests/unit/testing.h"

enum { MAY_BE_TAKEN = 1000 };

static void begun(void *arg, const char *name, size_t size)
{
	text_printf(arg, "[%s %zu]", name, size);
}

static void piece(void *arg, const char *data, size_t length)
{
	text_append(arg, data, length);
}

/* A header with @size as it stands there, and @data in whole blocks. */
static void entry_put(struct text *archive, const char *name, char type, const char *size, const char *data)
{
	char block[ARCHIVE_BLOCK_BYTES] = { 0 };

	snprintf(block, 100, "%s", name);
	memcpy(block + 124, size, strnlen(size, 12));
	block[156] = type;
	memcpy(block + 257, "ustar", 6);
	text_append(archive, block, sizeof(block));
	memset(block, 0, sizeof(block));
	snprintf(block, sizeof(block), "%s", data);
	if (*data)
		text_append(archive, block, sizeof(block));
}

/* What the sink was given. */
static enum status archive_read(const struct text *bytes, struct text *given)
{
	const struct file_sink sink = { begun, piece, given };
	struct archive archive = { .sink = &sink, .bytes_left = MAY_BE_TAKEN };

	text_clear(given);
	text_puts(given, "");
	if (archive_take(&archive, bytes->data, bytes->length))
		archive_end(&archive);
	return archive.status;
}

/* Broken: attributes_read() that passes over the size: the data of a file of more bytes than its header has room for was
 * read as headers, so that a program in a container could name any file. */
static void a_size_among_the_attributes_is_not_passed_over(void **state)
{
	struct text bytes AUTO_TEXT = { 0 }, given AUTO_TEXT = { 0 };

	(void)state;
	entry_put(&bytes, "a", 'x', "00000000023", "19 size=9663676416\n");
	entry_put(&bytes, "a", '0', "00000000000", "");
	entry_put(&bytes, "forged", '0', "00000000001", "x");
	assert_int_equal(archive_read(&bytes, &given), STATUS_RESOURCE_EXHAUSTED);
	assert_string_equal(given.data, "");
}

/* Broken: archive_end() that looks at nothing. */
static void an_archive_that_ends_early_is_no_whole_one(void **state)
{
	struct text bytes AUTO_TEXT = { 0 }, given AUTO_TEXT = { 0 };

	(void)state;
	archive_add(&bytes, &(struct engine_file){ "/a", "text", 4, 0444 });
	archive_finish(&bytes);
	assert_int_equal(archive_read(&bytes, &given), STATUS_OK);
	assert_string_equal(given.data, "[a 4]text");
	for (size_t left = 1; left < 2 * ARCHIVE_BLOCK_BYTES; left += 101) {
		bytes.length = left;
		assert_int_equal(archive_read(&bytes, &given), STATUS_INTERNAL);
	}
}

/* Broken: size_read() that takes what strtoul() takes; name_is_inside() that is always true. */
static void odd_sizes_and_names_are_refused(void **state)
{
	static const struct {
		const char *name, *size;
	} rows[] = {
		{ "a", "-0000000001" },
		{ "a", "" },
		{ "a", "\x80\0\0\0\0\0\0\0\0\0\1" },
		{ "a", "0x00000001" },
		{ "a", "+0000000001" },
		{ "a", "12x" },
		{ "/a", "00000000001" },
		{ "..", "00000000001" },
		{ "../a", "00000000001" },
		{ "a/../b", "00000000001" },
		{ "a/", "00000000001" },
		{ "", "00000000001" },
	};
	struct text bytes AUTO_TEXT = { 0 }, given AUTO_TEXT = { 0 };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		text_clear(&bytes);
		entry_put(&bytes, "directory", '5', "00000000000", "");
		entry_put(&bytes, rows[i].name[0] ? rows[i].name : "a", '0', rows[i].size, "x");
		if (!rows[i].name[0]) {
			text_clear(&bytes);
			entry_put(&bytes, "a", 'x', "00000000010", "8 path=\n");
			entry_put(&bytes, "/", '0', rows[i].size, "x");
		}
		assert_int_equal(archive_read(&bytes, &given), STATUS_INTERNAL);
		assert_string_equal(given.data, "");
	}
	text_clear(&bytes);
	entry_put(&bytes, "..a/b..", '0', "00000000001 ", "x");
	assert_int_equal(archive_read(&bytes, &given), STATUS_OK);
	assert_string_equal(given.data, "[..a/b.. 1]x");
}

/* Broken: attributes_read() that takes a value to end behind its line. */
static void attributes_have_bounds(void **state)
{
	static const char *const rows[] = { "3 path=abc\n", "99 path=abc\n", "-5 path=a\n",
					    "path=a\n",     "0 a=b\n",       "9 path=ab6 a=b\n" };
	struct text bytes AUTO_TEXT = { 0 }, given AUTO_TEXT = { 0 };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		char size[24];

		snprintf(size, sizeof(size), "%011zo", strlen(rows[i]));
		text_clear(&bytes);
		entry_put(&bytes, "a", 'x', size, rows[i]);
		entry_put(&bytes, "a", '0', "00000000001", "x");
		assert_int_equal(archive_read(&bytes, &given), STATUS_INTERNAL);
	}
}

static int TEST_MAIN(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_size_among_the_attributes_is_not_passed_over),
		cmocka_unit_test(an_archive_that_ends_early_is_no_whole_one),
		cmocka_unit_test(odd_sizes_and_names_are_refused),
		cmocka_unit_test(attributes_have_bounds),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("docker_archive", tests, NULL, NULL);
}
