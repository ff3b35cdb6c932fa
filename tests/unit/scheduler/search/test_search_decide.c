/* SPDX-License-Identifier: Apache-2.0 */
/* A table for scheduler/search/search_decide.h: the input is the observed state of a search and its trials, the output
 * the actions that are due. */
#include "scheduler/search/search_decide.h"

#include "scheduler/job_run.h"
#include "scheduler/reconciler.h"
#include "scheduler/search/look.h"
#include "scheduler/search/suggester.h"
#include "tests/unit/scheduler/search/search_testing.h"

#define S INT64_C(1000000)

enum { TRIALS = 3 };

struct seen_trial {
	enum job_state state; /* UNSPECIFIED: the trial does not exist */
	enum trial_outcome outcome;
	bool stopped_early, decided;
};

/* The time is second 100 of a clock that began at 0; the search was created at 0. */
struct row {
	const char *what;
	enum job_state state, outcome;
	struct seen_trial trials[TRIALS];
	unsigned most, parallel, failed; /* limits in the plan; 0: 9, 2 and none */
	bool limited;                    /* the search ends after 50 s, with its running trials */
	bool broken;                     /* the study cannot be read */
	bool asked, refused, exhausted;  /* the suggester was asked; it failed; there are no further points to try */
	unsigned came, first; /* number of suggested trials; 0: none; number of the first one, 0: the next one */
	int64_t deadline_s;
	bool explained, torn_down;
	const char *decided;
	int64_t wake_s; /* 0: never */
};

#define RUNS                                                                                                 \
	{                                                                                                    \
		.state = JOB_RUNNING                                                                         \
	}
#define COMPLETED                                                                                            \
	{                                                                                                    \
		.state = JOB_SUCCEEDED, .outcome = OUTCOME_COMPLETED                                         \
	}
#define FAILED                                                                                               \
	{                                                                                                    \
		.state = JOB_FAILED, .outcome = OUTCOME_INFEASIBLE                                           \
	}
#define CANCELLED                                                                                            \
	{                                                                                                    \
		.state = JOB_CANCELLED, .outcome = OUTCOME_CANCELLED                                         \
	}

static const struct row rows[] = {
	{ "new", .state = JOB_QUEUED, .decided = "ask 2;" },
	{ "asked", .state = JOB_QUEUED, .asked = true, .decided = "" },
	{ "a suggestion came", .state = JOB_QUEUED, .asked = true, .came = 2, .decided = "start;" },
	/* Fails with: suggestion_use() that takes any: trials with numbers that there are. */
	{ "a suggestion came late", .state = JOB_RUNNING, .trials = { RUNS }, .asked = true, .came = 1,
	  .first = 1, .decided = "forget;" },
	{ "the suggester could not", .state = JOB_QUEUED, .asked = true, .came = 1, .refused = true,
	  .decided = "forget; not now;" },
	{ "one more", .state = JOB_RUNNING, .trials = { RUNS, COMPLETED }, .decided = "ask 1;" },
	{ "as many as may", .state = JOB_RUNNING, .trials = { RUNS, RUNS }, .decided = "" },
	{ "the last ones", .state = JOB_RUNNING, .trials = { RUNS, COMPLETED }, .most = 2, .decided = "" },
	{ "nothing left to try", .state = JOB_RUNNING, .trials = { RUNS, COMPLETED }, .exhausted = true,
	  .decided = "" },
	{ "the study cannot be read", .state = JOB_QUEUED, .broken = true,
	  .decided = "QUEUED decides FAILED;" },
	{ "one was let in", .state = JOB_QUEUED, .trials = { { JOB_PREPARING } }, .decided = "PREPARING;" },
	{ "one runs", .state = JOB_PREPARING, .trials = { RUNS }, .decided = "RUNNING;" },
	{ "waited too long", .state = JOB_QUEUED, .deadline_s = 100,
	  .decided = "CANCELLING decides CANCELLED;", .wake_s = 100 },
	/* Fails with: next_while_wanted() before ended_take(): the next was suggested without what this one had reached. */
	{ "one has ended", .state = JOB_RUNNING, .trials = { RUNS, { JOB_SUCCEEDED } },
	  .decided = "2 ends as 1;" },
	{ "one was stopped early", .state = JOB_RUNNING,
	  .trials = { { JOB_CANCELLED, .stopped_early = true } }, .decided = "1 ends as 1;" },
	{ "one failed, one was cancelled", .state = JOB_RUNNING,
	  .trials = { { JOB_FAILED }, { JOB_CANCELLED } }, .decided = "1 ends as 2; 2 ends as 3;" },
	{ "the first to end has failed", .state = JOB_RUNNING, .trials = { RUNS, FAILED },
	  .decided = "RUNNING decides FAILED;" },
	{ "one of two has failed", .state = JOB_RUNNING, .trials = { COMPLETED, FAILED },
	  .decided = "ask 2;" },
	{ "as many have failed as may", .state = JOB_RUNNING, .trials = { COMPLETED, FAILED }, .failed = 1,
	  .decided = "RUNNING decides FAILED;" },
	{ "all have ended", .state = JOB_RUNNING, .trials = { COMPLETED, COMPLETED }, .most = 2,
	  .decided = "RUNNING decides SUCCEEDED;" },
	{ "none ever began", .state = JOB_QUEUED, .exhausted = true, .decided = "PREPARING;" },
	{ "the search is over", .state = JOB_RUNNING, .trials = { RUNS, { JOB_CANCELLING }, COMPLETED },
	  .parallel = 3, .limited = true, .asked = true, .decided = "1 is stopped; forget;" },
	{ "the search is over, and all that ran", .state = JOB_RUNNING, .trials = { COMPLETED },
	  .limited = true, .decided = "RUNNING decides SUCCEEDED;" },
	{ "cancelled", .state = JOB_CANCELLING, .outcome = JOB_CANCELLED,
	  .trials = { RUNS, { JOB_CANCELLING }, COMPLETED }, .asked = true,
	  .decided = "1 is cancelled; forget;" },
	/* Fails with: trial_goes_on() without it: it was cancelled anew at each look. */
	{ "cancelled, its trial is about to end", .state = JOB_CANCELLING, .outcome = JOB_CANCELLED,
	  .trials = { RUNS, { JOB_RUNNING, .decided = true } }, .decided = "1 is cancelled;" },
	{ "cancelled, its trial has ended", .state = JOB_CANCELLING, .outcome = JOB_CANCELLED,
	  .trials = { { JOB_CANCELLED } }, .decided = "1 ends as 3;" },
	{ "cancelled, all have ended", .state = JOB_CANCELLING, .outcome = JOB_CANCELLED,
	  .trials = { CANCELLED }, .decided = "CANCELLING; 1 clears;" },
	{ "explained", .state = JOB_CANCELLING, .outcome = JOB_CANCELLED, .trials = { CANCELLED },
	  .explained = true, .decided = "CANCELLING closes; 1 clears;" },
	{ "closed", .state = JOB_RUNNING, .outcome = JOB_SUCCEEDED, .trials = { COMPLETED },
	  .torn_down = true, .decided = "await last words;" },
	{ "cancelled, the study cannot be read", .state = JOB_CANCELLING, .outcome = JOB_CANCELLED,
	  .broken = true, .trials = { RUNS }, .decided = "1 is cancelled;" },
};

static void acts_write(struct text *text, const struct trial_acts *acts)
{
	for (size_t i = 0; i < acts->count; i++) {
		const struct trial_act *act = &acts->items[i];

		text_printf(text, "%u ", act->number);
		if (act->kind == TRIAL_ENDS)
			text_printf(text, "ends as %d; ", (int)act->outcome);
		else
			text_puts(text, act->kind == TRIAL_STOPS     ? "is stopped; "
					: act->kind == TRIAL_CANCELS ? "is cancelled; "
								     : "clears; ");
	}
	if (acts->asks)
		text_printf(text, "ask %zu; ", acts->asks->wanted);
	if (acts->starts)
		text_puts(text, "start; ");
	if (acts->forgets)
		text_puts(text, "forget; ");
	if (acts->failed)
		text_puts(text, "not now; ");
}

static char *decision_text(const struct decision *decision)
{
	const struct job_change *change = &decision->change;
	struct text text AUTO_TEXT = { 0 };

	for (size_t i = 0; i < decision->order_count; i++)
		text_puts(&text, decision->orders[i].verb == ORDER_LAST_WORDS ? "await last words; " : "? ");
	if (decision->stores)
		text_printf(&text, "%s%s; ", job_state_name(change->to), change->tears_down ? " closes" : "");
	if (change->decides) {
		text.length -= 2;
		text_printf(&text, " decides %s; ", job_state_name(change->outcome));
	}
	acts_write(&text, &decision->trials);
	text_puts(&text, "");
	if (text.length)
		text.data[--text.length] = '\0';
	return text_take(&text);
}

/* The trials of the search, from the row. */
static void trials_see(const struct row *row, struct look *look)
{
	static const struct trial_source nowhere = { .directory = "/nonexistent" };

	look->list.trials = calloc(TRIALS, sizeof(*look->list.trials));
	for (; look->list.count < TRIALS && row->trials[look->list.count].state; look->list.count++) {
		const struct seen_trial *seen = &row->trials[look->list.count];

		look->list.trials[look->list.count] =
			(struct stored_trial){ .number = (unsigned)look->list.count + 1,
					       .run = 11 + (int64_t)look->list.count,
					       .state = seen->state,
					       .outcome = seen->outcome,
					       .stopped_early = seen->stopped_early,
					       .decided = seen->decided,
					       .ended_as = seen->outcome ? (unsigned)look->list.count + 1 : 0,
					       .parameters = strdup("[1]"),
					       .final = seen->outcome == OUTCOME_COMPLETED
								? strdup("[0.5]")
								: NULL,
					       .started_us = 40 * S,
					       .running_us = seen->state == JOB_PREPARING ? 0 : 50 * S,
					       .ended_us = seen->outcome ? 60 * S : 0 };
		look->open += !seen->outcome;
		look->completed += seen->outcome == OUTCOME_COMPLETED;
		look->failed += seen->outcome == OUTCOME_INFEASIBLE;
		look->lingering += !job_state_is_final(seen->state);
	}
	if (!look->tuner)
		return;
	look->tuner->metrics = calloc(TRIALS, sizeof(*look->tuner->metrics));
	for (size_t i = 0; i < look->list.count; i++)
		look->tuner->metrics[look->tuner->metric_size++] =
			trial_metrics_new(look->study, &nowhere, 0);
}

static struct tuner *tuner_make(const struct row *row, const struct plan *plan, size_t count)
{
	struct tuner *tuner = calloc(1, sizeof(*tuner));
	struct study *study = NULL;

	assert_int_equal(study_from_json(plan->search, &tuner->study, NULL), STATUS_OK);
	tuner->asked = row->asked;
	tuner->exhausted = row->exhausted;
	if (!row->came)
		return tuner;
	assert_int_equal(study_from_json(plan->search, &study, NULL), STATUS_OK);
	tuner->suggestion = suggestion_new(1, study, NULL, 0, row->came);
	tuner->suggestion->count = row->came;
	tuner->suggestion->first = row->first ? row->first : (unsigned)count + 1;
	tuner->suggestion->status = row->refused ? STATUS_INTERNAL : STATUS_OK;
	return tuner;
}

static bool row_holds(const struct row *row)
{
	const struct study_limits limits = { .most_us = 50 * S, .interrupts = true };
	AUTO(plan) struct plan *plan = plan_named("p", "j");
	struct job stored = { .id = 1,
			      .job_id = (char *)"j",
			      .state = row->state,
			      .outcome = row->outcome,
			      .attempt = 1,
			      .started_us = row->state == JOB_QUEUED ? 0 : 1,
			      .running_us = row->state == JOB_RUNNING,
			      .torn_down = row->torn_down,
			      .error_message = row->explained ? (char *)"Why." : NULL };
	struct job failure = { .error_message = (char *)"It failed.",
			       .reason_bytes = strlen("It failed."),
			       .error_code = STATUS_INTERNAL };
	const struct reconciler reconciler = { 0 };
	const struct decision_context context = { .reconciler = &reconciler,
						  .wall_us = 100 * S,
						  .mono_us = 100 * S };
	struct job_node on = { .observation = 1 };
	struct job_run run = { .work = WORK_TRIALS,
			       .row = &stored,
			       .plan = plan,
			       .nodes = &on,
			       .node_count = 1,
			       .deadline_us = row->deadline_s ? row->deadline_s * S : INT64_MAX };
	struct look look = {
		.reconciler = &reconciler, .run = &run, .context = &context, .failure = &failure
	};
	AUTO(string) char *decided = NULL;
	bool holds;

	plan->search = search_make(&(struct search){ .algorithm = ALGORITHM_RANDOM });
	plan->study_limits = row->limited ? study_limits_to_json(&limits) : NULL;
	plan->trial_count = row->most ? row->most : 9;
	plan->parallel_trial_count = row->parallel ? row->parallel : 2;
	plan->failed_trial_count = row->failed;
	for (size_t count = 0; !row->broken && !look.tuner; count++)
		if (count == TRIALS || !row->trials[count].state)
			look.tuner = tuner_make(row, plan, count);
	look.study = look.tuner ? look.tuner->study : NULL;
	trials_see(row, &look);
	search_decide(&look);
	decided = decision_text(&look.decision);
	holds = strcmp(decided, row->decided) == 0 &&
		look.decision.wake_at_us == (row->wake_s ? row->wake_s * S : INT64_MAX);
	if (!holds)
		print_error("%s: \"%s\", not \"%s\"; wakes at %.1f s\n", row->what, decided, row->decided,
			    (double)look.decision.wake_at_us / 1e6);
	decision_deinit(&look.decision);
	trial_list_deinit(&look.list);
	free(look.all);
	free(look.values);
	tuner_free(look.tuner);
	return holds;
}

static void what_is_due_follows_from_what_is_seen(void **state)
{
	bool hold = true;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++)
		hold = row_holds(&rows[i]) && hold;
	assert_true(hold);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_due_follows_from_what_is_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
