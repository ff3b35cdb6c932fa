/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/gcs/gcs_wait.h"

#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "daemon/base/clock.h"
#include "daemon/base/log.h"
#include "daemon/gcs/gcs_caller.h"
#include "daemon/gcs/gcs_endpoint.h"
#include "daemon/gcs/gcs_log.h"

enum {
	US_PER_S = 1000000,
	NS_PER_US = 1000,
	PAUSE_US = 50 * 1000,
	WAY_US = 1000,
	BRIEFLY_US = GCS_BRIEFLY_S * US_PER_S,
	CHANGE_US = GCS_CHANGE_S * US_PER_S,
	STORED_BYTES_PER_S = 16 << 20, /* Choice: the rate of a slow disk that has other work */
};

static int64_t now_us(void)
{
	return clock_mono_us(&system_clock);
}

int gcs_call_given_up(const struct gcs_call *call)
{
	if (call->hurried && __atomic_load_n(call->hurried, __ATOMIC_RELAXED) > 0)
		return -EAGAIN;
	if (call->end_us)
		return now_us() < call->end_us ? 0 : -EINTR;
	return gcs_caller_is_killed(call->caller) ? -EINTR : 0;
}

int gcs_wait_way(const struct gcs_call *call, const unsigned *hurried)
{
	struct gcs_call own = *call;
	int problem = 0;

	own.hurried = NULL;
	while (!problem && __atomic_load_n(hurried, __ATOMIC_RELAXED) > 0) {
		problem = gcs_call_given_up(&own);
		usleep(WAY_US);
	}
	return problem;
}

void gcs_wait_begin(struct gcs_wait *wait, struct gcs_waits *all, const struct gcs_call *call)
{
	*wait = (struct gcs_wait){ .all = all, .call = *call, .begun_us = now_us() };
}

void gcs_wait_end(struct gcs_wait *wait)
{
	if (wait->has_place)
		__atomic_sub_fetch(&wait->all->count, 1, __ATOMIC_RELAXED);
	wait->has_place = false;
}

bool gcs_waits_have_rules(const struct gcs_waits *waits)
{
	return faccessat(waits->state_fd, GCS_RULES, F_OK, 0) == 0;
}

static int64_t patience_us(const struct gcs_waits *waits)
{
	return (int64_t)waits->patience_s * US_PER_S;
}

int64_t gcs_waits_until_us(const struct gcs_waits *waits)
{
	return now_us() + patience_us(waits);
}

static int place_take(struct gcs_wait *wait, unsigned places)
{
	if (wait->has_place)
		return 0;
	if (__atomic_add_fetch(&wait->all->count, 1, __ATOMIC_RELAXED) > places) {
		__atomic_sub_fetch(&wait->all->count, 1, __ATOMIC_RELAXED);
		return -EIO;
	}
	wait->has_place = true;
	return 0;
}

static int64_t least(int64_t one, int64_t other)
{
	return one < other ? one : other;
}

static int64_t storing_us(int64_t size_bytes)
{
	return size_bytes / STORED_BYTES_PER_S * US_PER_S;
}

/* How long a usually short step may last before it needs a place. */
static int64_t brief_us(int64_t size_bytes)
{
	return BRIEFLY_US + storing_us(size_bytes);
}

/* How long the call may still wait, in µs. @hurried_us: the whole limit of a call that hurries. */
static int64_t left_us(const struct gcs_wait *wait, int64_t hurried_us)
{
	int64_t until_us = wait->begun_us + (wait->call.hurries ? hurried_us : patience_us(wait->all));
	const int64_t shared_us =
		wait->call.until_us ? __atomic_load_n(wait->call.until_us, __ATOMIC_RELAXED) : 0;

	if (shared_us)
		until_us = least(until_us, shared_us);
	if (gcs_caller_is_ending(wait->call.caller))
		until_us = least(until_us, wait->begun_us + GCS_ENDING_S * INT64_C(1000000));
	return until_us - now_us();
}

int64_t *gcs_waits_change_begin(struct gcs_waits *waits)
{
	const int64_t begun_us = now_us();

	for (size_t i = 0; i < GCS_CHANGES_MAX; i++) {
		int64_t none = 0;

		if (__atomic_compare_exchange_n(&waits->changes_us[i], &none, begun_us, false,
						__ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return &waits->changes_us[i];
	}
	return NULL;
}

void gcs_waits_change_end(int64_t *change)
{
	if (change)
		__atomic_store_n(change, 0, __ATOMIC_RELAXED);
}

static bool is_in_the_way(const struct gcs_wait *wait)
{
	const int64_t before_us = now_us() - CHANGE_US;

	for (size_t i = 0; wait->call.opens && i < GCS_CHANGES_MAX; i++) {
		const int64_t begun_us = __atomic_load_n(&wait->all->changes_us[i], __ATOMIC_RELAXED);

		if (begun_us && begun_us < before_us)
			return true;
	}
	return false;
}

/* Sleeps for @pause_us while occupying a place. -EIO: no place was free, or the time limit is over. */
static int pause_in_place(struct gcs_wait *wait, unsigned places, int64_t hurried_us, int64_t pause_us)
{
	int problem = place_take(wait, places);
	int64_t left = problem ? 0 : left_us(wait, hurried_us);

	if (problem || left <= 0)
		return -EIO;
	for (left = least(pause_us, left); !problem && left > 0; left -= PAUSE_US) {
		problem = is_in_the_way(wait) ? -EIO : gcs_call_given_up(&wait->call);
		if (!problem)
			problem = gcs_caller_pause(wait->call.caller, least(left, PAUSE_US));
	}
	return problem;
}

int gcs_wait_network(struct gcs_wait *wait)
{
	int problem = 0;

	if (!gcs_caller_is_cut(wait->call.caller))
		return 0;
	problem = wait->call.hurries ? -EIO : place_take(wait, GCS_PLACES);
	if (!problem && gcs_log_allows())
		log_event(LOG_WARNING, "gcs-no-network",
			  "pid=%d hint=\"it waits until its container has one\"", (int)wait->call.caller);
	while (!problem && gcs_caller_is_cut(wait->call.caller))
		problem = pause_in_place(wait, GCS_PLACES, 0, PAUSE_US);
	return problem;
}

static bool lock_within(pthread_mutex_t *lock, int64_t pause_us)
{
	const int64_t until_us = now_us() + pause_us;
	const struct timespec until = { until_us / US_PER_S, until_us % US_PER_S * NS_PER_US };

	return pthread_mutex_clocklock(lock, CLOCK_MONOTONIC, &until) == 0;
}

int gcs_wait_lock(struct gcs_wait *wait, pthread_mutex_t *lock, int64_t size_bytes)
{
	const int64_t begun_us = now_us();

	if (pthread_mutex_trylock(lock) == 0)
		return 0;
	while (!lock_within(lock, PAUSE_US)) {
		int problem = gcs_call_given_up(&wait->call);

		if (!problem &&
		    (now_us() - begun_us > brief_us(size_bytes) || gcs_caller_is_ending(wait->call.caller)))
			problem = place_take(wait, GCS_PLACES);
		if (!problem &&
		    left_us(wait, CHANGE_US) + (wait->call.hurries ? 0 : storing_us(size_bytes)) <= 0)
			problem = -EIO;
		if (problem)
			return problem;
	}
	return 0;
}

int gcs_wait_pause(struct gcs_wait *wait, bool is_daemon_there, int64_t pause_us)
{
	const int64_t hurried_us = is_daemon_there ? BRIEFLY_US : patience_us(wait->all);
	const int64_t left = left_us(wait, hurried_us);

	if (!is_daemon_there && left > 0 && now_us() - wait->begun_us < BRIEFLY_US) {
		const int problem = gcs_call_given_up(&wait->call);

		return problem ? problem : gcs_caller_pause(wait->call.caller, least(pause_us, left));
	}
	return pause_in_place(wait, is_daemon_there ? GCS_PLACES : GCS_PLACES_ALONE, hurried_us, pause_us);
}

void gcs_wait_moved(struct gcs_wait *wait, int64_t lasted_us)
{
	int64_t until_us = wait->call.until_us ? __atomic_load_n(wait->call.until_us, __ATOMIC_RELAXED) : 0;

	gcs_wait_end(wait);
	wait->begun_us += lasted_us;
	if (until_us) /* if a new change of the file has set it to 0 meanwhile, it stays 0 */
		__atomic_compare_exchange_n(wait->call.until_us, &until_us, until_us + lasted_us, false,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

int gcs_wait_quiet(struct gcs_wait *wait, int64_t quiet_us, int64_t size_bytes)
{
	if (is_in_the_way(wait))
		return -EIO;
	/* Without fault rules, the answer is assumed to come soon: no place is needed. */
	if (!gcs_waits_have_rules(wait->all)) {
		gcs_wait_end(wait);
		return 0;
	}
	if (quiet_us < brief_us(size_bytes))
		return 0;
	return left_us(wait, 0) <= 0 ? -EIO : place_take(wait, GCS_PLACES);
}
