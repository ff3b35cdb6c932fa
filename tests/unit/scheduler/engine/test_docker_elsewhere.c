/* SPDX-License-Identifier: Apache-2.0 */
/* Tests scheduler/engine/docker_elsewhere.c: another daemon of the same instance, which can be noticed only through the
 * engine. */
#include <fcntl.h>
#include <sys/stat.h>

#include "scheduler/engine/docker_clean.h"
#include "tests/unit/scheduler/engine/docker_testing.h"

#define ELSEWHERE                                                                                            \
	"{\"Labels\":{\"trainyard.instance\":\"t\",\"trainyard.place\":\"there\",\"trainyard.host\":\"far\"}}"
#define OURS   "{\"Labels\":{\"trainyard.instance\":\"t\"}}"
#define MARK   "POST /v1.41/volumes/create"
#define UNMARK "/volumes/ty-t-daemon" /* matches with and without the API version */
#define WATCH  "%22event%22:%5B%22destroy%22"
#define REMOVAL                                                                                              \
	"{\"Type\":\"volume\",\"Action\":\"destroy\",\"Actor\":{\"ID\":\"ty-t-daemon\"}}\n"

/* The host name that this process sees. */
static const char *host_name = "first";
static bool network_hidden;

int gethostname(char *name, size_t size)
{
	snprintf(name, size, "%s", host_name);
	return 0;
}

int stat(const char *restrict path, struct stat *restrict ret)
{
	if (network_hidden && strcmp(path, "/proc/self/ns/net") == 0)
		return -1;
	return fstatat(AT_FDCWD, path, ret, 0);
}

/* The body of the request that made the marker first. */
static void marker_asked_for(struct lab *lab, char volume[400])
{
	char labels[300] = "";

	pthread_mutex_lock(&lab->lock);
	const char *begin = strstr(lab->requests.data, "\"Labels\":{");

	if (begin)
		sscanf(begin, "%299[^}]", labels);
	pthread_mutex_unlock(&lab->lock);
	assert_non_null(strstr(labels, "trainyard.place"));
	snprintf(volume, 400, "{\"Name\":\"ty-t-daemon\",%s}}", labels);
}

/* Fails with: challenge() left out. */
static void a_marker_that_does_not_come_back_is_of_a_daemon_that_has_ended(void **state)
{
	struct lab *lab = *state;

	rule_set(lab, 0, (struct rule){ MARK, 201, ELSEWHERE, .times = 1 });
	rule_set(lab, 1, (struct rule){ MARK, 201, OURS });
	rule_set(lab, 2, (struct rule){ UNMARK, 204 });
	lab_open(lab);
	expect_event(lab, ENGINE_UP);
	assert_int_equal(rule_asked(lab, 2), 1);
	assert_int_equal(events_count(lab, ENGINE_DOWN), 0);
}

/* Fails with: elsewhere_look() that looks at nothing: two daemons gave orders. */
static void a_marker_that_comes_back_is_of_a_daemon_elsewhere(void **state)
{
	struct lab *lab = *state;
	size_t down;

	rule_set(lab, 0, (struct rule){ MARK, 201, ELSEWHERE });
	rule_set(lab, 1, (struct rule){ UNMARK, 204 });
	lab_open(lab);
	down = expect_event(lab, ENGINE_DOWN);
	assert_non_null(strstr(lab->events[down].text, "another daemon of instance t works on this engine"));
	assert_non_null(strstr(lab->events[down].text, "far"));
	assert_int_equal(events_count(lab, ENGINE_UP), 0);
	rule_set(lab, 0, (struct rule){ MARK, 201, OURS });
	expect_event(lab, ENGINE_UP);
}

/* Fails with: watch_data() that makes no marker. */
static void a_marker_that_is_removed_is_made_again(void **state)
{
	struct lab *lab = *state;

	rule_set(lab, 0, (struct rule){ MARK, 201, OURS });
	rule_set(lab, 1, (struct rule){ WATCH, 200, REMOVAL });
	lab_open(lab);
	expect_event(lab, ENGINE_UP);
	expect_asked(lab, 0, 2);
	assert_int_equal(events_count(lab, ENGINE_DOWN), 0);
}

/* This daemon was paused for a while, and another one took its marker. Fails with: marked() that lets a connected daemon
 * be. */
static void a_daemon_whose_marker_was_taken_gives_no_more_orders(void **state)
{
	struct lab *lab = *state;

	rule_set(lab, 0, (struct rule){ MARK, 201, OURS, .times = 1 });
	rule_set(lab, 1, (struct rule){ MARK, 201, ELSEWHERE });
	rule_set(lab, 2, (struct rule){ WATCH, 200, REMOVAL });
	rule_set(lab, 3, (struct rule){ UNMARK, 204 });
	lab_open(lab);
	expect_event(lab, ENGINE_DOWN);
}

/* Fails with: marked() that takes any refusal for an engine without volumes: nothing looked for a daemon elsewhere until the
 * next connection. */
static void an_engine_that_fails_once_is_asked_again(void **state)
{
	static const int codes[] = { 400, 409, 500, 503 };
	struct lab *lab = *state;

	for (size_t i = 0; i < COUNT_OF(codes); i++) {
		rule_set(lab, 0, (struct rule){ MARK, codes[i], "{\"message\":\"not now\"}", .times = 1 });
		rule_set(lab, 1, (struct rule){ MARK, 201, OURS });
		lab_open(lab);
		expect_event(lab, ENGINE_UP);
		assert_int_equal(rule_asked(lab, 1), 1);
		lab_close(lab);
	}
}

/* Fails with: marked() that asks claim_runs_elsewhere() of a refusal: the marker stayed gone, and a second daemon started. */
static void a_marker_that_cannot_be_made_again_costs_the_link(void **state)
{
	struct lab *lab = *state;
	size_t down;

	rule_set(lab, 0, (struct rule){ MARK, 201, OURS, .times = 1 });
	rule_set(lab, 1, (struct rule){ MARK, 500, "{\"message\":\"not now\"}", .times = 1 });
	rule_set(lab, 2, (struct rule){ MARK, 201, OURS });
	rule_set(lab, 3, (struct rule){ WATCH, 200, REMOVAL, .times = 1 });
	lab_open(lab);
	expect_event(lab, ENGINE_UP);
	down = expect_event(lab, ENGINE_DOWN);
	assert_string_equal(lab->events[down].text, "not now");
	expect_event(lab, ENGINE_UP);
	assert_int_equal(rule_asked(lab, 2), 1);
}

/* If the network has no name, the host's name identifies the machine. Fails with: mark() with a place that it reads
 * anew. */
static void a_host_that_is_renamed_stays_where_it_is(void **state)
{
	struct lab *lab = *state;
	char volume[400];

	host_name = "first";
	network_hidden = true;
	rule_set(lab, 0, (struct rule){ MARK, 201, OURS, .times = 1 });
	rule_set(lab, 1, (struct rule){ MARK, HOLD });
	rule_set(lab, 2, (struct rule){ WATCH, 200, REMOVAL, .times = 1 });
	up(lab);
	expect_asked(lab, 1, 1);
	marker_asked_for(lab, volume);
	assert_non_null(strstr(volume, " first\""));
	host_name = "second";
	rule_set(lab, 1, (struct rule){ MARK, 201, volume });
	settle(lab);
	assert_int_equal(events_count(lab, ENGINE_DOWN), 0);
}

static void nothing_is_reported(void *arg, const struct orphan *item, const char *problem)
{
	(void)arg;
	(void)problem;
	fail_msg("%s was removed", item->name);
}

/* Fails with: elsewhere_place() with the host's name in any case: the marker was removed as one of another place. */
static void a_place_that_can_be_read_has_no_host_name(void **state)
{
	struct lab *lab = *state;
	char volume[400], url[80];
	struct error AUTO_ERROR err = { 0 };

	host_name = "first";
	network_hidden = false;
	rule_set(lab, 0, (struct rule){ MARK, 201, OURS });
	up(lab);
	lab_close(lab);
	marker_asked_for(lab, volume);
	host_name = "second";
	rule_set(lab, 1, (struct rule){ "GET " UNMARK, 200, volume, .times = 1 });
	rule_set(lab, 2, (struct rule){ "DELETE " UNMARK, 204 });
	snprintf(url, sizeof(url), "unix://%s", lab->path);
	assert_int_equal(docker_sweep(url, "t", &(struct sweep_report){ nothing_is_reported, NULL }, &err),
			 STATUS_OK);
	assert_int_equal(rule_asked(lab, 1), 1);
	assert_int_equal(rule_asked(lab, 2), 0);
}

/* Fails with: watch_done() that loses the link for any answer. */
static void an_engine_without_markers_is_taken_as_it_is(void **state)
{
	struct lab *lab = *state;

	static const int codes[] = { 403, 404, 405, 501 };

	for (size_t i = 0; i < COUNT_OF(codes); i++) {
		rule_set(lab, 0, (struct rule){ MARK, codes[i], "{\"message\":\"no volumes for you\"}" });
		up(lab);
		assert_false(was_asked(lab, WATCH));
		lab_close(lab);
		assert_false(was_asked(lab, UNMARK));
	}
	rule_set(lab, 0, (struct rule){ MARK, 201, OURS });
	rule_set(lab, 1, (struct rule){ WATCH, 400, "{\"message\":\"no such filter\"}" });
	up(lab);
	settle(lab);
	assert_int_equal(events_count(lab, ENGINE_DOWN), 0);
}

/* Fails with: elsewhere_leave() left out: the next one waited. */
static void a_daemon_that_ends_takes_its_marker_with_it(void **state)
{
	struct lab *lab = *state;

	rule_set(lab, 0, (struct rule){ MARK, 201, OURS });
	rule_set(lab, 1, (struct rule){ UNMARK, 204 });
	up(lab);
	assert_false(was_asked(lab, UNMARK));
	lab_close(lab);
	assert_int_equal(rule_asked(lab, 1), 1);
}

static int TEST_MAIN(void)
{
	static const struct CMUnitTest tests[] = {
		LAB_TEST(a_marker_that_does_not_come_back_is_of_a_daemon_that_has_ended),
		LAB_TEST(a_marker_that_comes_back_is_of_a_daemon_elsewhere),
		LAB_TEST(a_marker_that_is_removed_is_made_again),
		LAB_TEST(a_daemon_whose_marker_was_taken_gives_no_more_orders),
		LAB_TEST(an_engine_that_fails_once_is_asked_again),
		LAB_TEST(a_marker_that_cannot_be_made_again_costs_the_link),
		LAB_TEST(a_host_that_is_renamed_stays_where_it_is),
		LAB_TEST(a_place_that_can_be_read_has_no_host_name),
		LAB_TEST(an_engine_without_markers_is_taken_as_it_is),
		LAB_TEST(a_daemon_that_ends_takes_its_marker_with_it),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("docker elsewhere", tests, start, NULL);
}
