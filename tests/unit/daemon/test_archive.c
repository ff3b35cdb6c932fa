/* SPDX-License-Identifier: Apache-2.0 */
/* Tests daemon/base/archive.c: what a sink gets from archives of engines, containers or clients, and that written
 * archives are read back unchanged. */
#include <stdio.h>
#include <string.h>

#include "daemon/base/archive.h"
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

/* A header with @size as its text, and @data in whole blocks. */
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

static void file_add(struct text *archive, const char *name, const char *data)
{
	archive_entry_add(archive,
			  &(struct archive_entry){
				  .name = name, .type = '0', .mode = 0644, .size = (int64_t)strlen(data) });
	text_puts(archive, data);
	archive_padding_add(archive, (int64_t)strlen(data));
}

/* Reads an archive; @given: what the sink got. */
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

/* Fails with: attributes_read() that passes over the size: the data of a file of more bytes than its header has room for was
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

/* Fails with: archive_end() that looks at nothing. */
static void an_archive_that_ends_early_is_no_whole_one(void **state)
{
	struct text bytes AUTO_TEXT = { 0 }, given AUTO_TEXT = { 0 };

	(void)state;
	file_add(&bytes, "a", "text");
	archive_finish(&bytes);
	assert_int_equal(archive_read(&bytes, &given), STATUS_OK);
	assert_string_equal(given.data, "[a 4]text");
	for (size_t left = 1; left < 2 * ARCHIVE_BLOCK_BYTES; left += 101) {
		bytes.length = left;
		assert_int_equal(archive_read(&bytes, &given), STATUS_INTERNAL);
	}
}

/* Fails with: size_read() that takes what strtoul() takes; name_is_inside() that is always true. */
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

/* Fails with: attributes_read() that takes a value to end behind its line. */
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

/* Fails with: name_part() that parts behind the prefix's end; entry_add without the attribute path. */
static void names_of_any_length_are_read_as_they_were(void **state)
{
	(void)state;
	for (size_t length = 1; length < 400; length++)
		for (size_t step = 1; step < 130; step += 32) {
			struct text name AUTO_TEXT = { 0 }, bytes AUTO_TEXT = { 0 }, given AUTO_TEXT = { 0 },
					 expected AUTO_TEXT = { 0 };

			for (size_t i = 0; i < length; i++)
				text_putc(&name,
					  i % step == step - 1 && i + 1 < length && step > 1 ? '/' : 'n');
			text_printf(&expected, "[%s 4]text", name.data);
			file_add(&bytes, name.data, "text");
			archive_finish(&bytes);
			assert_int_equal(bytes.length % ARCHIVE_BLOCK_BYTES, 0);
			assert_int_equal(archive_read(&bytes, &given), STATUS_OK);
			assert_string_equal(given.data, expected.data);
		}
}

static void size_note(void *arg, const char *name, size_t size)
{
	(void)name;
	*(size_t *)arg = size;
}

static void piece_pass(void *arg, const char *data, size_t length)
{
	(void)arg;
	(void)data;
	(void)length;
}

/* Fails with: header_add() that writes the low digits of a size; head_read() that keeps the header's. */
static void a_file_of_more_than_8_gib_has_its_size_among_the_attributes(void **state)
{
	const int64_t sizes[] = { INT64_C(077777777777), INT64_C(077777777777) + 1, INT64_C(1) << 40 };

	(void)state;
	for (size_t i = 0; i < COUNT_OF(sizes); i++) {
		struct text bytes AUTO_TEXT = { 0 };
		size_t seen = 0;
		const struct file_sink sink = { size_note, piece_pass, &seen };
		struct archive archive = { .sink = &sink, .bytes_left = SIZE_MAX };

		archive_entry_add(&bytes,
				  &(struct archive_entry){ .name = "a", .type = '0', .size = sizes[i] });
		assert_true(archive_take(&archive, bytes.data, bytes.length));
		assert_int_equal(seen, sizes[i]);
		assert_int_equal(archive.data_left, sizes[i]);
	}
}

/* Fails with: head_read() without the look at plain_files. */
static void links_are_refused_where_files_are_wanted(void **state)
{
	static const char types[] = "12346g";

	(void)state;
	for (const char *type = types; *type; type++) {
		struct text bytes AUTO_TEXT = { 0 }, given AUTO_TEXT = { 0 };
		const struct file_sink sink = { begun, piece, &given };
		struct archive archive = { .sink = &sink, .bytes_left = MAY_BE_TAKEN, .plain_files = true };

		archive_entry_add(
			&bytes, &(struct archive_entry){ .name = "a", .link = "/etc/passwd", .type = *type });
		file_add(&bytes, "a", "text");
		assert_false(archive_take(&archive, bytes.data, bytes.length));
		assert_int_equal(archive.status, STATUS_INTERNAL);
		assert_int_equal(given.length, 0);
		assert_int_equal(archive_read(&bytes, &given), STATUS_OK);
		assert_string_equal(given.data, "[a 4]text");
	}
}

static int TEST_MAIN(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_size_among_the_attributes_is_not_passed_over),
		cmocka_unit_test(an_archive_that_ends_early_is_no_whole_one),
		cmocka_unit_test(odd_sizes_and_names_are_refused),
		cmocka_unit_test(attributes_have_bounds),
		cmocka_unit_test(names_of_any_length_are_read_as_they_were),
		cmocka_unit_test(a_file_of_more_than_8_gib_has_its_size_among_the_attributes),
		cmocka_unit_test(links_are_refused_where_files_are_wanted),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("archive", tests, NULL, NULL);
}
