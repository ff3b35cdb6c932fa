/* SPDX-License-Identifier: Apache-2.0 */
/* Tests daemon/gcs/gcs_caller.c, and that gcs_client.c waits for who has no network, with a child that has taken a
 * network of its own, as a container's is when it was cut off. */
#include "daemon/gcs/gcs_caller.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/gcs/gcs_client.h"
#include "tests/unit/testing.h"

enum { PATIENCE_S = 600, ASKING = GCS_CUT_MAX + 1 };

static pid_t child; /* 0: there may be none here */

static void child_be(int ready)
{
	const char told = unshare(CLONE_NEWNET) == 0;

	if (write(ready, &told, 1) == 1)
		for (;;)
			pause();
	_exit(1);
}

static int child_start(void **state)
{
	int ends[2];
	char told = 0;

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0)
		child_be(ends[1]);
	assert_int_equal(read(ends[0], &told, 1), 1);
	close(ends[0]);
	close(ends[1]);
	if (told)
		return 0;
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	child = 0;
	return 0;
}

static int child_end(void **state)
{
	(void)state;
	if (child) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	return 0;
}

/* Broken: gcs_caller_is_cut() that is always false. */
static void who_has_a_network_is_told_from_who_has_none(void **state)
{
	(void)state;
	assert_false(gcs_caller_is_cut(0));
	assert_false(gcs_caller_is_cut(getpid()));
	assert_int_equal(gcs_caller_pause(getpid(), 1), 0);
	if (!child)
		skip();
	assert_true(gcs_caller_is_cut(child));
	assert_false(gcs_caller_is_killed(child));
	assert_int_equal(gcs_caller_pause(child, 1), 0);
}

/* Broken: ask() without gcs_client_reach(). */
static void nothing_is_waited_for_when_the_time_is_over(void **state)
{
	struct gcs_client *client = gcs_client_new(AT_FDCWD, 0);

	(void)state;
	assert_non_null(client);
	assert_int_equal(gcs_client_reach(client, getpid()), 0);
	if (child) {
		assert_int_equal(gcs_client_reach(client, child), -EIO);
		assert_int_equal(gcs_ask_object(client, child, "b", "o"), -EIO);
		assert_int_equal(gcs_ask_list(client, child, "b"), -EIO);
	}
	gcs_client_free(client);
}

struct asking {
	struct gcs_client *client;
	sem_t over;
	int problems[ASKING];
	unsigned count;
};

static void *ask(void *arg)
{
	struct asking *asking = arg;
	const int problem = gcs_client_reach(asking->client, child);

	asking->problems[__atomic_fetch_add(&asking->count, 1, __ATOMIC_RELAXED)] = problem;
	sem_post(&asking->over);
	return NULL;
}

/* Broken: gcs_client_reach() without GCS_CUT_MAX: all wait. */
static void some_wait_until_they_are_killed_and_leave_room_for_others(void **state)
{
	struct asking asking = { .client = gcs_client_new(AT_FDCWD, PATIENCE_S) };
	pthread_t threads[ASKING];

	(void)state;
	assert_non_null(asking.client);
	if (!child) {
		gcs_client_free(asking.client);
		skip();
	}
	sem_init(&asking.over, 0, 0);
	for (size_t i = 0; i < ASKING; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, ask, &asking), 0);
	sem_wait(&asking.over);
	assert_int_equal(asking.problems[0], -EIO);
	kill(child, SIGKILL); /* it stays as what is left of it until it is waited for */
	for (size_t i = 0; i < ASKING; i++)
		pthread_join(threads[i], NULL);
	for (size_t i = 1; i < ASKING; i++)
		assert_true(asking.problems[i] == -EINTR || asking.problems[i] == 0);
	assert_true(gcs_caller_is_killed(child));
	sem_destroy(&asking.over);
	gcs_client_free(asking.client);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_has_a_network_is_told_from_who_has_none),
		cmocka_unit_test(nothing_is_waited_for_when_the_time_is_over),
		cmocka_unit_test(some_wait_until_they_are_killed_and_leave_room_for_others),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("gcs_caller", tests, child_start, child_end);
}
