/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "daemon/base/text.h"
#include "scheduler/plan/outcome.h"
#include "scheduler/plan/plan.h"
#include "tests/unit/testing.h"

#define EXIT(the_role, the_index, code)                                                                      \
	{                                                                                                    \
		.role = ROLE_##the_role, .index = the_index, .end = END_EXIT, .exit_code = code              \
	}
#define UP(the_role, the_index)                                                                              \
	{                                                                                                    \
		.role = ROLE_##the_role, .index = the_index                                                  \
	}

struct row {
	const char *what;
	struct replica_outcome outcomes[4];
	unsigned attempt;
	enum job_state outcome;
	const char *message;
	enum status code; /* 0: not checked */
};

static const struct row rows[] = {
	{ "all up", { UP(MASTER, 0), UP(WORKER, 0) }, 1, JOB_STATE_UNSPECIFIED, NULL },
	{ "master ended well", { EXIT(MASTER, 0, 0), UP(WORKER, 0) }, 1, JOB_SUCCEEDED, NULL },
	{ "worker ended well", { UP(MASTER, 0), EXIT(WORKER, 0, 0) }, 1, JOB_STATE_UNSPECIFIED, NULL },
	{ "evaluator ended well", { UP(MASTER, 0), EXIT(EVALUATOR, 0, 0) }, 1, JOB_STATE_UNSPECIFIED, NULL },
	{ "master wins over a failed worker",
	  { EXIT(MASTER, 0, 0), EXIT(WORKER, 0, 1) },
	  1,
	  JOB_SUCCEEDED,
	  NULL },
	{ "master failed",
	  { EXIT(MASTER, 0, 1) },
	  1,
	  JOB_FAILED,
	  "The replica master 0 exited with a non-zero status of 1. Termination reason: Error. " },
	{ "worker failed",
	  { UP(MASTER, 0), EXIT(WORKER, 1, 3) },
	  1,
	  JOB_FAILED,
	  "The replica worker 1 exited with a non-zero status of 3. Termination reason: Error. " },
	{ "ps failed",
	  { UP(MASTER, 0), EXIT(PS, 0, 2) },
	  1,
	  JOB_FAILED,
	  "The replica ps 0 exited with a non-zero status of 2. Termination reason: Error. " },
	{ "two failed",
	  { EXIT(MASTER, 0, 1), EXIT(WORKER, 0, 1) },
	  1,
	  JOB_FAILED,
	  "The replica master 0 exited with a non-zero status of 1. Termination reason: Error. "
	  "The replica worker 0 exited with a non-zero status of 1. Termination reason: Error. " },
	{ "killed",
	  { EXIT(MASTER, 0, 137) },
	  1,
	  JOB_FAILED,
	  "The replica master 0 exited with a non-zero status of 9(SIGKILL). Termination reason: Error. " },
	{ "ended with the status of a signal",
	  { { .role = ROLE_MASTER, .end = END_EXIT, .exit_code = 143, .of_itself = true } },
	  1,
	  JOB_FAILED,
	  "The replica master 0 exited with a non-zero status of 143. Termination reason: Error. " },
	{ "out of memory",
	  { { .role = ROLE_MASTER, .end = END_EXIT, .exit_code = 137, .out_of_memory = true } },
	  1,
	  JOB_FAILED,
	  "The replica master 0 ran out-of-memory and exited with a non-zero status of 9(SIGKILL). " },
	{ "a child was out of memory, the master ended well",
	  { { .role = ROLE_MASTER, .end = END_EXIT, .exit_code = 0, .out_of_memory = true } },
	  1,
	  JOB_SUCCEEDED,
	  NULL },
	{ "segmentation fault",
	  { EXIT(MASTER, 0, 139) },
	  1,
	  JOB_PREPARING,
	  "The replica master 0 exited with a non-zero status of 11(SIGSEGV). Termination reason: Error. " },
	{ "abort",
	  { EXIT(WORKER, 0, 134) },
	  3,
	  JOB_PREPARING,
	  "The replica worker 0 exited with a non-zero status of 6(SIGABRT). Termination reason: Error. " },
	{ "plain 6 and 11 count as transient",
	  { EXIT(MASTER, 0, 6), EXIT(WORKER, 0, 11) },
	  1,
	  JOB_PREPARING,
	  NULL },
	{ "the fourth abort is the last", { EXIT(WORKER, 0, 134) }, 4, JOB_FAILED, NULL },
	{ "an ordinary failure beside an abort",
	  { EXIT(MASTER, 0, 134), EXIT(WORKER, 0, 1) },
	  1,
	  JOB_FAILED,
	  NULL },
	{ "lost",
	  { { .role = ROLE_PS, .end = END_LOST } },
	  2,
	  JOB_PREPARING,
	  "The replica ps 0 was lost: its container was stopped or removed from outside. " },
	{ "preempted by order",
	  { { .role = ROLE_PS, .end = END_LOST, .ordered = true } },
	  2,
	  JOB_PREPARING,
	  "The replica ps 0 was lost: it was preempted by an injected fault. " },
	{ "lost for the third time", { { .role = ROLE_PS, .end = END_LOST } }, 3, JOB_PREPARING, NULL },
	{ "lost for the fourth time", { { .role = ROLE_PS, .end = END_LOST } }, 4, JOB_FAILED, NULL },
	{ "broken",
	  { { .role = ROLE_WORKER, .index = 2, .end = END_BROKEN, .text = "task already exists" } },
	  2,
	  JOB_PREPARING,
	  "The replica worker 2 could not be started: task already exists " },
	{ "broken for the fourth time", { { .role = ROLE_WORKER, .end = END_BROKEN } }, 4, JOB_FAILED, NULL },
	{ "refused",
	  { { .role = ROLE_WORKER, .index = 2, .end = END_REFUSED, .text = "No such image: x" } },
	  1,
	  JOB_FAILED,
	  "The replica worker 2 could not be started: No such image: x " },
};

static struct plan *plan_of(const char *dialect)
{
	struct plan *plan = plan_new();

	plan->dialect = strdup(dialect);
	return plan;
}

static const struct row vertex_rows[] = {
	{ "primary ended well", { EXIT(MASTER, 0, 0), UP(WORKER, 0) }, 1, JOB_SUCCEEDED, NULL, 0 },
	{ "primary failed",
	  { EXIT(MASTER, 0, 1) },
	  1,
	  JOB_FAILED,
	  "The replica workerpool0-0 exited with a non-zero status of 1. Termination reason: Error. ",
	  STATUS_INVALID_ARGUMENT },
	{ "evaluator killed",
	  { UP(MASTER, 0), EXIT(EVALUATOR, 0, 137) },
	  1,
	  JOB_FAILED,
	  "The replica workerpool3-0 exited with a non-zero status of 137. Termination reason: Error. ",
	  STATUS_INVALID_ARGUMENT },
	{ "out of memory",
	  { { .role = ROLE_WORKER, .index = 4, .end = END_EXIT, .exit_code = 137, .out_of_memory = true } },
	  1,
	  JOB_FAILED,
	  "The replica workerpool1-4 ran out of memory and exited with a non-zero status of 137. ",
	  STATUS_INVALID_ARGUMENT },
	{ "abort", { EXIT(WORKER, 0, 134) }, 3, JOB_PREPARING, NULL, 0 },
	{ "the fourth abort", { EXIT(WORKER, 0, 134) }, 4, JOB_FAILED, NULL, STATUS_INVALID_ARGUMENT },
	{ "broken twice", { { .role = ROLE_MASTER, .end = END_BROKEN } }, 2, JOB_PREPARING, NULL, 0 },
	{ "broken thrice",
	  { { .role = ROLE_MASTER, .end = END_BROKEN, .text = "x" } },
	  3,
	  JOB_FAILED,
	  "Internal error occurred for the current attempt. The replica workerpool0-0 could not be started: x ",
	  STATUS_INTERNAL },
	{ "lost four times",
	  { { .role = ROLE_PS, .end = END_LOST } },
	  4,
	  JOB_FAILED,
	  "Internal error occurred for the current attempt. The replica workerpool2-0 was lost: its container was "
	  "stopped or removed from outside. ",
	  STATUS_INTERNAL },
	{ "lost beside a failure",
	  { { .role = ROLE_PS, .end = END_LOST }, EXIT(MASTER, 0, 2) },
	  1,
	  JOB_FAILED,
	  "The replica workerpool2-0 was lost: its container was stopped or removed from outside. "
	  "The replica workerpool0-0 exited with a non-zero status of 2. Termination reason: Error. ",
	  STATUS_INVALID_ARGUMENT },
};

static void vertex_has_its_own_words_and_codes(void **state)
{
	AUTO(plan) struct plan *plan = plan_of("aiplatform");

	(void)state;
	for (size_t i = 0; i < COUNT_OF(vertex_rows); i++) {
		const struct row *row = &vertex_rows[i];
		struct job_outcome outcome = job_outcome_of(plan, row->outcomes, 4, row->attempt, true);

		if (outcome.outcome != row->outcome)
			fail_msg("%s: %s", row->what, job_state_name(outcome.outcome));
		if (row->message)
			assert_string_equal(outcome.message, row->message);
		if (row->code)
			assert_int_equal(outcome.code, row->code);
		free(outcome.message);
	}
}

/* Fails with: attempts_of() and outcome_of_failure() without their looks at preemptible. */
static void a_preempted_job_is_tried_seven_times(void **state)
{
	static const struct replica_outcome lost = { .role = ROLE_WORKER, .end = END_LOST };
	static const struct replica_outcome aborted[] = { { .role = ROLE_WORKER, .end = END_LOST },
							  EXIT(MASTER, 0, 134) };
	AUTO(plan) struct plan *plan = plan_of("aiplatform");
	struct job_outcome sixth, seventh, fourth;

	(void)state;
	plan->preemptible = true;
	plan->region = strdup("us-central1");
	sixth = job_outcome_of(plan, &lost, 1, 6, true);
	seventh = job_outcome_of(plan, &lost, 1, 7, true);
	fourth = job_outcome_of(plan, aborted, 2, 4, true);
	assert_int_equal(sixth.outcome, JOB_PREPARING);
	assert_int_equal(seventh.outcome, JOB_FAILED);
	assert_int_equal(seventh.code, STATUS_RESOURCE_EXHAUSTED);
	assert_string_equal(
		seventh.message,
		"Resources are insufficient in region: us-central1. Try a different region or use a different "
		"accelerator. The replica workerpool1-0 was lost: its container was stopped or removed from outside. ");
	assert_int_equal(fourth.outcome, JOB_FAILED); /* a crash is retried less often */
	assert_int_equal(fourth.code, STATUS_INVALID_ARGUMENT);
	free(sixth.message);
	free(seventh.message);
	free(fourth.message);
}

static void without_retries_nothing_is_tried_again_once_it_ran(void **state)
{
	static const struct replica_outcome outcomes[] = { { .role = ROLE_PS, .end = END_LOST },
							   EXIT(MASTER, 0, 134) };
	AUTO(plan) struct plan *plan = plan_of("aiplatform");

	(void)state;
	plan->never_retries = true;
	for (size_t i = 0; i < COUNT_OF(outcomes); i++) {
		struct job_outcome before = job_outcome_of(plan, &outcomes[i], 1, 1, false);
		struct job_outcome after = job_outcome_of(plan, &outcomes[i], 1, 1, true);

		assert_int_equal(before.outcome, JOB_PREPARING);
		assert_int_equal(after.outcome, JOB_FAILED);
		free(before.message);
		free(after.message);
	}
}

static void exits_decide_the_job(void **state)
{
	AUTO(plan) struct plan *plan = plan_of("ml");

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct job_outcome outcome = job_outcome_of(plan, rows[i].outcomes, 4, rows[i].attempt, true);

		if (outcome.outcome != rows[i].outcome)
			fail_msg("%s: %s", rows[i].what, job_state_name(outcome.outcome));
		if (rows[i].message)
			assert_string_equal(outcome.message, rows[i].message);
		if (rows[i].outcome == JOB_SUCCEEDED)
			assert_null(outcome.message);
		free(outcome.message);
	}
}

#define LOOK_FURTHER "\n\nTo find out more about why your job exited please check the logs: "

static void an_error_message_has_tail_and_link(void **state)
{
	(void)state;
	size_t reason;
	char *text = error_message_text("The replica master 0 exited with a non-zero status of 1. ",
					"Traceback\nBoom", "42", "job_1", &reason);

	assert_string_equal(
		text,
		"The replica master 0 exited with a non-zero status of 1. \nTraceback\nBoom\n\n"
		"To find out more about why your job exited please check the logs: "
		"https://console.cloud.google.com/logs/viewer?project=42&resource=ml_job%2Fjob_id%2Fjob_1"
		"&advancedFilter=resource.type%3D%22ml_job%22%0Aresource.labels.job_id%3D%22job_1%22");
	free(text);
	text = error_message_text("Sentence.", "", "42", "j", &reason);
	assert_non_null(strstr(text, "Sentence.\n\nTo find"));
	assert_int_equal(reason, strlen("Sentence."));
	free(text);
	/* Fails with: the pointer is sought in the text. */
	text = error_message_text("Sentence.", LOOK_FURTHER "the wall", "42", "j", &reason);
	assert_int_equal(reason, strlen("Sentence.\n" LOOK_FURTHER "the wall"));
	free(text);
}

/* "line FROM" … "line TO" */
static void lines_put(struct text *text, unsigned from, unsigned to)
{
	for (; from <= to; from++)
		text_printf(text, "line %u%s", from, from < to ? "\n" : "");
}

/* Fails with: tail_put() that gives the last lines alone: a long traceback did not begin. */
static void a_long_traceback_keeps_its_beginning(void **state)
{
#define TRACEBACK "Traceback (most recent call last):\n"
	static const struct {
		const char *before;
		unsigned lines;
		const char *expected;
		unsigned from;
	} cases[] = {
		{ "", 20, "", 1 },
		{ "warning\n", 20, "", 1 },
		{ "a\n" TRACEBACK, 19, TRACEBACK, 1 },
		{ "a\n" TRACEBACK, 20, TRACEBACK "  [...]\n", 3 },
		{ TRACEBACK "b\n" TRACEBACK, 60, TRACEBACK "  [...]\n", 43 },
		{ "not a " TRACEBACK, 60, "", 41 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct text tail AUTO_TEXT = { 0 };
		struct text expected AUTO_TEXT = { 0 };
		size_t reason;

		text_puts(&tail, cases[i].before);
		lines_put(&tail, 1, cases[i].lines);
		text_printf(&expected, "S.\n%s", cases[i].expected);
		lines_put(&expected, cases[i].from, cases[i].lines);
		text_puts(&expected, "\n\nTo find");
		AUTO(string) char *text = error_message_text("S.", tail.data, "42", "j", &reason);

		if (strncmp(text, expected.data, expected.length) != 0)
			fail_msg("case %zu: %s", i, text);
	}
}

static void a_long_tail_is_cut_between_characters(void **state)
{
	(void)state;
	char tail[20001] = "begin";
	size_t reason;
	char *text;

	memset(tail + 5, 'x', sizeof(tail) - 6);
	memcpy(tail + sizeof(tail) - 1 - 16 * 1024 - 1, "\xc3\xa9", 2); /* a character of two bytes across the limit */
	text = error_message_text("S.", tail, "42", "j", &reason);
	assert_non_null(strstr(text, "S.\nxxx"));
	assert_true(strlen(text) < 17 * 1024);
	free(text);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exits_decide_the_job),
		cmocka_unit_test(vertex_has_its_own_words_and_codes),
		cmocka_unit_test(a_preempted_job_is_tried_seven_times),
		cmocka_unit_test(without_retries_nothing_is_tried_again_once_it_ran),
		cmocka_unit_test(an_error_message_has_tail_and_link),
		cmocka_unit_test(a_long_traceback_keeps_its_beginning),
		cmocka_unit_test(a_long_tail_is_cut_between_characters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
