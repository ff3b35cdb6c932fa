/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/emulator_clock.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/base/log.h"
#include "daemon/base/memory.h"
#include "daemon/base/step_clock.h"
#include "daemon/base/text.h"
#include "daemon/base/timestamp.h"
#include "store/small_file.h"

enum { NS_PER_S = 1000000000, NS_PER_US = 1000, FILE_BYTES_MAX = 64 };

/* Choice: the clock's times are from 2000-01-01 until 2200-01-01. The largest int64_t of nanoseconds since 1970 is in
 * 2262, and deadlines, which are later than the clock's time, must be below it. */
static const int64_t first_ns = INT64_C(946684800) * NS_PER_S, end_ns = INT64_C(7258118400) * NS_PER_S;

static const char steppable[] = "steppable";

struct emulator_clock {
	char *path; /* path of the file that keeps the clock's offset */
	bool is_steppable, is_unkept, leaves_file;
	pthread_mutex_t stepping;
	struct step_clock step;
	void (*stepped)(void *arg);
	void *arg;
};

/* Reads the TIME of "steppable@TIME". Returns false if @choice has no time or, with *ret_is_bad set, an invalid one. */
static bool start_read(const char *choice, int64_t *ret_start_ns, bool *ret_is_bad)
{
	const char *at = strchr(choice, '@');

	*ret_is_bad = at && (!time_parse_strict(at + 1, ret_start_ns) || *ret_start_ns < first_ns ||
			     *ret_start_ns >= end_ns);
	return at && !*ret_is_bad;
}

static bool is_steppable(const char *choice)
{
	const size_t length = strlen(steppable);

	return strncmp(choice, steppable, length) == 0 && (choice[length] == '\0' || choice[length] == '@');
}

bool emulator_clock_choice_valid(const char *choice)
{
	int64_t start_ns;
	bool is_bad;

	if (strcmp(choice, "real") == 0)
		return true;
	start_read(choice, &start_ns, &is_bad);
	return is_steppable(choice) && !is_bad;
}

/* Reads the stored lead of the clock. NOT_FOUND: there is none, because the clock never moved. */
static enum status kept_read(const char *path, int64_t *ret_ahead_ns, struct error *err)
{
	struct text content AUTO_TEXT = { 0 };
	enum status rc = small_file_read(path, FILE_BYTES_MAX, &content, err);
	char *end;

	if (rc)
		return rc;
	errno = 0;
	*ret_ahead_ns = strtoll(content.data, &end, 10);
	if (errno || end == content.data || strcmp(end, "\n") != 0)
		return error_set(
			err, STATUS_FAILED_PRECONDITION, NULL,
			"%s does not hold the offset of a clock: remove it to begin with the real time",
			path);
	return STATUS_OK;
}

static enum status kept_write(const char *path, int64_t ahead_ns, struct error *err)
{
	struct text content AUTO_TEXT = { 0 };

	text_printf(&content, "%" PRId64 "\n", ahead_ns);
	return small_file_place(path, &content, 0600, PLACE_NEW, err);
}

/* Returns true if a daemon has served @state_dir before. */
static bool state_is_there(const char *state_dir)
{
	struct text path AUTO_TEXT = { 0 };

	text_printf(&path, "%s/state.db", state_dir);
	return access(path.data, F_OK) == 0;
}

static enum status refuse_return(int64_t ahead_ns, struct error *err)
{
	return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
			 "--clock: the clock of this state directory is %" PRId64
			 " s ahead of the real one and does not go back: use --clock steppable, or another "
			 "--state-dir",
			 (ahead_ns + NS_PER_S - 1) / NS_PER_S);
}

/* Finds the lead of a clock without a stored one. */
static enum status start_find(const char *state_dir, const char *choice, int64_t *ret_ahead_ns,
			      struct error *err)
{
	int64_t start_ns;
	bool is_bad;

	*ret_ahead_ns = 0;
	if (!start_read(choice, &start_ns, &is_bad))
		return STATUS_OK;
	*ret_ahead_ns = start_ns - clock_wall_ns(&system_clock);
	if (state_is_there(state_dir))
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
				 "--clock: jobs of this state directory ran by the real clock: use --clock "
				 "steppable, or another --state-dir for one that begins at %s",
				 strchr(choice, '@') + 1);
	return STATUS_OK;
}

static enum status ahead_find(struct emulator_clock *clock, const char *state_dir, const char *choice,
			      int64_t *ret_ahead_ns, struct error *err)
{
	struct error unread AUTO_ERROR = { 0 };
	enum status rc = kept_read(clock->path, ret_ahead_ns, &unread);

	if (rc == STATUS_NOT_FOUND) {
		rc = start_find(state_dir, choice, ret_ahead_ns, err);
		clock->is_unkept = *ret_ahead_ns != 0;
		return rc;
	}
	if (rc)
		return error_move(err, &unread);
	if (!clock->is_steppable && *ret_ahead_ns > 0)
		return refuse_return(*ret_ahead_ns, err);
	/* The stored clock was behind the real one, and is the real one from now on: emulator_clock_keep() removes the
	 * file, so that no later start goes back. */
	clock->leaves_file = !clock->is_steppable;
	if (clock_wall_ns(&system_clock) > end_ns - *ret_ahead_ns)
		return error_set(
			err, STATUS_INVALID_ARGUMENT, NULL,
			"--clock: the clock of this state directory has come to its end, the year 2200");
	return STATUS_OK;
}

enum status emulator_clock_open(const char *state_dir, const char *choice, struct emulator_clock **ret_clock,
				struct error *err)
{
	AUTO(emulator_clock) struct emulator_clock *clock = memory_calloc(1, sizeof(*clock));
	struct text path AUTO_TEXT = { 0 };
	int64_t ahead_ns = 0;
	enum status rc;

	pthread_mutex_init(&clock->stepping, NULL);
	clock->is_steppable = is_steppable(choice);
	text_printf(&path, "%s/clock", state_dir);
	clock->path = text_take(&path);
	rc = ahead_find(clock, state_dir, choice, &ahead_ns, err);
	if (rc)
		return rc;
	step_clock_init(&clock->step, ahead_ns);
	*ret_clock = TAKE(clock);
	return STATUS_OK;
}

void emulator_clock_free(struct emulator_clock *clock)
{
	if (!clock)
		return;
	pthread_mutex_destroy(&clock->stepping);
	free(clock->path);
	free(clock);
}

enum status emulator_clock_keep(struct emulator_clock *clock, struct error *err)
{
	if (clock->leaves_file)
		unlink(clock->path);
	return clock->is_unkept ? kept_write(clock->path, clock_ahead_ns(&clock->step.clock), err)
				: STATUS_OK;
}

const struct clock *emulator_clock_get(const struct emulator_clock *clock)
{
	return clock->is_steppable ? &clock->step.clock : &system_clock;
}

bool emulator_clock_is_steppable(const struct emulator_clock *clock)
{
	return clock->is_steppable;
}

void emulator_clock_on_step(struct emulator_clock *clock, void (*stepped)(void *arg), void *arg)
{
	clock->stepped = stepped;
	clock->arg = arg;
}

/* The caller holds the mutex. Stores the new lead before the clock moves, so that the stored lead is never less than the
 * clock's. */
static enum status advance(struct emulator_clock *clock, int64_t by_us, struct error *err)
{
	const int64_t ahead_ns = clock_ahead_ns(&clock->step.clock);
	const int64_t left_us = (end_ns - clock_wall_ns(&clock->step.clock)) / NS_PER_US;
	enum status rc;

	if (by_us >= left_us)
		return error_set(err, STATUS_INVALID_ARGUMENT, "advance",
				 "The clock ends with the year 2199.");
	rc = kept_write(clock->path, ahead_ns + by_us * NS_PER_US, err);
	if (!rc)
		step_clock_move(&clock->step, by_us * NS_PER_US);
	return rc;
}

enum status emulator_clock_advance(void *arg, int64_t by_us, struct error *err)
{
	struct emulator_clock *clock = arg;
	enum status rc;

	pthread_mutex_lock(&clock->stepping);
	rc = advance(clock, by_us, err);
	pthread_mutex_unlock(&clock->stepping);
	if (rc)
		return rc;
	log_event(LOG_INFO, "clock-stepped", "by_us=%" PRId64 " ahead_us=%" PRId64, by_us,
		  clock_ahead_ns(&clock->step.clock) / NS_PER_US);
	if (clock->stepped)
		clock->stepped(clock->arg);
	return STATUS_OK;
}
