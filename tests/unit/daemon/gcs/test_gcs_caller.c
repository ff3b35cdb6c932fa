/* SPDX-License-Identifier: Apache-2.0 */
/* Tests daemon/gcs/gcs_caller.c and gcs_wait.c with a child process in its own network namespace, like that of a
 * container that was cut off. */
#include "daemon/gcs/gcs_caller.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/base/clock.h"
#include "daemon/gcs/gcs_client.h"
#include "daemon/gcs/gcs_endpoint.h"
#include "daemon/gcs/gcs_wait.h"
#include "tests/unit/testing.h"

enum { PATIENCE_S = 600, ASKING = GCS_PLACES + 1, US_PER_S = 1000000 };

static pid_t child; /* 0: this machine does not allow it */

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

/* Fails with: gcs_caller_is_cut() that is always false. */
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

/* Whether this machine has any route. Without one, a process without special rights considers no other cut off. */
static bool has_route(void)
{
	FILE *file = fopen("/proc/self/net/route", "re");
	char line[512];
	unsigned lines = 0;

	while (file && fgets(line, sizeof(line), file))
		lines++;
	if (file)
		fclose(file);
	return lines > 1;
}

/* Fails with: has_own_network() that takes EACCES for no (as it was): without root no process is found cut off. */
static void who_may_not_look_goes_by_routes(void **state)
{
	enum { NOBODY = 65534 };
	const pid_t own = getpid();
	pid_t looking;
	int status;

	(void)state;
	if (!child || geteuid() != 0)
		skip();
	looking = fork();
	assert_true(looking >= 0);
	if (looking == 0)
		_exit(setresuid(NOBODY, NOBODY, NOBODY) != 0    ? 3
		      : gcs_caller_is_cut(own)                  ? 2
		      : gcs_caller_is_cut(child) == has_route() ? 0
								: 1);
	waitpid(looking, &status, 0);
	assert_int_equal(status, 0);
}

static pid_t ended_start(bool by_signal)
{
	const pid_t ended = fork();
	siginfo_t info;

	assert_true(ended >= 0);
	if (ended == 0) {
		if (by_signal)
			raise(SIGKILL);
		_exit(3);
	}
	assert_int_equal(waitid(P_PID, (id_t)ended, &info, WEXITED | WNOWAIT), 0);
	return ended;
}

/* Fails with: is_ended_by_signal() that looks at nothing: a program that is killed while it stores is waited for.
 * Fails with: gcs_caller_is_ending() that is always false. */
static void who_ends_is_told_from_who_is_killed(void **state)
{
	const pid_t ended = ended_start(false), killed = ended_start(true);

	(void)state;
	assert_true(gcs_caller_is_ending(ended));
	assert_false(gcs_caller_is_killed(ended));
	assert_true(gcs_caller_is_killed(killed));
	assert_false(gcs_caller_is_ending(getpid()));
	assert_false(gcs_caller_is_killed(getpid()));
	assert_false(gcs_caller_is_ending(0));
	waitpid(ended, NULL, 0);
	waitpid(killed, NULL, 0);
}

static char state_dir[] = "/tmp/ty-test-gcs-wait-XXXXXX";

/* Makes the state directory of a daemon with fault rules. */
static int state_make(void)
{
	int fd;

	memcpy(state_dir + sizeof(state_dir) - sizeof("XXXXXX"), "XXXXXX", sizeof("XXXXXX"));
	assert_non_null(mkdtemp(state_dir));
	fd = open(state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	close(openat(fd, GCS_RULES, O_CREAT | O_CLOEXEC | O_WRONLY, 0600));
	return fd;
}

static void state_remove(int fd)
{
	unlinkat(fd, GCS_RULES, 0);
	close(fd);
	assert_int_equal(rmdir(state_dir), 0);
}

/* Fails with: request_repeat() without gcs_wait_network(). */
static void nothing_is_waited_for_when_the_time_is_over(void **state)
{
	const int directory = state_make();
	struct gcs_client *client = gcs_client_new(directory, 0);
	const struct gcs_call own = { .caller = getpid() }, cut = { .caller = child };
	struct gcs_wait wait;

	(void)state;
	assert_non_null(client);
	gcs_wait_begin(&wait, gcs_client_waits(client), &own);
	assert_int_equal(gcs_wait_network(&wait), 0);
	gcs_wait_end(&wait);
	if (child) {
		assert_int_equal(gcs_ask_object(client, &cut, "b", "o"), -EIO);
		assert_int_equal(gcs_ask_list(client, &cut, "b"), -EIO);
	}
	assert_int_equal(gcs_client_waits(client)->count, 0);
	gcs_client_free(client);
	state_remove(directory);
}

struct asking {
	struct gcs_waits waits;
	int (*wait)(struct gcs_wait *wait);
	pid_t caller;
	sem_t over;
	int problems[ASKING];
	unsigned count;
};

static void *ask(void *arg)
{
	struct asking *asking = arg;
	const struct gcs_call call = { .caller = asking->caller };
	struct gcs_wait wait;
	int problem;

	gcs_wait_begin(&wait, &asking->waits, &call);
	problem = asking->wait(&wait);
	gcs_wait_end(&wait);
	asking->problems[__atomic_fetch_add(&asking->count, 1, __ATOMIC_RELAXED)] = problem;
	sem_post(&asking->over);
	return NULL;
}

/* Starts all of them, and waits for the one that finds no slot. */
static void asking_begin(struct asking *asking, pthread_t threads[ASKING])
{
	asking->waits = (struct gcs_waits){ .state_fd = AT_FDCWD, .patience_s = PATIENCE_S };
	sem_init(&asking->over, 0, 0);
	for (size_t i = 0; i < ASKING; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, ask, asking), 0);
	sem_wait(&asking->over);
	assert_int_equal(asking->problems[0], -EIO);
}

static void asking_end(struct asking *asking, const pthread_t threads[ASKING])
{
	for (size_t i = 0; i < ASKING; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(asking->waits.count, 0);
	sem_destroy(&asking->over);
}

/* Fails with: place_take() that gives one to everybody: all wait. */
static void some_wait_until_they_are_killed_and_leave_room_for_others(void **state)
{
	struct asking asking = { .wait = gcs_wait_network, .caller = child };
	pthread_t threads[ASKING];

	(void)state;
	if (!child)
		skip();
	asking_begin(&asking, threads);
	kill(child, SIGKILL); /* the killed process remains as a zombie until it is waited for */
	asking_end(&asking, threads);
	for (size_t i = 1; i < ASKING; i++)
		assert_true(asking.problems[i] == -EINTR || asking.problems[i] == 0);
	assert_true(gcs_caller_is_killed(child));
}

static pthread_mutex_t file_lock = PTHREAD_MUTEX_INITIALIZER;

static int file_wait(struct gcs_wait *wait)
{
	const int problem = gcs_wait_lock(wait, &file_lock, 0);

	if (!problem)
		pthread_mutex_unlock(&file_lock);
	return problem;
}

/* Fails with: gcs_wait_lock() by pthread_mutex_lock() (as it was): all wait, and none of them is counted. */
static void those_that_wait_for_a_file_leave_room_for_others(void **state)
{
	struct asking asking = { .wait = file_wait };
	pthread_t threads[ASKING];

	(void)state;
	pthread_mutex_lock(&file_lock);
	asking_begin(&asking, threads);
	assert_int_equal(asking.waits.count, GCS_PLACES);
	pthread_mutex_unlock(&file_lock);
	asking_end(&asking, threads);
	for (size_t i = 1; i < ASKING; i++)
		assert_int_equal(asking.problems[i], 0);
}

static struct gcs_wait wait_of(struct gcs_waits *waits, pid_t caller, int64_t ago_us)
{
	const struct gcs_call call = { .caller = caller };
	struct gcs_wait wait;

	gcs_wait_begin(&wait, waits, &call);
	wait.begun_us -= ago_us;
	return wait;
}

/* Fails with: left_us() without gcs_caller_is_ending(); without call.until_us; gcs_wait_lock() that lets an exiting process go on
 * for a while without a place. */
static void who_ends_or_comes_late_waits_less(void **state)
{
	enum { AGO_US = (GCS_ENDING_S + 1) * US_PER_S };
	const pid_t ended = ended_start(false);
	struct gcs_waits waits = { .state_fd = AT_FDCWD, .patience_s = PATIENCE_S };
	struct gcs_wait wait = wait_of(&waits, getpid(), AGO_US);
	int64_t past_us = clock_mono_us(&system_clock) - 1;

	(void)state;
	assert_int_equal(gcs_wait_pause(&wait, true, 1), 0);
	assert_int_equal(waits.count, 1);
	wait.call.until_us = &past_us;
	assert_int_equal(gcs_wait_pause(&wait, true, 1), -EIO);
	gcs_wait_end(&wait);
	wait = wait_of(&waits, ended, 0);
	assert_int_equal(gcs_wait_pause(&wait, true, 1), 0);
	gcs_wait_end(&wait);
	wait = wait_of(&waits, ended, AGO_US);
	assert_int_equal(gcs_wait_pause(&wait, true, 1), -EIO);
	gcs_wait_end(&wait);
	assert_int_equal(waits.count, 0);
	waits.count = GCS_PLACES;
	pthread_mutex_lock(&file_lock);
	wait = wait_of(&waits, ended, 0);
	assert_int_equal(gcs_wait_lock(&wait, &file_lock, 0), -EIO);
	assert_true(clock_mono_us(&system_clock) - wait.begun_us < GCS_BRIEFLY_S * US_PER_S);
	pthread_mutex_unlock(&file_lock);
	waitpid(ended, NULL, 0);
}

/* Fails with: left_us() that takes all for patient. gcs_wait_pause() that hurries without a daemon. */
static void who_hurries_waits_for_a_daemon_only(void **state)
{
	struct gcs_waits waits = { .state_fd = AT_FDCWD, .patience_s = PATIENCE_S };
	struct gcs_wait wait = wait_of(&waits, getpid(), (GCS_BRIEFLY_S + 1) * US_PER_S);

	(void)state;
	wait.call.hurries = true;
	assert_int_equal(gcs_wait_pause(&wait, false, 1), 0);
	assert_int_equal(gcs_wait_pause(&wait, true, 1), -EIO);
	gcs_wait_end(&wait);
	wait = wait_of(&waits, child, 0);
	wait.call.hurries = true;
	assert_int_equal(gcs_wait_pause(&wait, true, 1), 0);
	if (child)
		assert_int_equal(gcs_wait_network(&wait), -EIO);
	gcs_wait_end(&wait);
}

/* Fails with: gcs_wait_pause() with GCS_PLACES in any case (as it was), or with GCS_PLACES_ALONE. */
static void more_may_wait_for_a_daemon_than_for_what_is_ordered(void **state)
{
	struct gcs_waits waits = { .state_fd = AT_FDCWD, .patience_s = PATIENCE_S, .count = GCS_PLACES };
	struct gcs_wait wait = wait_of(&waits, getpid(), (GCS_BRIEFLY_S + 1) * US_PER_S);

	(void)state;
	assert_int_equal(gcs_wait_pause(&wait, true, 1), -EIO);
	assert_int_equal(gcs_wait_pause(&wait, false, 1), 0);
	assert_int_equal(waits.count, GCS_PLACES + 1);
	gcs_wait_end(&wait);
	waits.count = GCS_PLACES_ALONE;
	assert_int_equal(gcs_wait_pause(&wait, false, 1), -EIO);
	assert_int_equal(waits.count, GCS_PLACES_ALONE);
}

/* Fails with: gcs_wait_moved() without its first line, without its second, or without the rest (as it was). */
static void while_bytes_move_nobody_waits(void **state)
{
	const int64_t now_us = clock_mono_us(&system_clock), long_us = INT64_C(2) * PATIENCE_S * US_PER_S;
	struct gcs_waits waits = { .state_fd = AT_FDCWD, .patience_s = PATIENCE_S };
	struct gcs_wait wait = wait_of(&waits, getpid(), 0);
	int64_t until_us = now_us + (int64_t)PATIENCE_S * US_PER_S;

	(void)state;
	wait.call.until_us = &until_us;
	assert_int_equal(gcs_wait_pause(&wait, true, 1), 0);
	assert_int_equal(waits.count, 1);
	wait.begun_us -= long_us;
	until_us -= long_us;
	gcs_wait_moved(&wait, long_us);
	assert_int_equal(waits.count, 0);
	assert_int_equal(gcs_wait_pause(&wait, true, 1), 0);
	gcs_wait_end(&wait);
	until_us = 0;
	gcs_wait_moved(&wait, long_us);
	assert_int_equal(until_us, 0);
}

/* Fails with: is_in_the_way() that is always false, or takes each change for one that waits, or all for those that open. */
static void who_opens_makes_way_for_a_change_that_lasts(void **state)
{
	enum { AGO_US = (GCS_CHANGE_S + 1) * US_PER_S };
	struct gcs_waits waits = { .state_fd = AT_FDCWD, .patience_s = PATIENCE_S };
	struct gcs_wait wait = wait_of(&waits, getpid(), 0);
	int64_t *change = gcs_waits_change_begin(&waits);

	(void)state;
	wait.call.opens = true;
	assert_int_equal(gcs_wait_pause(&wait, true, 1), 0);
	assert_int_equal(gcs_wait_quiet(&wait, US_PER_S, 0), 0);
	*change -= AGO_US;
	assert_int_equal(gcs_wait_pause(&wait, true, 1), -EIO);
	assert_int_equal(gcs_wait_quiet(&wait, US_PER_S, 0), -EIO);
	wait.call.opens = false;
	assert_int_equal(gcs_wait_pause(&wait, true, 1), 0);
	wait.call.opens = true;
	gcs_waits_change_end(change);
	assert_int_equal(gcs_wait_pause(&wait, true, 1), 0);
	gcs_wait_end(&wait);
	for (size_t i = 0; i < GCS_CHANGES_MAX; i++)
		assert_non_null(gcs_waits_change_begin(&waits));
	assert_null(gcs_waits_change_begin(&waits));
	gcs_waits_change_end(NULL);
}

/* Fails with: gcs_wait_quiet() that needs a place without rules, or at once, or for each second alike; that keeps one without
 * rules. */
static void an_answer_needs_a_place_when_it_may_be_kept_back(void **state)
{
	enum { LATE_US = (GCS_BRIEFLY_S + 1) * US_PER_S };
	const int64_t big_bytes = INT64_C(1) << 30;
	struct gcs_waits waits = { .state_fd = AT_FDCWD, .patience_s = PATIENCE_S, .count = GCS_PLACES };
	struct gcs_wait wait = wait_of(&waits, getpid(), 0);

	(void)state;
	assert_int_equal(gcs_wait_quiet(&wait, LATE_US, 0), 0);
	waits.state_fd = state_make();
	assert_int_equal(gcs_wait_quiet(&wait, US_PER_S, 0), 0);
	assert_int_equal(gcs_wait_quiet(&wait, LATE_US, big_bytes), 0);
	assert_int_equal(gcs_wait_quiet(&wait, LATE_US, 0), -EIO);
	waits.count--;
	assert_int_equal(gcs_wait_quiet(&wait, LATE_US, 0), 0);
	assert_int_equal(waits.count, GCS_PLACES);
	wait.call.hurries = true;
	assert_int_equal(gcs_wait_quiet(&wait, LATE_US, big_bytes), 0);
	assert_int_equal(gcs_wait_quiet(&wait, LATE_US, 0), -EIO);
	state_remove(waits.state_fd);
	waits.state_fd = AT_FDCWD;
	assert_int_equal(gcs_wait_quiet(&wait, LATE_US, 0), 0);
	assert_int_equal(waits.count, GCS_PLACES - 1);
}

/* Fails with: gcs_call_given_up() that looks at no caller; without end_us: what is left open is stored for as long as it
 * takes, or not at all. */
static void a_call_is_given_up_when_its_caller_was_killed_or_its_time_is_over(void **state)
{
	const pid_t killed = ended_start(true), ended = ended_start(false);
	unsigned hurried = 0;
	struct gcs_call call = { .caller = killed, .hurried = &hurried };
	const int64_t now_us = clock_mono_us(&system_clock);

	(void)state;
	assert_int_equal(gcs_call_given_up(&call), -EINTR);
	call.end_us = now_us + INT64_C(600) * US_PER_S;
	assert_int_equal(gcs_call_given_up(&call), 0);
	call.end_us = now_us - 1;
	assert_int_equal(gcs_call_given_up(&call), -EINTR);
	call = (struct gcs_call){ .caller = ended, .hurried = &hurried };
	assert_int_equal(gcs_call_given_up(&call), 0);
	hurried = 1;
	assert_int_equal(gcs_call_given_up(&call), -EAGAIN);
	waitpid(killed, NULL, 0);
	waitpid(ended, NULL, 0);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_call_is_given_up_when_its_caller_was_killed_or_its_time_is_over),
		cmocka_unit_test(who_has_a_network_is_told_from_who_has_none),
		cmocka_unit_test(who_may_not_look_goes_by_routes),
		cmocka_unit_test(who_ends_is_told_from_who_is_killed),
		cmocka_unit_test(nothing_is_waited_for_when_the_time_is_over),
		cmocka_unit_test(those_that_wait_for_a_file_leave_room_for_others),
		cmocka_unit_test(who_ends_or_comes_late_waits_less),
		cmocka_unit_test(who_hurries_waits_for_a_daemon_only),
		cmocka_unit_test(more_may_wait_for_a_daemon_than_for_what_is_ordered),
		cmocka_unit_test(while_bytes_move_nobody_waits),
		cmocka_unit_test(who_opens_makes_way_for_a_change_that_lasts),
		cmocka_unit_test(an_answer_needs_a_place_when_it_may_be_kept_back),
		cmocka_unit_test(some_wait_until_they_are_killed_and_leave_room_for_others),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("gcs_caller", tests, child_start, child_end);
}
