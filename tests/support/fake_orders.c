/* SPDX-License-Identifier: Apache-2.0 */
/* Calls with which tests control the fake engine and read its state. */
#include <string.h>

#include "tests/support/fake_engine_state.h"

void fake_engine_up(struct fake_engine *fake)
{
	pthread_mutex_lock(&fake->mutex);
	fake_come_up(fake);
	pthread_mutex_unlock(&fake->mutex);
}

void fake_engine_list(struct fake_engine *fake, unsigned paused)
{
	pthread_mutex_lock(&fake->mutex);
	fake->paused_listings = paused;
	fake_listing_send(fake);
	pthread_mutex_unlock(&fake->mutex);
}

void fake_engine_blink(struct fake_engine *fake)
{
	pthread_mutex_lock(&fake->mutex);
	fake->blinks = true;
	pthread_mutex_unlock(&fake->mutex);
}

void fake_engine_down(struct fake_engine *fake, const char *text)
{
	pthread_mutex_lock(&fake->mutex);
	fake_go_down(fake, text);
	pthread_mutex_unlock(&fake->mutex);
}

void fake_engine_way(struct fake_engine *fake, struct engine_way way)
{
	pthread_mutex_lock(&fake->mutex);
	fake->way = way;
	pthread_mutex_unlock(&fake->mutex);
}

struct engine_way fake_way(struct engine *engine)
{
	struct fake_engine *fake = (struct fake_engine *)engine;
	struct engine_way way;

	pthread_mutex_lock(&fake->mutex);
	way = fake->way;
	pthread_mutex_unlock(&fake->mutex);
	return way;
}

void fake_engine_fail(struct fake_engine *fake, enum fake_operation operation, unsigned nth,
		      enum status status)
{
	pthread_mutex_lock(&fake->mutex);
	fake->countdown[operation] = nth;
	fake->failure[operation] = status;
	pthread_mutex_unlock(&fake->mutex);
}

/* Reads one of its counters. */
static unsigned peek(struct fake_engine *fake, const unsigned *count)
{
	unsigned now;

	pthread_mutex_lock(&fake->mutex);
	now = *count;
	pthread_mutex_unlock(&fake->mutex);
	return now;
}

unsigned fake_engine_doubled(struct fake_engine *fake)
{
	return peek(fake, &fake->doubled);
}

static void end_by_itself(struct fake_engine *fake, const struct replica_key *key, int exit_code, bool tell,
			  bool witnessed)
{
	struct container *container;

	pthread_mutex_lock(&fake->mutex);
	while (!fake_container_runs(container = fake_container_find(fake, key)))
		pthread_cond_wait(&fake->changed, &fake->mutex);
	container->status.witnessed = witnessed;
	fake_container_end(fake, container, exit_code, tell);
	pthread_mutex_unlock(&fake->mutex);
}

void fake_engine_exit(struct fake_engine *fake, const struct replica_key *key, int exit_code)
{
	end_by_itself(fake, key, exit_code, true, false);
}

void fake_engine_exit_witnessed(struct fake_engine *fake, const struct replica_key *key, int exit_code)
{
	end_by_itself(fake, key, exit_code, true, true);
}

void fake_engine_exit_at_once(struct fake_engine *fake, int exit_code)
{
	pthread_mutex_lock(&fake->mutex);
	fake->ends_at_once = true;
	fake->exit_at_once = exit_code;
	pthread_mutex_unlock(&fake->mutex);
}

void fake_engine_exit_unseen(struct fake_engine *fake, const struct replica_key *key, int exit_code)
{
	end_by_itself(fake, key, exit_code, false, false);
}

void fake_engine_witness(struct fake_engine *fake)
{
	pthread_mutex_lock(&fake->mutex);
	for (unsigned i = 0; i < fake->container_count; i++)
		fake->containers[i].status.witnessed = fake->containers[i].status.observed == REPLICA_EXITED;
	pthread_mutex_unlock(&fake->mutex);
}

bool fake_engine_exit_now(struct fake_engine *fake, const struct replica_key *key, int exit_code)
{
	struct container *container;
	bool has_ended;

	pthread_mutex_lock(&fake->mutex);
	container = fake_container_find(fake, key);
	if (fake_container_runs(container))
		fake_container_end(fake, container, exit_code, true);
	has_ended = container && container->status.observed == REPLICA_EXITED;
	pthread_mutex_unlock(&fake->mutex);
	return has_ended;
}

static void end_any(struct fake_engine *fake, unsigned choice, int exit_code, bool tell)
{
	struct container *running[CONTAINERS_MAX];
	unsigned count = 0;

	pthread_mutex_lock(&fake->mutex);
	for (unsigned i = 0; i < fake->container_count; i++)
		if (fake_container_runs(&fake->containers[i]))
			running[count++] = &fake->containers[i];
	if (count)
		fake_container_end(fake, running[choice % count], exit_code, tell);
	pthread_mutex_unlock(&fake->mutex);
}

void fake_engine_exit_any(struct fake_engine *fake, unsigned choice, int exit_code)
{
	end_any(fake, choice, exit_code, true);
}

void fake_engine_exit_any_unseen(struct fake_engine *fake, unsigned choice, int exit_code)
{
	end_any(fake, choice, exit_code, false);
}

/* Waits until it was created. The caller holds the lock. */
static struct container *container_await(struct fake_engine *fake, const struct replica_key *key)
{
	struct container *container;

	while (!(container = fake_container_find(fake, key)))
		pthread_cond_wait(&fake->changed, &fake->mutex);
	return container;
}

void fake_engine_print(struct fake_engine *fake, int64_t lines)
{
	pthread_mutex_lock(&fake->mutex);
	fake->lines = lines;
	pthread_mutex_unlock(&fake->mutex);
}

char *fake_engine_limits(struct fake_engine *fake, const struct replica_key *key)
{
	char *text;

	pthread_mutex_lock(&fake->mutex);
	text = strdup(container_await(fake, key)->limits);
	pthread_mutex_unlock(&fake->mutex);
	return text;
}

char *fake_engine_surroundings(struct fake_engine *fake, const struct replica_key *key)
{
	char *text;

	pthread_mutex_lock(&fake->mutex);
	text = strdup(container_await(fake, key)->surroundings);
	pthread_mutex_unlock(&fake->mutex);
	return text;
}

void fake_engine_on_call(struct fake_engine *fake, void (*tell)(void *arg, const char *operation), void *arg)
{
	pthread_mutex_lock(&fake->mutex);
	fake->tell = tell;
	fake->tell_arg = arg;
	pthread_mutex_unlock(&fake->mutex);
}

/* Removes a container. The caller holds the lock. */
static void container_snatch(struct fake_engine *fake, const struct replica_key *key)
{
	struct replica_status status = { .key = *key, .observed = REPLICA_EXITED, .exit_code = 137 };

	if (fake_container_runs(fake_container_find(fake, key)))
		fake_tell_replica(fake, ENGINE_REPLICA_EXITED, &status, STATUS_OK);
	fake_container_drop(fake, key);
	fake_tell_replica(fake, ENGINE_REPLICA_REMOVED, &status, STATUS_OK);
	fake_tell_replica(fake, ENGINE_LOGS_ENDED, &status, STATUS_OK);
}

void fake_engine_snatch(struct fake_engine *fake, const struct replica_key *key)
{
	pthread_mutex_lock(&fake->mutex);
	container_await(fake, key);
	container_snatch(fake, key);
	pthread_mutex_unlock(&fake->mutex);
}

void fake_engine_snatch_unseen(struct fake_engine *fake, const struct replica_key *key)
{
	pthread_mutex_lock(&fake->mutex);
	fake_container_drop(fake, key);
	pthread_mutex_unlock(&fake->mutex);
}

void fake_engine_snatch_any(struct fake_engine *fake, unsigned choice)
{
	struct replica_key key;

	pthread_mutex_lock(&fake->mutex);
	if (fake->container_count) {
		key = fake->containers[choice % fake->container_count].status.key;
		container_snatch(fake, &key);
	}
	pthread_mutex_unlock(&fake->mutex);
}

void fake_engine_snatch_networks(struct fake_engine *fake)
{
	pthread_mutex_lock(&fake->mutex);
	fake->network_count = 0;
	pthread_mutex_unlock(&fake->mutex);
}

void fake_engine_hold_removals(struct fake_engine *fake, bool hold)
{
	pthread_mutex_lock(&fake->mutex);
	fake->holds_removals = hold;
	for (unsigned i = 0; !hold && i < fake->container_count;) {
		const struct replica_status status = { .key = fake->containers[i].status.key };

		if (!fake->containers[i].awaits_removal) {
			i++;
			continue;
		}
		fake_container_drop(fake, &status.key);
		fake_tell_replica(fake, ENGINE_REPLICA_REMOVED, &status, STATUS_OK);
	}
	pthread_mutex_unlock(&fake->mutex);
}

void fake_engine_hold_starts(struct fake_engine *fake)
{
	pthread_mutex_lock(&fake->mutex);
	fake->holds_starts = true;
	pthread_mutex_unlock(&fake->mutex);
}

void fake_engine_lose_starts(struct fake_engine *fake)
{
	pthread_mutex_lock(&fake->mutex);
	fake->holds_starts = false;
	for (unsigned i = 0; i < fake->container_count; i++) {
		struct container *container = &fake->containers[i];

		if (!container->awaits_start)
			continue;
		container->awaits_start = false;
		container->status.observed = REPLICA_RUNNING;
		fake_tell_replica(fake, ENGINE_REPLICA_FAILED, &container->status, STATUS_UNAVAILABLE);
	}
	pthread_mutex_unlock(&fake->mutex);
}

unsigned fake_engine_shared(struct fake_engine *fake)
{
	return peek(fake, &fake->shared);
}

void fake_engine_ignore_stop(struct fake_engine *fake, bool ignore)
{
	pthread_mutex_lock(&fake->mutex);
	fake->ignores_stop = ignore;
	pthread_mutex_unlock(&fake->mutex);
}

unsigned fake_engine_container_count(struct fake_engine *fake)
{
	return peek(fake, &fake->container_count);
}

unsigned fake_engine_network_count(struct fake_engine *fake)
{
	return peek(fake, &fake->network_count);
}

void fake_engine_fail_all(struct fake_engine *fake, enum fake_operation operation, enum status status)
{
	pthread_mutex_lock(&fake->mutex);
	fake->failure_of_all[operation] = status;
	pthread_mutex_unlock(&fake->mutex);
}

unsigned fake_engine_speed(struct fake_engine *fake)
{
	return peek(fake, &fake->bytes_per_s);
}

void fake_engine_boast(struct fake_engine *fake)
{
	pthread_mutex_lock(&fake->mutex);
	fake->boasts = true;
	pthread_mutex_unlock(&fake->mutex);
}

void fake_engine_hold_device(struct fake_engine *fake, const char *device)
{
	pthread_mutex_lock(&fake->mutex);
	fake->held_elsewhere = device;
	pthread_mutex_unlock(&fake->mutex);
}

void fake_engine_fail_claims(struct fake_engine *fake, bool fail)
{
	pthread_mutex_lock(&fake->mutex);
	fake->claims_fail = fail;
	pthread_mutex_unlock(&fake->mutex);
}

unsigned fake_engine_looks(struct fake_engine *fake)
{
	return peek(fake, &fake->looks);
}

unsigned fake_engine_calls(struct fake_engine *fake, enum fake_operation operation)
{
	return peek(fake, &fake->calls[operation]);
}
