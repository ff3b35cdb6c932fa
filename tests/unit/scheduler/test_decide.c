/* SPDX-License-Identifier: Apache-2.0 */
/* A table for scheduler/decide.h: the input is stored facts and the observed state; the output is the decision. */
#include "scheduler/decide.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/base/text.h"
#include "scheduler/job_run.h"
#include "scheduler/reconciler.h"
#include "store/jobs/journal.h"
#include "tests/unit/scheduler/plan/plan_testing.h"
#include "tests/unit/testing.h"

/* A job with a master and a worker, at second 100 of a clock that began at 0. */
struct facts {
	enum job_state state, outcome;
	bool never_left; /* the job never left the queue */
	bool away;       /* the engine is away, and nothing was observed since */
	bool lost;       /* its node is lost */
	enum observed observed[2];
	enum replica_end end[2];
	int exit_code[2];
	bool unread, read; /* the output of the replicas is not stored yet, or is */
	unsigned given;    /* bit mask of the pending orders of both replicas */
	bool fetched;      /* images and network exist */
	enum network_observed network;
	bool asked; /* images were ordered */
	bool gateway, open;
	bool announced, explained, torn_down;
	enum output last_words;
	int64_t deadline_s, lost_s, held_s;
	bool lost_told, faulty, differs;
	enum journaled journaled[2]; /* expected journal rows; NOTHING: with an outcome its end, else its creation */
};

struct row {
	const char *what;
	struct facts facts;
	const char *decided;
	int64_t wake_s; /* 0: never */
};

#define S            INT64_C(1000000)
#define UP           { OBSERVED_RUNNING, OBSERVED_RUNNING }
#define ENDED        { OBSERVED_EXITED, OBSERVED_EXITED }
#define GIVEN(ORDER) (1u << (ORDER))
#define FOLLOWED     .given = GIVEN(ORDER_FOLLOW)
#define READ         FOLLOWED, .read = true

static const struct row rows[] = {
	{ "queued", { .state = JOB_QUEUED, .deadline_s = 120 }, "", 120 },
	{ "queued, cannot run", { .state = JOB_QUEUED, .faulty = true }, "QUEUED decides FAILED;", 0 },
	{ "queued too long",
	  { .state = JOB_QUEUED, .deadline_s = 100 },
	  "CANCELLING decides CANCELLED;",
	  100 },
	{ "queued too long, cannot run",
	  { .state = JOB_QUEUED, .deadline_s = 100, .faulty = true },
	  "QUEUED decides FAILED;",
	  100 },
	{ "preparing, engine away", { .state = JOB_PREPARING, .away = true }, "PREPARING says 1;", 0 },
	{ "preparing, engine away, which was told",
	  { .state = JOB_PREPARING, .away = true, .lost_told = true },
	  "",
	  0 },
	{ "nothing there", { .state = JOB_PREPARING }, "network; image 0; image 1;", 0 },
	{ "asked for", { .state = JOB_PREPARING, .network = NETWORK_CREATING, .asked = true }, "", 0 },
	{ "rests", { .state = JOB_PREPARING, .held_s = 101 }, "", 101 },
	{ "all fetched", { .state = JOB_PREPARING, .fetched = true }, "create 0; create 1;", 0 },
	{ "the gateway is not open yet",
	  { .state = JOB_PREPARING, .fetched = true, .gateway = true },
	  "open the gateway;",
	  0 },
	{ "the gateway is open",
	  { .state = JOB_PREPARING, .fetched = true, .gateway = true, .open = true },
	  "create 0; create 1;",
	  0 },
	{ "one missing after a crash",
	  { .state = JOB_PREPARING, .fetched = true, FOLLOWED, .observed = { OBSERVED_RUNNING } },
	  "create 1;",
	  0 },
	{ "being created",
	  { .state = JOB_PREPARING, .fetched = true, .observed = { OBSERVED_CREATED, OBSERVED_CREATING } },
	  "",
	  0 },
	{ "all created",
	  { .state = JOB_PREPARING, .fetched = true, .observed = { OBSERVED_CREATED, OBSERVED_CREATED } },
	  "start 1; start 0; PREPARING announces says 1;",
	  0 },
	{ "one created, one runs, announced",
	  { .state = JOB_PREPARING,
	    FOLLOWED,
	    .announced = true,
	    .observed = { OBSERVED_CREATED, OBSERVED_RUNNING } },
	  "start 0;",
	  0 },
	{ "being started",
	  { .state = JOB_PREPARING,
	    .fetched = true,
	    FOLLOWED,
	    .observed = { OBSERVED_STARTING, OBSERVED_RUNNING } },
	  "",
	  0 },
	{ "all up, unread", { .state = JOB_PREPARING, .observed = UP }, "follow 0; follow 1;", 0 },
	{ "all up",
	  { .state = JOB_PREPARING, FOLLOWED, .announced = true, .observed = UP },
	  "RUNNING says 1;",
	  0 },
	{ "one up, one ended and removed by somebody",
	  { .state = JOB_PREPARING,
	    FOLLOWED,
	    .announced = true,
	    .observed = { OBSERVED_RUNNING },
	    .end = { 0, END_EXIT } },
	  "RUNNING ended 1; says 1;",
	  0 },
	{ "succeeded before all were seen to run",
	  { .state = JOB_PREPARING,
	    FOLLOWED,
	    .announced = true,
	    .observed = { OBSERVED_EXITED, OBSERVED_STARTING },
	    .end = { END_EXIT } },
	  "RUNNING decides SUCCEEDED; ended 0; blamed 0; says 2;",
	  0 },
	{ "runs", { .state = JOB_RUNNING, FOLLOWED, .observed = UP, .deadline_s = 120 }, "", 120 },
	{ "runs too long",
	  { .state = JOB_RUNNING, FOLLOWED, .observed = UP, .deadline_s = 100 },
	  "CANCELLING decides CANCELLED;",
	  100 },
	/* Fails with: expiry before the outcome: what was ordered to end was told, and the job cancelled for its limit. */
	{ "ended as its limit passed",
	  { .state = JOB_RUNNING, FOLLOWED, .observed = ENDED, .end = { END_EXIT }, .deadline_s = 100 },
	  "RUNNING decides SUCCEEDED; ended 0; blamed 0; says 1;",
	  100 },
	/* Fails with: limit_us() without end_is_open(): what had ended in time was cancelled. */
	{ "runs too long, engine away",
	  { .state = JOB_RUNNING, .away = true, .lost_told = true, .observed = UP, .deadline_s = 100 },
	  "",
	  0 },
	/* Fails with: ends that are stored with the outcome alone: of a worker that had ended nothing was told for hours. */
	{ "a worker ended, the master goes on",
	  { .state = JOB_RUNNING,
	    FOLLOWED,
	    .observed = { OBSERVED_RUNNING, OBSERVED_EXITED },
	    .end = { 0, END_EXIT },
	    .deadline_s = 120 },
	  "RUNNING ended 1;",
	  120 },
	{ "a worker ended, which was stored",
	  { .state = JOB_RUNNING,
	    FOLLOWED,
	    .observed = { OBSERVED_RUNNING, OBSERVED_EXITED },
	    .end = { 0, END_EXIT },
	    .journaled = { 0, JOURNALED_END } },
	  "",
	  0 },
	{ "fails by an end that was stored",
	  { .state = JOB_RUNNING,
	    FOLLOWED,
	    .observed = { OBSERVED_EXITED, OBSERVED_RUNNING },
	    .end = { END_EXIT },
	    .exit_code = { 1 },
	    .journaled = { JOURNALED_END } },
	  "RUNNING decides FAILED; blamed 0;",
	  0 },
	/* Fails with: note_blame() without note_end(): what the engine refused was in no journal. */
	{ "refused",
	  { .state = JOB_PREPARING,
	    .fetched = true,
	    .observed = { OBSERVED_CREATED },
	    .end = { 0, END_REFUSED } },
	  "PREPARING decides FAILED; ended 1; blamed 1;",
	  0 },
	{ "fails",
	  { .state = JOB_RUNNING,
	    FOLLOWED,
	    .observed = { OBSERVED_EXITED, OBSERVED_RUNNING },
	    .end = { END_EXIT },
	    .exit_code = { 1 } },
	  "RUNNING decides FAILED; ended 0; blamed 0;",
	  0 },
	{ "one lost a moment ago",
	  { .state = JOB_RUNNING, FOLLOWED, .observed = UP, .end = { 0, END_LOST }, .lost_s = 99 },
	  "RUNNING ended 1;",
	  109 },
	/* Fails with: decide_wake_us() with what was due already: looked at again and again. */
	{ "one lost, its container still there and unread",
	  { .state = JOB_RUNNING,
	    FOLLOWED,
	    .observed = { OBSERVED_RUNNING, OBSERVED_EXITED },
	    .end = { 0, END_LOST },
	    .lost_s = 90 },
	  "RUNNING ended 1;",
	  0 },
	{ "one lost, its container still there",
	  { .state = JOB_RUNNING,
	    READ,
	    .observed = { OBSERVED_RUNNING, OBSERVED_EXITED },
	    .end = { 0, END_LOST },
	    .lost_s = 90 },
	  "remove 1; RUNNING ended 1;",
	  0 },
	{ "one lost and gone",
	  { .state = JOB_RUNNING,
	    READ,
	    .observed = { OBSERVED_RUNNING },
	    .end = { 0, END_LOST },
	    .lost_s = 90 },
	  "RUNNING ended 1; restarted 1 as 1; says 1;",
	  0 },
	/* Fails with: decide_restart() without it: it ran on, and was not restarted either. */
	{ "one lost, which runs after all",
	  { .state = JOB_RUNNING,
	    READ,
	    .observed = UP,
	    .end = { 0, END_LOST },
	    .lost_s = 90,
	    .journaled = { JOURNALED_MADE, JOURNALED_END } },
	  "remove 1;",
	  0 },
	/* Fails with: job_run_restarts() without its look at the node: it was made on the lost node for ever. */
	{ "one lost with its node",
	  { .state = JOB_RUNNING,
	    READ,
	    .lost = true,
	    .observed = { OBSERVED_RUNNING },
	    .end = { 0, END_LOST },
	    .journaled = { JOURNALED_MADE, JOURNALED_END } },
	  "RUNNING decides PREPARING; blamed 1; says 1;",
	  0 },
	{ "a difference is not stored",
	  { .state = JOB_RUNNING, FOLLOWED, .observed = UP, .differs = true },
	  "RUNNING;",
	  0 },
	{ "ending, engine away", { .state = JOB_RUNNING, .outcome = JOB_SUCCEEDED, .away = true }, "", 0 },
	{ "ending, one runs",
	  { .state = JOB_RUNNING,
	    .outcome = JOB_SUCCEEDED,
	    READ,
	    .observed = { OBSERVED_EXITED, OBSERVED_RUNNING } },
	  "remove 0; stop 1 in 5 s;",
	  0 },
	{ "cancelled while it runs",
	  { .state = JOB_CANCELLING, .outcome = JOB_CANCELLED, FOLLOWED, .observed = UP },
	  "stop 0 in 30 s; stop 1 in 30 s;",
	  0 },
	{ "ending, one asked to stop",
	  { .state = JOB_RUNNING,
	    .outcome = JOB_SUCCEEDED,
	    .given = GIVEN(ORDER_FOLLOW) | GIVEN(ORDER_STOP),
	    .read = true,
	    .observed = { OBSERVED_EXITED, OBSERVED_RUNNING } },
	  "remove 0;",
	  0 },
	{ "ending, output unread",
	  { .state = JOB_RUNNING, .outcome = JOB_FAILED, FOLLOWED, .observed = ENDED },
	  "",
	  0 },
	{ "failed, not explained",
	  { .state = JOB_RUNNING,
	    .outcome = JOB_FAILED,
	    .given = GIVEN(ORDER_REMOVE),
	    .read = true,
	    .observed = ENDED },
	  "RUNNING explains says 1;",
	  0 },
	{ "failed by its worker, not explained",
	  { .state = JOB_RUNNING,
	    .outcome = JOB_FAILED,
	    .given = GIVEN(ORDER_REMOVE),
	    .read = true,
	    .observed = ENDED,
	    .end = { END_EXIT, END_EXIT },
	    .exit_code = { 143, 1 },
	    .journaled = { 0, JOURNALED_BLAME } },
	  "RUNNING explains by 1 says 1;",
	  0 },
	{ "stopped with the job",
	  { .state = JOB_RUNNING,
	    .outcome = JOB_SUCCEEDED,
	    READ,
	    .observed = ENDED,
	    .end = { END_EXIT, END_EXIT },
	    .exit_code = { 0, 143 },
	    .journaled = { JOURNALED_BLAME, JOURNALED_MADE } },
	  "remove 0; remove 1; RUNNING ended 1;",
	  0 },
	{ "going",
	  { .state = JOB_RUNNING,
	    .outcome = JOB_FAILED,
	    .explained = true,
	    .given = GIVEN(ORDER_REMOVE),
	    .read = true,
	    .observed = { OBSERVED_EXITED } },
	  "",
	  0 },
	{ "gone",
	  { .state = JOB_RUNNING, .outcome = JOB_FAILED, .explained = true },
	  "RUNNING closes says 2;",
	  0 },
	{ "gone, to be tried again",
	  { .state = JOB_RUNNING, .outcome = JOB_PREPARING },
	  "PREPARING retries;",
	  0 },
	{ "lost, to be tried again later",
	  { .state = JOB_RUNNING, .outcome = JOB_PREPARING, .end = { END_LOST } },
	  "PREPARING retries, rests until 110;",
	  0 },
	{ "lost with its node, to be tried again on another",
	  { .state = JOB_RUNNING, .outcome = JOB_PREPARING, .lost = true, .end = { END_LOST, END_LOST } },
	  "PREPARING retries gives up its place, rests until 110;",
	  0 },
	{ "to be tried again on the same network",
	  { .state = JOB_RUNNING, .outcome = JOB_PREPARING, .network = NETWORK_READY },
	  "PREPARING retries;",
	  0 },
	{ "still being created when cancelled",
	  { .state = JOB_CANCELLING,
	    .outcome = JOB_CANCELLED,
	    .explained = true,
	    .observed = { OBSERVED_CREATING } },
	  "",
	  0 },
	{ "nothing runs, the container is going",
	  { .state = JOB_RUNNING,
	    .outcome = JOB_SUCCEEDED,
	    .network = NETWORK_READY,
	    .given = GIVEN(ORDER_REMOVE),
	    .read = true,
	    .observed = ENDED },
	  "leave the network;",
	  0 },
	{ "one still runs",
	  { .state = JOB_RUNNING,
	    .outcome = JOB_SUCCEEDED,
	    .network = NETWORK_READY,
	    .given = GIVEN(ORDER_REMOVE) | GIVEN(ORDER_STOP),
	    .read = true,
	    .observed = { OBSERVED_EXITED, OBSERVED_RUNNING } },
	  "",
	  0 },
	{ "cancelled while its network is made",
	  { .state = JOB_CANCELLING,
	    .outcome = JOB_CANCELLED,
	    .explained = true,
	    .network = NETWORK_CREATING },
	  "leave the network;",
	  0 },
	{ "closed, network still there",
	  { .state = JOB_RUNNING, .outcome = JOB_SUCCEEDED, .torn_down = true, .network = NETWORK_READY },
	  "await last words; leave the network;",
	  0 },
	{ "closed, last words unread",
	  { .state = JOB_RUNNING, .outcome = JOB_SUCCEEDED, .torn_down = true, .last_words = OUTPUT_ENDED },
	  "",
	  0 },
	{ "closed, all gone",
	  { .state = JOB_RUNNING, .outcome = JOB_SUCCEEDED, .torn_down = true, .last_words = OUTPUT_STORED },
	  "SUCCEEDED;",
	  0 },
	{ "closed in the queue, engine away",
	  { .state = JOB_CANCELLING,
	    .outcome = JOB_CANCELLED,
	    .never_left = true,
	    .away = true,
	    .torn_down = true,
	    .last_words = OUTPUT_STORED },
	  "CANCELLED;",
	  0 },
	{ "cancelled in the queue, engine away",
	  { .state = JOB_CANCELLING, .outcome = JOB_CANCELLED, .never_left = true, .away = true },
	  "CANCELLING;",
	  0 },
};

static void orders_write(struct text *text, const struct decision *decision)
{
	static const char *const verbs[] = { [ORDER_STOP] = "stop",
					     [ORDER_REMOVE] = "remove",
					     [ORDER_FOLLOW] = "follow",
					     [ORDER_LINK] = "link",
					     [ORDER_CREATE] = "create",
					     [ORDER_START] = "start",
					     [ORDER_IMAGE] = "image",
					     [ORDER_NETWORK] = "network",
					     [ORDER_LEAVE] = "leave the network",
					     [ORDER_GATEWAY_OPEN] = "open the gateway",
					     [ORDER_GATEWAY_CLOSE] = "close the gateway",
					     [ORDER_LAST_WORDS] = "await last words" };

	for (size_t i = 0; i < decision->order_count; i++) {
		const struct order *order = &decision->orders[i];

		text_printf(text, "%s", verbs[order->verb]);
		if (order->verb <= ORDER_IMAGE)
			text_printf(text, " %u", order->of);
		if (order->verb == ORDER_STOP)
			text_printf(text, " in %u s", order->how);
		text_puts(text, "; ");
	}
}

/* The decision as a text. */
static char *decision_text(const struct decision *decision)
{
	const struct job_change *change = &decision->change;
	struct text text AUTO_TEXT = { 0 };

	orders_write(&text, decision);
	if (decision->stores)
		text_puts(&text, job_state_name(change->to));
	if (change->announces)
		text_puts(&text, " announces");
	if (change->decides)
		text_printf(&text, " decides %s;", job_state_name(change->outcome));
	if (change->retries)
		text_puts(&text, " retries");
	if (change->tears_down)
		text_puts(&text, " closes");
	if (decision->change.returns_leases)
		text_puts(&text, " gives up its place");
	if (decision->explains)
		text_puts(&text, " explains");
	if (decision->culprit)
		text_printf(&text, " by %d", (int)decision->culprit->key.role);
	if (decision->hold_until_us)
		text_printf(&text, ", rests until %d", (int)(decision->hold_until_us / S));
	for (size_t i = 0; i < decision->journal_count; i++) {
		const struct journal_row *row = &decision->journal[i];

		if (row->kind == JOURNAL_RESTARTED)
			text_printf(&text, " restarted %d as %u;", row->role, row->restart);
		else
			text_printf(&text, " %s %d;",
				    row->kind == JOURNAL_MADE    ? "made"
				    : row->kind == JOURNAL_ENDED ? "ended"
								 : "blamed",
				    row->role);
	}
	if (decision->says.count)
		text_printf(&text, " says %zu", decision->says.count);
	text_puts(&text, "");
	while (text.length && strchr("; ", text.data[text.length - 1]))
		text.data[--text.length] = '\0';
	if (text.length)
		text_putc(&text, ';');
	return text_take(&text);
}

static void orders_give(struct orders *orders, unsigned given)
{
	for (unsigned order = 0; order < ORDERS_KEPT; order++)
		if (given & GIVEN(order))
			order_give(orders, order);
}

static enum status no_gateway(void *arg, const struct gateway_request *request,
			      struct gateway_address *ret_place, struct error *err)
{
	(void)arg, (void)request, (void)ret_place;
	return error_set(err, STATUS_INTERNAL, NULL, "a decision opens no gateway");
}

static bool row_holds(const struct row *row)
{
	const struct facts *facts = &row->facts;
	AUTO(plan) struct plan *plan = plan_named("p", "j");
	struct job stored = { .id = 1,
			      .state = facts->state,
			      .outcome = facts->outcome,
			      .attempt = 1,
			      .announced = facts->announced,
			      .started_us = facts->state != JOB_QUEUED && !facts->never_left,
			      .running_us = facts->state == JOB_RUNNING,
			      .torn_down = facts->torn_down,
			      .error_message = facts->explained ? (char *)"Why." : NULL };
	struct replica_run replicas[2] = { 0 };
	struct job_node on = { .observation = 1, .listed_in = !facts->away, .is_lost = facts->lost };
	struct job_run run = { .row = &stored,
			       .plan = plan,
			       .replicas = replicas,
			       .replica_count = 2,
			       .nodes = &on,
			       .node_count = 1,
			       .network = facts->fetched ? NETWORK_READY : facts->network,
			       .gateway.observed = facts->open ? GATEWAY_OPEN : GATEWAY_CLOSED,
			       .fault = facts->faulty ? (char *)"It cannot run." : NULL,
			       .fault_code = STATUS_RESOURCE_EXHAUSTED,
			       .last_words = facts->last_words,
			       .deadline_us = facts->deadline_s ? facts->deadline_s * S : INT64_MAX,
			       .lost_at_us = facts->lost_s * S,
			       .hold_until_us = facts->held_s * S,
			       .logged_loss = facts->lost_told,
			       .logged_loss_in = facts->state,
			       .differs = facts->differs };
	const struct reconciler reconciler = { .stop_grace_s = 30,
					       .retry_pause_ms = 10000,
					       .gateway.open = facts->gateway ? no_gateway : NULL };
	const struct decision_context context = { .reconciler = &reconciler,
						  .wall_us = 5000 * S,
						  .mono_us = 100 * S,
						  .engine_away = facts->away ? "gone" : NULL,
						  .engine_loss = 1 };
	struct decision decision;
	AUTO(string) char *decided = NULL;
	bool holds;

	plan->pools[ROLE_MASTER] = (struct pool){ .count = 1, .image = strdup("image:1") };
	plan->pools[ROLE_WORKER] = (struct pool){ .count = 1, .image = strdup("image:2") };
	for (unsigned i = 0; i < 2; i++) {
		replicas[i] = (struct replica_run){ .key = { 1, 1, (enum role)i, 0, 0 },
						    .observed = facts->observed[i],
						    .journaled = facts->journaled[i] ? facts->journaled[i]
								 : facts->outcome    ? JOURNALED_END
										     : JOURNALED_MADE,
						    .end = facts->end[i],
						    .exit_code = facts->exit_code[i],
						    .output = facts->read ? OUTPUT_STORED : OUTPUT_OPEN };
		orders_give(&replicas[i].orders, facts->given);
		on.image_ids[i] = facts->fetched ? (char *)"id" : NULL;
		if (facts->asked)
			order_give(&on.images, i);
	}
	decision = job_decide(&run, &context);
	decided = decision_text(&decision);
	holds = strcmp(decided, row->decided) == 0 &&
		decision.wake_at_us == (row->wake_s ? row->wake_s * S : INT64_MAX);
	if (!holds)
		print_error("%s: \"%s\", not \"%s\"; wakes at %.1f s\n", row->what, decided, row->decided,
			    (double)decision.wake_at_us / 1e6);
	decision_deinit(&decision);
	return holds;
}

static void what_is_decided_follows_from_facts_and_what_is_seen(void **state)
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
		cmocka_unit_test(what_is_decided_follows_from_facts_and_what_is_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
