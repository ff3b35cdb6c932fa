/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/emulator_clock.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/base/log.h"
#include "daemon/base/step_clock.h"
#include "tests/unit/testing.h"

#define HOUR_US INT64_C(3600000000)
#define HOUR_NS (HOUR_US * 1000)

static char directory[] = "/tmp/trainyard-test-XXXXXX";

static int directory_make(void **state)
{
	(void)state;
	strcpy(directory, "/tmp/trainyard-test-XXXXXX");
	log_configure(LOG_ERROR, LOG_FORMAT_TEXT);
	return mkdtemp(directory) ? 0 : -1;
}

static int entry_remove(const char *path, const struct stat *about, int kind, struct FTW *place)
{
	(void)about, (void)kind, (void)place;
	return remove(path);
}

static int directory_remove(void **state)
{
	(void)state;
	return nftw(directory, entry_remove, 8, FTW_DEPTH | FTW_PHYS);
}

/* Opens the clock as a starting daemon does. */
static struct emulator_clock *opened(const char *choice)
{
	struct emulator_clock *clock = NULL;
	struct error err AUTO_ERROR = { 0 };

	if (emulator_clock_open(directory, choice, &clock, &err) || emulator_clock_keep(clock, &err))
		fail_msg("%s: %s", choice, err.text);
	return clock;
}

static void refused(const char *choice, const char *reason)
{
	struct emulator_clock *clock = NULL;
	struct error err AUTO_ERROR = { 0 };

	assert_int_equal(emulator_clock_open(directory, choice, &clock, &err), STATUS_INVALID_ARGUMENT);
	assert_null(clock);
	if (!strstr(err.text, reason))
		fail_msg("%s: %s", choice, err.text);
}

static void file_write(const char *name, const char *content)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(content, file);
	fclose(file);
}

static void choices_have_a_form(void **state)
{
	static const char *const good[] = { "real", "steppable", "steppable@2026-01-31T12:00:00Z",
					    "steppable@2026-01-31T12:00:00.5+01:00" };
	static const char *const bad[] = { "",
					   "Real",
					   "step",
					   "steppable@",
					   "steppables",
					   "steppable@2026-01-31",
					   "real@2026-01-31T12:00:00Z",
					   "steppable@1999-12-31T23:59:59Z",
					   "steppable@2200-01-01T00:00:00Z" };

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		if (!emulator_clock_choice_valid(good[i]))
			fail_msg("%s", good[i]);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (emulator_clock_choice_valid(bad[i]))
			fail_msg("%s", bad[i]);
}

static unsigned steps_told;

static void step_told(void *arg)
{
	(void)arg;
	steps_told++;
}

static void a_step_moves_both_clocks_by_as_much(void **state)
{
	AUTO(emulator_clock) struct emulator_clock *own = opened("steppable");
	const struct clock *clock = emulator_clock_get(own);
	const int64_t wall_ns = clock_wall_ns(clock), mono_us = clock_mono_us(clock);

	(void)state;
	steps_told = 0;
	emulator_clock_on_step(own, step_told, NULL);
	assert_int_equal(clock_ahead_ns(clock), 0);
	assert_int_equal(emulator_clock_advance(own, HOUR_US, NULL), STATUS_OK);
	assert_int_equal(steps_told, 1);
	assert_int_equal(clock_ahead_ns(clock), HOUR_NS);
	assert_in_range(clock_wall_ns(clock) - wall_ns, HOUR_NS, 2 * HOUR_NS);
	assert_in_range(clock_mono_us(clock) - mono_us, HOUR_US, 2 * HOUR_US);
	assert_in_range(clock_outside_ns(clock) - wall_ns, 0, HOUR_NS / 2);
}

static void a_step_outlives_the_daemon(void **state)
{
	struct emulator_clock *first = opened("steppable");
	int64_t seen_ns;

	(void)state;
	assert_int_equal(emulator_clock_advance(first, HOUR_US, NULL), STATUS_OK);
	assert_int_equal(emulator_clock_advance(first, HOUR_US, NULL), STATUS_OK);
	seen_ns = clock_wall_ns(emulator_clock_get(first));
	emulator_clock_free(first);
	refused("real", "ahead of the real one");
	/* For an existing state directory, the time to begin at has no effect. */
	first = opened("steppable@2001-01-01T00:00:00Z");
	/* Fails with: advance() moves the clock without kept_write(). */
	assert_int_equal(clock_ahead_ns(emulator_clock_get(first)), 2 * HOUR_NS);
	assert_in_range(clock_wall_ns(emulator_clock_get(first)) - seen_ns, 0, HOUR_NS);
	emulator_clock_free(first);
}

static void a_step_that_cannot_be_kept_is_not_taken(void **state)
{
	AUTO(emulator_clock) struct emulator_clock *own = opened("steppable");
	struct error err AUTO_ERROR = { 0 };

	directory_remove(state);
	assert_int_not_equal(emulator_clock_advance(own, HOUR_US, &err), STATUS_OK);
	assert_int_equal(clock_ahead_ns(emulator_clock_get(own)), 0);
	directory_make(state);
}

static void a_new_state_begins_where_it_is_told(void **state)
{
	struct emulator_clock *own = opened("steppable@2001-01-01T00:00:00Z");
	const int64_t begun_ns = INT64_C(978307200000000000);

	(void)state;
	assert_in_range(clock_wall_ns(emulator_clock_get(own)) - begun_ns, 0, HOUR_NS);
	emulator_clock_free(own);
	own = opened("steppable@2001-01-01T00:00:00Z"); /* stored, although the clock was not moved */
	assert_in_range(clock_wall_ns(emulator_clock_get(own)) - begun_ns, 0, HOUR_NS);
	emulator_clock_free(own);
}

static void a_used_state_does_not_begin_at_another_time(void **state)
{
	struct emulator_clock *own = opened("steppable@2001-01-01T00:00:00Z");

	(void)state;
	emulator_clock_free(own);
	own = opened("real"); /* the real time is later than the stored one, so it may be used */
	assert_ptr_equal(emulator_clock_get(own), &system_clock);
	emulator_clock_free(own);
	file_write("state.db", "");
	/* Fails with: emulator_clock_keep() leaves the file: the next one begins in 2001. */
	refused("steppable@2001-01-01T00:00:00Z", "ran by the real clock");
	/* Fails with: start_find() that refuses what is past alone: deadlines of a week ended what ran. */
	refused("steppable@2101-01-01T00:00:00Z", "ran by the real clock");
	own = opened("steppable");
	assert_int_equal(clock_ahead_ns(emulator_clock_get(own)), 0);
	emulator_clock_free(own);
}

static void the_clock_has_an_end(void **state)
{
	AUTO(emulator_clock) struct emulator_clock *own = opened("steppable@2199-12-31T23:00:00Z");
	struct error err AUTO_ERROR = { 0 };

	(void)state;
	assert_int_equal(emulator_clock_advance(own, HOUR_US / 2, NULL), STATUS_OK);
	assert_int_equal(emulator_clock_advance(own, HOUR_US, &err), STATUS_INVALID_ARGUMENT);
	error_deinit(&err);
	assert_int_equal(emulator_clock_advance(own, INT64_MAX, &err), STATUS_INVALID_ARGUMENT);
}

/* Fails with: clock_from_outside_ns() as a plain sum: the last moment came before all others. */
static void what_others_call_a_moment_has_bounds(void **state)
{
	struct step_clock before, after;

	(void)state;
	step_clock_init(&before, -HOUR_NS);
	step_clock_init(&after, HOUR_NS);
	assert_int_equal(clock_from_outside_ns(&system_clock, 5), 5);
	assert_int_equal(clock_from_outside_ns(&before.clock, 5), 5 - HOUR_NS);
	assert_int_equal(clock_from_outside_ns(&after.clock, 5), 5 + HOUR_NS);
	assert_true(clock_from_outside_ns(&before.clock, INT64_MIN + 5) == INT64_MIN);
	assert_true(clock_from_outside_ns(&after.clock, INT64_MAX - 5) == INT64_MAX);
}

static void a_broken_file_is_told(void **state)
{
	static const char *const contents[] = {
		"", "x\n", "1", "1 2\n", "99999999999999999999\n", "9223372036854775807\n"
	};

	(void)state;
	for (size_t i = 0; i < sizeof(contents) / sizeof(contents[0]); i++) {
		struct emulator_clock *clock = NULL;
		struct error err AUTO_ERROR = { 0 };

		file_write("clock", contents[i]);
		if (!emulator_clock_open(directory, "steppable", &clock, &err))
			fail_msg("%s", contents[i]);
		assert_non_null(err.text);
	}
}

static int TEST_MAIN(void)
{
#define OWN(TEST) cmocka_unit_test_setup_teardown(TEST, directory_make, directory_remove)
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(choices_have_a_form),
		OWN(a_step_moves_both_clocks_by_as_much),
		OWN(a_step_outlives_the_daemon),
		OWN(a_step_that_cannot_be_kept_is_not_taken),
		OWN(a_new_state_begins_where_it_is_told),
		OWN(a_used_state_does_not_begin_at_another_time),
		OWN(the_clock_has_an_end),
		cmocka_unit_test(what_others_call_a_moment_has_bounds),
		OWN(a_broken_file_is_told),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("emulator_clock", tests, NULL, NULL);
}
