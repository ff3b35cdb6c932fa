/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/launcher/launcher.h"

#include <string.h>

#include "daemon/base/json.h"
#include "tests/unit/testing.h"

/* The kernel's limit for one argument is MAX_ARG_STRLEN; this leaves room. */
enum { TEXT_BYTES_MAX = 64 << 10 };

static struct plan *launched_plan(const char *args)
{
	struct plan *plan = plan_new();
	struct pool *pool = &plan->pools[ROLE_MASTER];

	plan->dialect = strdup("ml");
	pool->python_module = strdup("trainer.task");
	pool->python = strdup("python3");
	pool->package_uris = json_pack("[s, s]", "gs://b/a b.tar.gz", "gs://b/c.whl");
	pool->count = 1;
	pool->args = args ? json_loads(args, 0, NULL) : NULL;
	return plan;
}

static void pools_with_a_module_are_launched(void **state)
{
	AUTO(plan) struct plan *plan = launched_plan(NULL);

	(void)state;
	assert_true(pool_is_launched(&plan->pools[ROLE_MASTER]));
	assert_false(pool_is_launched(&plan->pools[ROLE_WORKER]));
}

static void the_command_is_the_interpreter_with_the_launchers_text(void **state)
{
	AUTO(plan) struct plan *plan = launched_plan(NULL);
	AUTO(json) json_t *command = NULL;
	AUTO(json) json_t *args = NULL;
	const char *text;

	(void)state;
	launcher_command(plan, ROLE_MASTER, plan->pools[ROLE_MASTER].args, &command, &args);
	assert_int_equal(json_array_size(command), 3);
	assert_string_equal(json_string_value(json_array_get(command, 0)), "python3");
	assert_string_equal(json_string_value(json_array_get(command, 1)), "-c");
	text = json_string_value(json_array_get(command, 2));
	assert_in_range(strlen(text), 1000, TEXT_BYTES_MAX);
	assert_non_null(strstr(text, "\nsys.exit(main())\n"));
	for (const char *at = text; *at; at++)
		assert_true(*at == '\n' || (*at >= ' ' && *at <= '~'));
}

static void packages_come_in_order_and_before_the_modules_arguments(void **state)
{
	static const struct {
		const char *given, *expected;
	} rows[] = {
		{ NULL, "[]" },
		{ "[\"--x\", \"--\", \"a $b\"]", "[\"--x\",\"--\",\"a $b\"]" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		AUTO(plan) struct plan *plan = launched_plan(rows[i].given);
		AUTO(json) json_t *command = NULL;
		AUTO(json) json_t *args = NULL;
		AUTO(json)
		json_t *expected = json_pack("[s, s, s, s, s, s]", "--python=python3",
					     "--module=trainer.task", "--wheels=" LAUNCHER_WHEELS,
					     "--package=gs://b/a b.tar.gz", "--package=gs://b/c.whl", "--");
		AUTO(json) json_t *rest = json_loads(rows[i].expected, 0, NULL);

		json_array_extend(expected, rest);
		launcher_command(plan, ROLE_MASTER, plan->pools[ROLE_MASTER].args, &command, &args);
		assert_true(json_equal(args, expected));
		assert_int_equal(json_array_size(plan->pools[ROLE_MASTER].args), json_array_size(rest));
	}
}

static void a_module_needs_no_packages(void **state)
{
	AUTO(plan) struct plan *plan = launched_plan(NULL);
	AUTO(json) json_t *command = NULL;
	AUTO(json) json_t *args = NULL;

	(void)state;
	json_decref(plan->pools[ROLE_MASTER].package_uris);
	plan->pools[ROLE_MASTER].package_uris = NULL;
	launcher_command(plan, ROLE_MASTER, plan->pools[ROLE_MASTER].args, &command, &args);
	assert_int_equal(json_array_size(args), 4);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pools_with_a_module_are_launched),
		cmocka_unit_test(the_command_is_the_interpreter_with_the_launchers_text),
		cmocka_unit_test(packages_come_in_order_and_before_the_modules_arguments),
		cmocka_unit_test(a_module_needs_no_packages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
