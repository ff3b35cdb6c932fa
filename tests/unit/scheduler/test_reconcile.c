/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/reconcile.h"
#include "tests/unit/testing.h"

#define BASE                .touched = true, .sighted = true, .total = 2
#define FETCHED             .images_ready = true, .images_asked = true, .network = NETWORK_READY
#define SEEN(sight, number) .count[SEEN_##sight] = number
#define MISSING(number)     .count[SEEN_NOTHING] = number, .missing = number

struct row {
	const char *what;
	struct job_view view;
	enum step step;
};

static const struct row rows[] = {
	{ "final", { BASE, .state = JOB_SUCCEEDED, .verdict = JOB_SUCCEEDED }, STEP_NONE },
	{ "queued, no room", { .state = JOB_QUEUED, .total = 2 }, STEP_NONE },
	{ "queued, cannot run", { .state = JOB_QUEUED, .decided = true, .total = 2 }, STEP_JUDGE },
	{ "queued too long", { .state = JOB_QUEUED, .expired = true, .total = 2 }, STEP_EXPIRE },
	{ "preparing, engine away",
	  { .state = JOB_PREPARING, .touched = true, .total = 2, MISSING(2) },
	  STEP_NONE },
	{ "nothing there", { BASE, .state = JOB_PREPARING, MISSING(2) }, STEP_FETCH },
	{ "asked for",
	  { BASE, .state = JOB_PREPARING, MISSING(2), .images_asked = true, .network = NETWORK_CREATING },
	  STEP_NONE },
	{ "images there, no network",
	  { BASE, .state = JOB_PREPARING, MISSING(2), .images_asked = true, .images_ready = true },
	  STEP_FETCH },
	{ "all fetched", { BASE, FETCHED, .state = JOB_PREPARING, MISSING(2) }, STEP_CREATE },
	{ "all fetched, the gateway not open yet",
	  { BASE, FETCHED, .state = JOB_PREPARING, MISSING(2), .gateway_awaited = true },
	  STEP_NONE },
	{ "one missing after a crash",
	  { BASE, FETCHED, .state = JOB_PREPARING, MISSING(1), SEEN(RUNNING, 1) },
	  STEP_CREATE },
	{ "being created",
	  { BASE, FETCHED, .state = JOB_PREPARING, SEEN(CREATING, 1), SEEN(CREATED, 1) },
	  STEP_NONE },
	{ "all created", { BASE, FETCHED, .state = JOB_PREPARING, SEEN(CREATED, 2) }, STEP_START },
	{ "one created, one runs, adopted",
	  { BASE, .state = JOB_PREPARING, SEEN(CREATED, 1), SEEN(RUNNING, 1) },
	  STEP_START },
	{ "being started",
	  { BASE, FETCHED, .state = JOB_PREPARING, SEEN(STARTING, 1), SEEN(RUNNING, 1) },
	  STEP_NONE },
	{ "all up", { BASE, FETCHED, .state = JOB_PREPARING, SEEN(RUNNING, 2) }, STEP_DECLARE_RUNNING },
	{ "one up, one done already",
	  { BASE, FETCHED, .state = JOB_PREPARING, SEEN(RUNNING, 1), SEEN(EXITED, 1) },
	  STEP_DECLARE_RUNNING },
	{ "one ended and was removed by somebody",
	  { BASE, FETCHED, .state = JOB_PREPARING, SEEN(RUNNING, 1), SEEN(NOTHING, 1) },
	  STEP_DECLARE_RUNNING },
	{ "decided while preparing",
	  { BASE, FETCHED, .state = JOB_PREPARING, SEEN(STARTING, 1), SEEN(EXITED, 1), .decided = true },
	  STEP_JUDGE },
	{ "runs", { BASE, .state = JOB_RUNNING, SEEN(RUNNING, 2) }, STEP_NONE },
	{ "runs too long", { BASE, .state = JOB_RUNNING, SEEN(RUNNING, 2), .expired = true }, STEP_EXPIRE },
	{ "runs too long, engine away",
	  { .touched = true, .state = JOB_RUNNING, .total = 2, .expired = true },
	  STEP_EXPIRE },
	/* Broken: EXPIRE before JUDGE: what was ordered to end was told, and the job cancelled for its limit. */
	{ "ended as its limit passed",
	  { BASE, .state = JOB_RUNNING, SEEN(EXITED, 2), .decided = true, .expired = true },
	  STEP_JUDGE },
	{ "queued too long, cannot run",
	  { .state = JOB_QUEUED, .decided = true, .expired = true, .total = 2 },
	  STEP_JUDGE },
	{ "decided",
	  { BASE, .state = JOB_RUNNING, SEEN(RUNNING, 1), SEEN(EXITED, 1), .decided = true },
	  STEP_JUDGE },
	{ "ending, engine away",
	  { .touched = true, .state = JOB_RUNNING, .verdict = JOB_SUCCEEDED, .total = 2 },
	  STEP_NONE },
	{ "ending, one runs",
	  { BASE, .state = JOB_RUNNING, .verdict = JOB_SUCCEEDED, SEEN(RUNNING, 1), SEEN(EXITED, 1),
	    .stoppable = 1, .removable = 1 },
	  STEP_STOP },
	{ "ending, one asked to stop",
	  { BASE, .state = JOB_RUNNING, .verdict = JOB_SUCCEEDED, SEEN(RUNNING, 1), SEEN(EXITED, 1),
	    .removable = 1 },
	  STEP_REMOVE },
	{ "ending, output unread",
	  { BASE, .state = JOB_RUNNING, .verdict = JOB_FAILED, SEEN(EXITED, 2), .unread = 1 },
	  STEP_NONE },
	{ "failed, not explained",
	  { BASE, .state = JOB_RUNNING, .verdict = JOB_FAILED, SEEN(EXITED, 2) },
	  STEP_EXPLAIN },
	{ "going",
	  { BASE, .state = JOB_RUNNING, .verdict = JOB_FAILED, .explained = true, SEEN(EXITED, 1),
	    SEEN(NOTHING, 1) },
	  STEP_NONE },
	{ "gone",
	  { BASE, .state = JOB_RUNNING, .verdict = JOB_FAILED, .explained = true, SEEN(NOTHING, 2) },
	  STEP_CLOSE },
	{ "gone, to be tried again",
	  { BASE, .state = JOB_RUNNING, .verdict = JOB_PREPARING, .explained = true, SEEN(NOTHING, 2) },
	  STEP_RETRY },
	{ "still being created when cancelled",
	  { BASE, .state = JOB_CANCELLING, .verdict = JOB_CANCELLED, .explained = true, SEEN(CREATING, 1),
	    SEEN(NOTHING, 1) },
	  STEP_NONE },
	{ "nothing runs, the container is going",
	  { BASE, .state = JOB_RUNNING, .verdict = JOB_SUCCEEDED, .explained = true, .network = NETWORK_READY,
	    SEEN(EXITED, 2) },
	  STEP_LEAVE },
	{ "one still runs",
	  { BASE, .state = JOB_RUNNING, .verdict = JOB_SUCCEEDED, .explained = true, .network = NETWORK_READY,
	    SEEN(EXITED, 1), SEEN(RUNNING, 1) },
	  STEP_NONE },
	{ "to be tried again on the same network",
	  { BASE, .state = JOB_RUNNING, .verdict = JOB_PREPARING, .explained = true, .network = NETWORK_READY,
	    SEEN(NOTHING, 2) },
	  STEP_RETRY },
	{ "cancelled while its network is made",
	  { BASE, .state = JOB_CANCELLING, .verdict = JOB_CANCELLED, .explained = true,
	    .network = NETWORK_CREATING, SEEN(NOTHING, 2) },
	  STEP_LEAVE },
	{ "closed, network still there",
	  { BASE, .state = JOB_RUNNING, .verdict = JOB_SUCCEEDED, .explained = true, .torn_down = true,
	    .network = NETWORK_READY, SEEN(NOTHING, 2) },
	  STEP_LEAVE },
	{ "closed, last words unread",
	  { BASE, .state = JOB_RUNNING, .verdict = JOB_SUCCEEDED, .explained = true, .torn_down = true },
	  STEP_NONE },
	{ "closed, all gone",
	  { BASE, .state = JOB_RUNNING, .verdict = JOB_SUCCEEDED, .explained = true, .torn_down = true,
	    .last_words_stored = true },
	  STEP_FINISH },
	{ "cancelled in the queue, engine away",
	  { .state = JOB_CANCELLING, .verdict = JOB_CANCELLED, .total = 2 },
	  STEP_EXPLAIN },
	{ "cancelled in the queue, explained",
	  { .state = JOB_CANCELLING, .verdict = JOB_CANCELLED, .total = 2, .explained = true },
	  STEP_CLOSE },
	{ "cancelled in the queue, closed",
	  { .state = JOB_CANCELLING,
	    .verdict = JOB_CANCELLED,
	    .total = 2,
	    .explained = true,
	    .torn_down = true,
	    .last_words_stored = true },
	  STEP_FINISH },
};

static void the_next_step_follows_from_what_is_wanted_and_seen(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		enum step step = reconcile_next(&rows[i].view);

		if (step != rows[i].step)
			fail_msg("%s: %s instead of %s", rows[i].what, step_name(step),
				 step_name(rows[i].step));
	}
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_next_step_follows_from_what_is_wanted_and_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
