/* SPDX-License-Identifier: Apache-2.0 */
/* Tests scheduler/engine/docker.c and its parts while there is no memory: they wait for some, and go on. */
#include <limits.h>
#include <stdatomic.h>

#include "daemon/base/memory.h"
#include "scheduler/engine/docker_core.h"
#include "tests/support/memory_faults.h"
#include "tests/unit/scheduler/engine/docker_testing.h"

static struct lab *the_lab;
static atomic_uint noted; /* how often memory was missed */
static bool caught_up;

void __real_memory_note_failure(void);
void __wrap_memory_note_failure(void);
void __wrap_memory_note_failure(void)
{
	__real_memory_note_failure();
	atomic_fetch_add(&noted, 1);
	pthread_cond_broadcast(&the_lab->changed);
}

static bool was_noted(struct lab *lab, void *arg)
{
	(void)lab;
	return atomic_load(&noted) >= *(unsigned *)arg;
}

static bool has_caught_up(struct lab *lab, void *arg)
{
	(void)lab;
	(void)arg;
	return caught_up;
}

/* All askings from the @first on find nothing. */
static void memory_end(struct lab *lab, unsigned first)
{
	the_lab = lab;
	atomic_store(&noted, 0);
	memory_faults_begin(first, UINT_MAX - first);
}

/* Waits until memory was missed so many times. */
static void expect_noted(struct lab *lab, unsigned times)
{
	bool came;

	pthread_mutex_lock(&lab->lock);
	came = changes_await(lab, was_noted, &times);
	pthread_mutex_unlock(&lab->lock);
	assert_true(came);
}

static void catch_up_run(struct docker *docker, struct command *command)
{
	struct lab *lab = command->arg;

	(void)docker;
	pthread_mutex_lock(&lab->lock);
	caught_up = true;
	pthread_cond_broadcast(&lab->changed);
	pthread_mutex_unlock(&lab->lock);
}

/* Waits until all that was ordered so far is begun. @command: from the heap, zeroed. */
static void catch_up(struct lab *lab, struct command *command)
{
	bool came;

	caught_up = false;
	command->run = catch_up_run;
	command->arg = lab;
	docker_hand_over((struct docker *)lab->engine, command);
	pthread_mutex_lock(&lab->lock);
	came = changes_await(lab, has_caught_up, NULL);
	pthread_mutex_unlock(&lab->lock);
	assert_true(came);
}

enum { PINGS = 20 };

/* Broken: docker_after() with timers from the heap, which fired at once when there was none: a ping without memory pinged
 * anew out of its own end, until the stack was used up.
 * Broken: backoff_take() that takes such a ping for a loss of the engine: so many took a minute and a half. */
static void an_engine_that_is_lost_while_there_is_no_memory_is_found_again(void **state)
{
	struct command *command = calloc(1, sizeof(*command));
	struct lab *lab = *state;

	up(lab);
	memory_end(lab, 1);
	lab->engine->ops->list(lab->engine); /* a lost order loses the engine */
	expect_event(lab, ENGINE_DOWN);
	expect_noted(lab, PINGS + 1); /* the order, too */
	catch_up(lab, command);
	assert_true(memory_faults_end());
	expect_event(lab, ENGINE_UP);
	expect_event(lab, ENGINE_LISTING);
}

/* Broken: likewise: a follower asked again out of the end of what it asked. */
static void a_stream_that_is_lost_while_there_is_no_memory_is_read_on(void **state)
{
	struct command *command = calloc(1, sizeof(*command));
	static const struct log_position beginning;
	struct lab *lab = *state;

	rule_set(lab, 0, (struct rule){ "/logs", 500, "{}" });
	up(lab);
	lab->engine->ops->follow_logs(lab->engine, &master, &beginning);
	expect_asked(lab, 0, 1);
	memory_end(lab, 1);
	expect_noted(lab, 2);
	catch_up(lab, command);
	assert_true(memory_faults_end());
	rule_set(lab, 0, (struct rule){ NULL }); /* it is gone */
	expect_event(lab, ENGINE_LOGS_ENDED);
	assert_int_equal(events_count(lab, ENGINE_DOWN), 0);
}

/* Broken: likewise: a listing began anew out of its own beginning. */
static void a_listing_that_is_asked_for_while_there_is_no_memory_comes(void **state)
{
	struct command *command = calloc(1, sizeof(*command));
	struct lab *lab = *state;

	up(lab);
	memory_end(lab, 2); /* there is some for the order */
	lab->engine->ops->list(lab->engine);
	catch_up(lab, command);
	assert_true(memory_faults_end());
	expect_event(lab, ENGINE_LISTING);
	assert_int_equal(events_count(lab, ENGINE_DOWN), 0);
}

/* Broken: docker_post() that tells only the engine: the scheduler waited for what it took for asked. */
static void who_orders_what_finds_no_memory_is_told(void **state)
{
	struct lab *lab = *state;
	bool missed;

	up(lab);
	memory_watch_begin();
	memory_end(lab, 1);
	lab->engine->ops->start_replica(lab->engine, &master);
	assert_true(memory_faults_end());
	missed = memory_watch_end();
	assert_true(missed);
	expect_event(lab, ENGINE_DOWN);
	expect_event(lab, ENGINE_UP);
}

static bool line_was_refused(struct lab *lab, void *arg)
{
	(void)arg;
	return lab->refused > 0;
}

/* Broken: resume_logs() with a command, which was lost: the output stood still for good. */
static void an_output_that_is_held_goes_on_without_memory(void **state)
{
	static const char body[] = "\1\0\0\0\0\0\0\41"
				   "2026-11-20T21:29:51.000000001Z a\n";
	static const struct log_position beginning;
	struct lab *lab = *state;
	bool refused;

	rule_set(lab, 0, (struct rule){ "/logs", 200, body, .length = sizeof(body) - 1 });
	rule_set(lab, 1, (struct rule){ "/ty-t-1-master-0-a1/json", 200, EXITED_MASTER });
	up(lab);
	lab->room = 0;
	lab->engine->ops->follow_logs(lab->engine, &master, &beginning);
	pthread_mutex_lock(&lab->lock);
	refused = changes_await(lab, line_was_refused, NULL);
	lab->room = -1;
	pthread_mutex_unlock(&lab->lock);
	assert_true(refused);
	the_lab = lab;
	memory_faults_begin(1, 1);
	lab->engine->ops->resume_logs(lab->engine);
	expect_event(lab, ENGINE_LOGS_ENDED);
	memory_faults_end();
	assert_int_equal(events_count(lab, ENGINE_DOWN), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		LAB_TEST(an_engine_that_is_lost_while_there_is_no_memory_is_found_again),
		LAB_TEST(a_stream_that_is_lost_while_there_is_no_memory_is_read_on),
		LAB_TEST(a_listing_that_is_asked_for_while_there_is_no_memory_comes),
		LAB_TEST(who_orders_what_finds_no_memory_is_told),
		LAB_TEST(an_output_that_is_held_goes_on_without_memory),
	};

	memory_faults_init();
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("docker without memory", tests, start, NULL);
}
