/* SPDX-License-Identifier: Apache-2.0 */
/* The program is linked with --wrap=malloc and --wrap=free: what memory.c asks for, for itself and for jansson. */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "daemon/base/text.h"
#include "tests/unit/testing.h"

#define TEST(name) static void name(void **state_)

enum { LONG_TEXT_BYTES = 100000, LONG_PIECES = 60, NEVER = 0 };

/* Of the calls since lack_order(). */
static unsigned asked, lacks_from, lacks_count;
static long held; /* pieces that were not given back */

static void lack_order(unsigned from, unsigned count)
{
	asked = 0;
	lacks_from = from;
	lacks_count = count;
}

void *__real_malloc(size_t size);
void __real_free(void *place);
void *__wrap_malloc(size_t size);
void __wrap_free(void *place);

void *__wrap_malloc(size_t size)
{
	void *place;

	asked++;
	if (lacks_from && asked >= lacks_from && asked - lacks_from < lacks_count)
		return NULL;
	place = __real_malloc(size);
	held += place != NULL;
	return place;
}

void __wrap_free(void *place)
{
	held -= place != NULL;
	__real_free(place);
}

/* ---- the watch ---- */

TEST(a_watch_sees_what_ran_out_within_it_alone)
{
	(void)state_;
	memory_note_failure();
	assert_false(memory_watch_failed());
	memory_watch_begin();
	assert_false(memory_watch_failed());
	memory_note_failure();
	assert_true(memory_watch_failed());
	assert_true(memory_watch_end());
	assert_false(memory_watch_failed());
	memory_watch_begin();
	assert_false(memory_watch_end());
}

/* Broken: a watch that forgets when one within it begins. */
TEST(a_watch_within_another_is_a_part_of_it)
{
	(void)state_;
	memory_watch_begin();
	memory_note_failure();
	memory_watch_begin();
	assert_true(memory_watch_end());
	assert_true(memory_watch_end());
	memory_watch_begin();
	memory_watch_begin();
	memory_note_failure();
	assert_true(memory_watch_end());
	assert_true(memory_watch_end());
}

static void *note_elsewhere(void *arg)
{
	memory_note_failure();
	return arg;
}

TEST(a_watch_is_a_threads_own)
{
	pthread_t thread;

	(void)state_;
	memory_watch_begin();
	assert_int_equal(pthread_create(&thread, NULL, note_elsewhere, NULL), 0);
	pthread_join(thread, NULL);
	assert_false(memory_watch_end());
}

TEST(whoever_finds_none_is_noted)
{
	AUTO(json) json_t *value = NULL;

	(void)state_;
	memory_watch_begin();
	lack_order(1, 1);
	value = json_array();
	lack_order(NEVER, 0);
	assert_null(value);
	assert_true(memory_watch_end());
}

/* ---- JSON ---- */

static void same_is_read(const char *text, size_t length, size_t flags)
{
	json_error_t wanted, told;
	AUTO(json) json_t *right = json_loadb(text, length, flags, &wanted);
	AUTO(json) json_t *value = memory_json_read(text, length, flags, &told);

	if (right) {
		assert_non_null(value);
		assert_true(json_equal(value, right));
		return;
	}
	assert_null(value);
	assert_string_equal(told.text, wanted.text);
	assert_int_equal(json_error_code(&told), json_error_code(&wanted));
	assert_int_equal(told.line, wanted.line);
	assert_int_equal(told.column, wanted.column);
	assert_int_equal(told.position, wanted.position);
	assert_null(memory_json_read(text, length, flags, NULL));
}

TEST(json_and_what_is_none_is_told_as_by_json_loadb)
{
	static const char *const texts[] = {
		"",
		" ",
		"{}",
		"[]",
		"{\"a\": [1, 2.5, true, null, \"\\u00e9\\ud83d\\ude00\"]}",
		"7",
		"\"x\"",
		"nul",
		"{",
		"[1,",
		"[1 2]",
		"{\"a\":1,\"a\":2}",
		"{\"a\":1}\n\n x",
		"[\"\\ud800\"]",
		"[\"\xff\"]",
		"[\"\xc3\xa9\", \xc3\xa9]",
		"{\n\t\"a\": 1,\n\t\"b\": tru\n}",
		"[1e999]",
		"[123456789012345678901234567890]",
		"[\"a\nb\"]",
		"[\"\\u0000\"]",
		"{\"\\u0000\":1}",
		"[01]",
		"[-]",
		"\xef\xbb\xbf{}",
		"[\"no end",
	};
	static const size_t flags[] = { 0, JSON_DECODE_ANY, JSON_REJECT_DUPLICATES, JSON_DISABLE_EOF_CHECK };

	(void)state_;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		for (size_t k = 0; k < sizeof(flags) / sizeof(*flags); k++)
			same_is_read(texts[i], strlen(texts[i]), flags[k]);
	same_is_read("[1]\0[2]", 7, 0);
	same_is_read("{\"a\\u0000b\":\"c\\u0000d\"}", 24, JSON_ALLOW_NUL);
}

TEST(json_nested_too_deeply_is_told_as_by_json_loadb)
{
	char deep[5000];

	(void)state_;
	memset(deep, '[', sizeof(deep));
	same_is_read(deep, sizeof(deep), 0);
}

/* Whichever pieces cannot be had: all of it, or nothing, and a note. */
static void is_read_whole_or_not(const char *text, size_t length)
{
	AUTO(json) json_t *right = json_loadb(text, length, 0, NULL);
	unsigned total;

	assert_non_null(right);
	lack_order(NEVER, 0);
	json_decref(memory_json_read(text, length, 0, NULL));
	total = asked;
	assert_true(total > 2);
	for (unsigned count = 1; count; count = count == 1 ? 3 : count == 3 ? total : 0) {
		for (unsigned from = 1; from <= total; from++) {
			const long before = held;
			json_error_t problem;
			json_t *value;

			memory_watch_begin();
			lack_order(from, count);
			value = memory_json_read(text, length, 0, &problem);
			lack_order(NEVER, 0);
			assert_true(memory_watch_end());
			assert_null(value);
			assert_int_equal(json_error_code(&problem), json_error_out_of_memory);
			assert_int_equal(held, before);
		}
	}
	same_is_read(text, length, 0); /* and the next one is as if nothing had been */
}

/* Broken: json_loadb() instead, or 64 bytes set aside however long the text is: a value with pieces missing is returned. */
TEST(a_text_longer_than_what_is_set_aside_is_read_whole_or_not)
{
	static const char small[] = "[\"0123456789012345678901234567890123456789\", 12345678901234567, 1.25]";
	struct text text AUTO_TEXT = { 0 };

	(void)state_;
	text_puts(&text, "{\"long\": \"");
	for (int i = 0; i < LONG_TEXT_BYTES; i++)
		text_putc(&text, "abcdefg"[i % 7]);
	text_puts(&text, "\", \"a\": [");
	for (int i = 0; i < LONG_TEXT_BYTES; i++)
		text_putc(&text, i % 2 ? ',' : '1');
	text_puts(&text, "1]}");
	same_is_read(text.data, text.length, 0);
	is_read_whole_or_not(small, strlen(small));
	text_clear(&text);
	text_puts(&text, "[\"");
	for (int i = 0; i < LONG_TEXT_BYTES; i++)
		text_putc(&text, "abcdefg"[i % 7]);
	text_puts(&text, "\"]");
	is_read_whole_or_not(text.data, text.length);
}

TEST(json_of_many_pieces_is_read_whole_or_not)
{
	static const char nested[] = "[[[[[[[[{},{},[],[],{}]]]]]]]]";
	struct text text AUTO_TEXT = { 0 };

	(void)state_;
	text_putc(&text, '[');
	for (int i = 0; i < LONG_PIECES; i++)
		text_printf(&text, "%s{\"k%d\":[],\"\\u00e9\":{}}", i ? "," : "", i);
	text_putc(&text, ']');
	is_read_whole_or_not(text.data, text.length);
	is_read_whole_or_not(nested, strlen(nested));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_watch_sees_what_ran_out_within_it_alone),
		cmocka_unit_test(a_watch_within_another_is_a_part_of_it),
		cmocka_unit_test(a_watch_is_a_threads_own),
		cmocka_unit_test(whoever_finds_none_is_noted),
		cmocka_unit_test(json_and_what_is_none_is_told_as_by_json_loadb),
		cmocka_unit_test(json_nested_too_deeply_is_told_as_by_json_loadb),
		cmocka_unit_test(a_text_longer_than_what_is_set_aside_is_read_whole_or_not),
		cmocka_unit_test(json_of_many_pieces_is_read_whole_or_not),
	};

	memory_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
