/* SPDX-License-Identifier: Apache-2.0 */
/* Images that exist, are pulled, or cannot be pulled. */
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

/* Fails with: program_look() that leaves its container; program_of() that takes the image's CMD where ENTRYPOINT is replaced. */
static void an_image_is_looked_into(void **state)
{
	struct bench *bench = *state;
	const struct engine_ops *ops = bench->engine->ops;
	json_t *missing = json_pack("[s]", "/no/such/program"), *shell = json_pack("[s]", "sh");
	json_t *relative = json_pack("[s]", "bin/sh");
	struct error err = { 0 };
	struct image_facts facts;

	assert_int_equal(ops->inspect_image(bench->engine, "trainyard-contract:busybox", NULL, NULL, true, &facts, &err), STATUS_OK);
	assert_int_equal(facts.is_local, !bench->is_podman); /* Podman gives a digest to images that are built, too */
	assert_int_equal(strncmp(facts.platform, "linux/", 6), 0);
	assert_false(facts.lacks_program);
	ops->inspect_image(bench->engine, "trainyard-contract:busybox", missing, NULL, true, &facts, &err);
	assert_string_equal(facts.program, "/no/such/program");
	assert_true(facts.lacks_program);
	ops->inspect_image(bench->engine, "trainyard-contract:busybox", missing, NULL, false, &facts, &err);
	assert_false(facts.lacks_program);
	ops->inspect_image(bench->engine, "trainyard-contract:busybox", shell, missing, true, &facts, &err);
	assert_string_equal(facts.program, "sh");
	assert_false(facts.lacks_program);
	ops->inspect_image(bench->engine, "trainyard-contract:busybox", relative, NULL, true, &facts, &err);
	assert_false(facts.lacks_program);
	assert_int_equal(ops->inspect_image(bench->engine, "no/such:image", NULL, NULL, true, &facts, &err),
			 STATUS_NOT_FOUND);
	assert_int_equal(ops->inspect_image(bench->engine, "../info?", NULL, NULL, true, &facts, &err),
			 STATUS_INVALID_ARGUMENT);
	error_deinit(&err);
	json_decref(missing);
	json_decref(shell);
	json_decref(relative);
}

const struct CMUnitTest contract_images[] = {
	ENGINE_TEST(an_image_is_looked_into),
	ENGINE_TEST(a_missing_image_says_how_to_get_it_offline),
	ENGINE_TEST(a_registry_that_is_not_there_fails_the_image),
	ENGINE_TEST(an_image_is_pulled_once_for_many),
	{ .name = NULL },
};
