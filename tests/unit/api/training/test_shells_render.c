/* SPDX-License-Identifier: Apache-2.0 */
#include "api/training/shells_render.h"

#include "api/message/message_write.h"
#include "api/ml/messages.h"
#include "tests/unit/api/ml/ml_testing.h"

/* An address for replicas with an even index only. */
static char *even_shell_uri(void *arg, const char *host, int64_t job, enum role role, unsigned index)
{
	char *uri = NULL;

	(void)arg;
	if (index % 2)
		return NULL;
	assert_true(asprintf(&uri, "http://%s/%lld/%s/%u?\"", host, (long long)job, role_name(role), index) >
		    0);
	return uri;
}

static char *no_shell_uri(void *arg, const char *host, int64_t job, enum role role, unsigned index)
{
	(void)arg, (void)host, (void)job, (void)role, (void)index;
	return NULL;
}

static void shells_are_told_to_who_asked_and_can_be_told(void **state)
{
	static const struct {
		char *(*shell_uri)(void *, const char *, int64_t, enum role, unsigned);
		const char *host;
		bool web_access, told;
	} rows[] = {
		{ even_shell_uri, "h:1", true, true },
		{ even_shell_uri, "h:1", false, false },
		{ even_shell_uri, "", true, false },
		{ NULL, "h:1", true, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct ml_context context = { .training.shell_uri = rows[i].shell_uri };
		const struct call call = { .context = &context, .host = rows[i].host };
		struct job job = job_named("j");

		job.web_access = rows[i].web_access;
		assert_int_equal(shells_reported(&call, &job), rows[i].told);
	}
}

static void assert_shells(struct ml_context *context, const char *expected)
{
	const struct call call = { .context = context, .host = "h:1" };
	AUTO(plan) struct plan *plan = plan_of("demo", "j", 3, 0);
	struct text text AUTO_TEXT = { 0 };
	struct writer output = message_open(&text, &ml_training_output);

	shells_render(&call, 7, plan, &output);
	message_close(&output);
	assert_string_equal(text.data, expected);
}

static void each_replica_that_has_one_is_named(void **state)
{
	struct ml_context context = { .training.shell_uri = even_shell_uri };

	(void)state;
	assert_shells(&context, "{\"webAccessUris\":{\"master-replica-0\":\"http://h:1/7/master/0?\\\"\","
				"\"worker-replica-0\":\"http://h:1/7/worker/0?\\\"\","
				"\"worker-replica-2\":\"http://h:1/7/worker/2?\\\"\"}}");
}

static void where_there_is_none_nothing_is_said(void **state)
{
	struct ml_context context = { .training.shell_uri = no_shell_uri };

	(void)state;
	assert_shells(&context, "{}");
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shells_are_told_to_who_asked_and_can_be_told),
		cmocka_unit_test(each_replica_that_has_one_is_named),
		cmocka_unit_test(where_there_is_none_nothing_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
