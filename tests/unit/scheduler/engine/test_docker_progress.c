/* SPDX-License-Identifier: Apache-2.0 */
/* Tests scheduler/engine/docker_progress.c. */
#include <stdlib.h>
#include <string.h>

#include "scheduler/engine/docker_progress.h"
#include "tests/unit/testing.h"

static const char stream[] =
	"{\"status\":\"Pulling from train\",\"id\":\"latest\"}\r\n"
	"{\"status\":\"Pulling fs layer\",\"progressDetail\":{},\"id\":\"aaaaaaaaaaaa\"}\n"
	"{\"status\":\"Pulling fs layer\",\"progressDetail\":{},\"id\":\"bbbbbbbbbbbb\"}\n"
	"{\"status\":\"Already exists\",\"progressDetail\":{},\"id\":\"cccccccccccc\"}\n"
	"{\"status\":\"Downloading\",\"progressDetail\":{\"current\":5000000,\"total\":20000000},\"id\":"
	"\"aaaaaaaaaaaa\"}\n"
	"{\"status\":\"Downloading\",\"progressDetail\":{\"current\":1200000,\"total\":100000000},\"id\":"
	"\"bbbbbbbbbbbb\"}\n";

static struct progress *fed(const char *data, size_t piece)
{
	struct progress *progress = calloc(1, sizeof(*progress));
	size_t length = strlen(data);

	for (size_t at = 0; at < length; at += piece)
		progress_feed(progress, data + at, length - at < piece ? length - at : piece);
	return progress;
}

static void expect_text(struct progress *progress, const char *wanted)
{
	struct text text AUTO_TEXT = { 0 };

	assert_true(progress_print(progress, "train:1", &text));
	assert_string_equal(text.data, wanted);
}

static void progress_free(struct progress *progress)
{
	progress_deinit(progress);
	free(progress);
}

static void layers_are_summed_up(void **state)
{
	(void)state;
	for (size_t piece = 1; piece < sizeof(stream); piece += 13) {
		struct progress *progress = fed(stream, piece);
		struct text text AUTO_TEXT = { 0 };

		expect_text(progress, "Pulling train:1: 1 of 3 layers, 6.2 MB of 120.0 MB");
		assert_false(progress_print(progress, "train:1", &text)); /* nothing new */
		progress_free(progress);
	}
}

static void a_fetched_layer_counts_in_full(void **state)
{
	struct progress *progress = fed(stream, 4096);
	static const char more[] = "{\"status\":\"Download complete\",\"id\":\"aaaaaaaaaaaa\"}\n"
				   "{\"status\":\"Pull complete\",\"id\":\"aaaaaaaaaaaa\"}\n";

	(void)state;
	progress_feed(progress, more, strlen(more));
	expect_text(progress, "Pulling train:1: 2 of 3 layers, 21.2 MB of 120.0 MB");
	progress_free(progress);
}

static void the_failure_at_the_end_is_kept(void **state)
{
	static const char failing[] =
		"{\"status\":\"Downloading\",\"id\":\"x\"}\n"
		"{\"errorDetail\":{\"message\":\"verification failed\"},\"error\":\"v\"}";
	struct progress *progress = fed(failing, 10);

	(void)state;
	assert_string_equal(progress->problem, "");
	progress_end(progress);
	assert_string_equal(progress->problem, "verification failed");
	progress_free(progress);
}

static void a_failure_without_words_is_one(void **state)
{
	struct progress *progress = fed("{\"errorDetail\":{}}\n", 100);

	(void)state;
	assert_string_equal(progress->problem, "the engine gave no reason");
	progress_free(progress);
}

static void what_cannot_be_understood_is_passed_over(void **state)
{
	struct progress *progress =
		fed("}{\n[1]\n\n\"x\"\n{\"id\":1,\"status\":2}\n{\"status\":\"Downloading\",\"id\":\"a\","
		    "\"progressDetail\":[]}\n\xff\xfe\n",
		    3);
	char *endless = malloc(PROGRESS_LINE_MAX + 100);
	static const char failing[] = "\n{\"errorDetail\":{\"message\":\"end\"}}\n";

	(void)state;
	memset(endless, '{', PROGRESS_LINE_MAX + 100);
	progress_feed(progress, endless, PROGRESS_LINE_MAX + 100);
	assert_true(progress->line.size <= 2 * PROGRESS_LINE_MAX);
	progress_feed(progress, failing, strlen(failing));
	assert_string_equal(progress->problem, "end");
	free(endless);
	progress_free(progress);
}

static void layers_beyond_the_limit_are_not_counted(void **state)
{
	struct progress *progress = calloc(1, sizeof(*progress));
	struct text line AUTO_TEXT = { 0 }, none AUTO_TEXT = { 0 };
	static const char waiting[] = "{\"status\":\"Waiting\",\"id\":\"layer7\"}\n";

	(void)state;
	for (int i = 0; i < PROGRESS_LAYERS_MAX + 50; i++) {
		text_clear(&line);
		text_printf(&line, "{\"status\":\"Pull complete\",\"id\":\"layer%d\"}\n", i);
		progress_feed(progress, line.data, line.length);
	}
	assert_false(progress_print(progress, "train:1", &none)); /* none is left to do */
	progress_feed(progress, waiting, strlen(waiting));
	expect_text(progress, "Pulling train:1: 255 of 256 layers");
	progress_free(progress);
}

/* Fails with: progress_bytes() without bounded(), or that counts more than a layer has. */
static void bytes_are_those_of_all_layers_whatever_the_engine_says(void **state)
{
	struct progress *progress = fed(stream, 4096);
	struct text line AUTO_TEXT = { 0 };
	int64_t fetched = 0, all = 0;

	(void)state;
	progress_bytes(progress, &fetched, &all);
	assert_int_equal(fetched, 6200000);
	assert_int_equal(all, 120000000);
	for (int i = 0; i < PROGRESS_LAYERS_MAX; i++) {
		text_clear(&line);
		text_printf(&line,
			    "{\"status\":\"Downloading\",\"id\":\"layer%d\",\"progressDetail\":{\"current\":"
			    "%lld,\"total\":%lld}}\n",
			    i, i % 2 ? INT64_MAX : -5LL, i % 3 ? INT64_MAX : -1LL);
		progress_feed(progress, line.data, line.length);
	}
	progress_bytes(progress, &fetched, &all);
	assert_true(0 < fetched && fetched < all);
	progress_free(progress);
}

static int TEST_MAIN(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(layers_are_summed_up),
		cmocka_unit_test(a_fetched_layer_counts_in_full),
		cmocka_unit_test(the_failure_at_the_end_is_kept),
		cmocka_unit_test(a_failure_without_words_is_one),
		cmocka_unit_test(what_cannot_be_understood_is_passed_over),
		cmocka_unit_test(layers_beyond_the_limit_are_not_counted),
		cmocka_unit_test(bytes_are_those_of_all_layers_whatever_the_engine_says),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("docker_progress", tests, NULL, NULL);
}
