/* SPDX-License-Identifier: Apache-2.0 */
/* Images that are there, are pulled, or cannot be had. */
#include "tests/integration/engine_contract.h"

#include <stdlib.h>
#include <string.h>

#include "tests/integration/engine_bench.h"

static void a_missing_image_says_how_to_get_it_offline(void **state)
{
	struct bench *bench = *state;
	struct record failed;

	bench->engine->ops->ensure_image(bench->engine, "127.0.0.1:1/no/such:image");
	failed = expect_event(bench, ENGINE_IMAGE_FAILED, NULL, 0);
	assert_string_equal(failed.image, "127.0.0.1:1/no/such:image");
	assert_non_null(strstr(failed.text, "--offline"));
	bench->engine->ops->ensure_image(bench->engine, "../../info?");
	assert_int_equal(expect_event(bench, ENGINE_IMAGE_FAILED, NULL, 0).status, STATUS_INVALID_ARGUMENT);
}

static void an_image_is_pulled_once_for_many(void **state)
{
	struct bench *bench = *state;
	const char *image = getenv("TRAINYARD_TEST_PULL_IMAGE");

	client_close(bench);
	client_open(bench, false);
	expect_event(bench, ENGINE_UP, NULL, 0);
	for (int i = 0; i < 3; i++)
		bench->engine->ops->ensure_image(bench->engine, image);
	assert_int_equal(strncmp(expect_event(bench, ENGINE_IMAGE_READY, NULL, 0).text, "sha256:", 7), 0);
	print_message("# %zu progress events\n", events_count(bench, ENGINE_IMAGE_PROGRESS));
}

static void a_registry_that_is_not_there_fails_the_image(void **state)
{
	struct bench *bench = *state;
	struct record failed;

	client_close(bench);
	client_open(bench, false);
	expect_event(bench, ENGINE_UP, NULL, 0);
	bench->engine->ops->ensure_image(bench->engine, "127.0.0.1:1/no/such:image");
	failed = expect_event(bench, ENGINE_IMAGE_FAILED, NULL, 0);
	assert_non_null(strstr(failed.text, "127.0.0.1:1"));
}

const struct CMUnitTest contract_images[] = {
	ENGINE_TEST(a_missing_image_says_how_to_get_it_offline),
	ENGINE_TEST(a_registry_that_is_not_there_fails_the_image),
	ENGINE_TEST(an_image_is_pulled_once_for_many),
	{ .name = NULL },
};
