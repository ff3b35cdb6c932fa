/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/fake_engine.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/clock.h"
#include "daemon/base/text.h"

enum { CONTAINERS_MAX = 1024, NETWORKS_MAX = 1024 };

struct fake_engine {
	struct engine engine; /* first: the door is opened with it */
	struct engine_sink sink;
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	struct replica_status containers[CONTAINERS_MAX];
	/* Of the container at the same place: */
	char *limits[CONTAINERS_MAX];
	char *surroundings[CONTAINERS_MAX];
	json_t *devices[CONTAINERS_MAX];
	char on[CONTAINERS_MAX][80]; /* id of its network */
	bool awaits_removal[CONTAINERS_MAX];
	struct {
		bool is_followed;
		int64_t read;
	} output[CONTAINERS_MAX];
	struct network_status networks[NETWORKS_MAX];
	unsigned container_count, network_count;
	unsigned calls[FAKE_OPERATION_COUNT], countdown[FAKE_OPERATION_COUNT];
	enum status failure[FAKE_OPERATION_COUNT], failure_of_all[FAKE_OPERATION_COUNT];
	unsigned doubled, shared, bytes_per_s, paused_listings;
	bool up, ignores_stop, holds_removals, ends_at_once, blinks;
	int exit_at_once;
	int64_t lines;
	void (*tell)(void *arg, const char *operation);
	void *tell_arg;
	struct host host;
};

static struct fake_engine *fake_of(struct engine *engine)
{
	return (struct fake_engine *)engine;
}

/* Whether this call is to fail, and how. Under the lock. */
static enum status outcome_of(struct fake_engine *fake, enum fake_operation operation)
{
	static const char *const names[FAKE_OPERATION_COUNT] = {
		[FAKE_IMAGE] = "ensure_image",
		[FAKE_NETWORK] = "create_network",
		[FAKE_CREATE] = "create_replica",
		[FAKE_START] = "start_replica",
		[FAKE_STOP] = "stop_replica",
		[FAKE_CUT] = "cut_replica",
		[FAKE_JOIN] = "join_replica",
		[FAKE_SLOW] = "slow_replica",
		[FAKE_HASTEN] = "hasten_replica",
		[FAKE_REMOVE] = "remove_replica",
		[FAKE_REMOVE_NETWORK] = "remove_network",
	};

	fake->calls[operation]++;
	if (fake->tell)
		fake->tell(fake->tell_arg, names[operation]);
	if (!fake->up)
		return STATUS_UNAVAILABLE;
	if (fake->failure_of_all[operation])
		return fake->failure_of_all[operation];
	if (!fake->countdown[operation] || --fake->countdown[operation])
		return STATUS_OK;
	return fake->failure[operation];
}

static bool same_key(const struct replica_key *a, const struct replica_key *b)
{
	return a->job == b->job && a->attempt == b->attempt && a->role == b->role && a->index == b->index &&
	       a->restart == b->restart;
}

static struct replica_status *container_find(struct fake_engine *fake, const struct replica_key *key)
{
	for (unsigned i = 0; i < fake->container_count; i++)
		if (same_key(&fake->containers[i].key, key))
			return &fake->containers[i];
	return NULL;
}

static void container_drop(struct fake_engine *fake, const struct replica_key *key)
{
	struct replica_status *container = container_find(fake, key);
	unsigned at, last;

	if (!container)
		return;
	at = (unsigned)(container - fake->containers);
	last = --fake->container_count;
	free(fake->limits[at]);
	free(fake->surroundings[at]);
	fake->containers[at] = fake->containers[last];
	fake->limits[at] = fake->limits[last];
	fake->surroundings[at] = fake->surroundings[last];
	json_decref(fake->devices[at]);
	fake->devices[at] = fake->devices[last];
	memcpy(fake->on[at], fake->on[last], sizeof(fake->on[at]));
	fake->awaits_removal[at] = fake->awaits_removal[last];
	fake->output[at] = fake->output[last];
}

static void tell_replica(struct fake_engine *fake, enum engine_event_kind kind,
			 const struct replica_status *status, enum status rc)
{
	pthread_cond_broadcast(&fake->changed);
	fake->sink.event(fake->sink.arg, &(struct engine_event){ .kind = kind,
								 .status = rc,
								 .text = rc ? "the fake refuses" : "",
								 .replicas = status,
								 .replica_count = 1 });
}

/* Of one that has ended: hands over what is not read, and then says so. Where nobody prints, nobody need read. */
static void output_end(struct fake_engine *fake, const struct replica_status *container)
{
	const size_t at = (size_t)(container - fake->containers);

	if (fake->lines && !fake->output[at].is_followed)
		return;
	while (fake->output[at].read < fake->lines) {
		const int64_t next = fake->output[at].read + 1;

		if (!fake->sink.line(fake->sink.arg, &(struct replica_line){ .key = container->key,
									     .stream = 1,
									     .time_ns = next,
									     .data = "line",
									     .length = strlen("line"),
									     .reach = { .time_ns = next } }))
			return;
		fake->output[at].read = next;
	}
	fake->output[at].is_followed = false;
	tell_replica(fake, ENGINE_LOGS_ENDED, container, STATUS_OK);
}

static struct network_status network_of(int64_t job)
{
	struct network_status network = {
		.job = job, .device = "ty-net", .gateway = 0x0ad50101, .capacity = 61
	};

	snprintf(network.id, sizeof(network.id), "net-%lld", (long long)job);
	return network;
}

static void tell_job(struct fake_engine *fake, enum engine_event_kind kind, int64_t job, enum status rc)
{
	const struct network_status network = network_of(job);

	fake->sink.event(fake->sink.arg, &(struct engine_event){ .kind = kind,
								 .job = job,
								 .status = rc,
								 .text = rc ? "the fake refuses" : "",
								 .networks = &network,
								 .network_count = 1 });
}

static void ensure_image(struct engine *engine, const char *image)
{
	struct fake_engine *fake = fake_of(engine);
	enum status rc;

	pthread_mutex_lock(&fake->mutex);
	rc = outcome_of(fake, FAKE_IMAGE);
	fake->sink.event(fake->sink.arg,
			 &(struct engine_event){ .kind = rc ? ENGINE_IMAGE_FAILED : ENGINE_IMAGE_READY,
						 .image = image,
						 .status = rc,
						 .text = rc ? "No such image" : "sha256:0" });
	pthread_mutex_unlock(&fake->mutex);
}

static void create_network(struct engine *engine, int64_t job, unsigned address_count)
{
	struct fake_engine *fake = fake_of(engine);
	enum status rc;

	(void)address_count;
	pthread_mutex_lock(&fake->mutex);
	rc = outcome_of(fake, FAKE_NETWORK);
	if (!rc && fake->network_count == NETWORKS_MAX)
		rc = STATUS_RESOURCE_EXHAUSTED;
	if (!rc)
		fake->networks[fake->network_count++] = network_of(job);
	tell_job(fake, rc ? ENGINE_NETWORK_FAILED : ENGINE_NETWORK_READY, job, rc);
	pthread_mutex_unlock(&fake->mutex);
}

static void network_drop(struct fake_engine *fake, int64_t job)
{
	for (unsigned i = 0; i < fake->network_count; i++)
		if (fake->networks[i].job == job)
			fake->networks[i--] = fake->networks[--fake->network_count];
}

static void remove_network(struct engine *engine, int64_t job)
{
	struct fake_engine *fake = fake_of(engine);
	enum status rc;

	pthread_mutex_lock(&fake->mutex);
	rc = outcome_of(fake, FAKE_REMOVE_NETWORK);
	if (!rc)
		network_drop(fake, job);
	tell_job(fake, rc ? ENGINE_FAILED : ENGINE_NETWORK_REMOVED, job, rc);
	pthread_mutex_unlock(&fake->mutex);
}

static char *limits_text(const struct replica_spec *spec)
{
	struct text text AUTO_TEXT = { 0 };
	size_t index;
	json_t *id;

	text_printf(&text, "%lld %lld %lld ", (long long)spec->nano_cpus, (long long)spec->memory_bytes,
		    (long long)spec->shm_bytes);
	json_array_foreach((json_t *)spec->device_ids, index, id)
		text_printf(&text, "%s%s", index ? "," : "", json_string_value(id));
	if (!spec->device_ids)
		text_puts(&text, "-");
	return text_take(&text);
}

static void lines_append(struct text *text, const json_t *list)
{
	size_t index;
	json_t *line;

	json_array_foreach((json_t *)list, index, line)
		text_printf(text, "%s\n", json_string_value(line));
}

static char *surroundings_text(const struct replica_spec *spec)
{
	struct text text AUTO_TEXT = { 0 };

	lines_append(&text, spec->env);
	lines_append(&text, spec->hosts);
	lines_append(&text, spec->binds);
	return text_take(&text);
}

static bool has_double(const struct fake_engine *fake, const json_t *ids)
{
	size_t index, other;
	json_t *id, *held;

	for (unsigned i = 0; i < fake->container_count; i++)
		json_array_foreach((json_t *)ids, index, id)
			json_array_foreach(fake->devices[i], other, held)
				if (json_equal(id, held))
					return true;
	return false;
}

static void listing_send(struct fake_engine *fake)
{
	for (unsigned i = 0; i < fake->container_count; i++)
		fake->containers[i].paused = fake->paused_listings != 0;
	fake->paused_listings -= fake->paused_listings != 0;
	fake->sink.event(fake->sink.arg, &(struct engine_event){ .kind = ENGINE_LISTING,
								 .text = "",
								 .replicas = fake->containers,
								 .replica_count = fake->container_count,
								 .networks = fake->networks,
								 .network_count = fake->network_count });
}

/* Under the lock, as what follows. */
static void come_up(struct fake_engine *fake)
{
	fake->up = true;
	fake->sink.event(
		fake->sink.arg,
		&(struct engine_event){ .kind = ENGINE_UP, .text = "fake 1.0", .host = &fake->host });
	listing_send(fake);
	/* What was being read when it went away has ended meanwhile. */
	for (unsigned i = 0; i < fake->container_count; i++)
		if (fake->containers[i].sight == REPLICA_EXITED)
			output_end(fake, &fake->containers[i]);
}

static void go_down(struct fake_engine *fake, const char *text)
{
	fake->up = false;
	fake->sink.event(fake->sink.arg, &(struct engine_event){ .kind = ENGINE_DOWN, .text = text });
}

static void blink(struct fake_engine *fake)
{
	go_down(fake, "blinks");
	come_up(fake);
	fake->blinks = false;
}

static void create_replica(struct engine *engine, const struct replica_spec *spec)
{
	struct fake_engine *fake = fake_of(engine);
	struct replica_status status = { .key = spec->key,
					 .sight = REPLICA_CREATED,
					 .gateway_port = spec->gateway_port,
					 .made_us = spec->made_us };
	enum status rc;

	pthread_mutex_lock(&fake->mutex);
	rc = outcome_of(fake, FAKE_CREATE);
	if (fake->blinks)
		blink(fake);
	if (!rc && !container_find(fake, &spec->key)) {
		fake->doubled += has_double(fake, spec->device_ids);
		fake->devices[fake->container_count] = json_deep_copy(spec->device_ids);
		snprintf(fake->on[fake->container_count], sizeof(fake->on[0]), "%s", spec->network);
		fake->awaits_removal[fake->container_count] = false;
		memset(&fake->output[fake->container_count], 0, sizeof(fake->output[0]));
		fake->limits[fake->container_count] = limits_text(spec);
		fake->surroundings[fake->container_count] = surroundings_text(spec);
		fake->containers[fake->container_count++] = status;
	}
	tell_replica(fake, rc ? ENGINE_REPLICA_FAILED : ENGINE_REPLICA_CREATED, &status, rc);
	pthread_mutex_unlock(&fake->mutex);
}

static bool network_is_there(const struct fake_engine *fake, const char *id)
{
	for (unsigned i = 0; i < fake->network_count; i++)
		if (strcmp(fake->networks[i].id, id) == 0)
			return true;
	return false;
}

static bool meets_another_job(const struct fake_engine *fake, const struct replica_status *container)
{
	const char *network = fake->on[container - fake->containers];

	for (unsigned i = 0; i < fake->container_count; i++)
		if (fake->containers[i].key.job != container->key.job &&
		    fake->containers[i].sight == REPLICA_RUNNING && strcmp(fake->on[i], network) == 0)
			return true;
	return false;
}

/* Under the lock. */
static void container_end(struct fake_engine *fake, struct replica_status *container, int exit_code,
			  bool tell)
{
	container->sight = REPLICA_EXITED;
	container->exit_code = exit_code;
	container->finished_ns = clock_wall_ns(&system_clock);
	if (!tell)
		return;
	tell_replica(fake, ENGINE_REPLICA_EXITED, container, STATUS_OK);
	output_end(fake, container);
}

static void start_replica(struct engine *engine, const struct replica_key *key)
{
	struct fake_engine *fake = fake_of(engine);
	struct replica_status status = { .key = *key, .sight = REPLICA_RUNNING };
	struct replica_status *container;
	enum status rc;

	pthread_mutex_lock(&fake->mutex);
	rc = outcome_of(fake, FAKE_START);
	container = container_find(fake, key);
	if (!rc && container && !network_is_there(fake, fake->on[container - fake->containers]))
		rc = STATUS_NOT_FOUND;
	if (!rc && container && container->sight == REPLICA_CREATED) {
		container->sight = REPLICA_RUNNING;
		fake->shared += meets_another_job(fake, container);
	}
	tell_replica(fake, rc ? ENGINE_REPLICA_FAILED : ENGINE_REPLICA_STARTED, &status, rc);
	if (!rc && container && fake->ends_at_once)
		container_end(fake, container, fake->exit_at_once, true);
	pthread_mutex_unlock(&fake->mutex);
}

static void stop_replica(struct engine *engine, const struct replica_key *key, unsigned grace_s)
{
	struct fake_engine *fake = fake_of(engine);
	struct replica_status *container;
	struct replica_status unknown = { .key = *key };
	enum status rc;

	(void)grace_s;
	pthread_mutex_lock(&fake->mutex);
	rc = outcome_of(fake, FAKE_STOP);
	container = container_find(fake, key);
	if (rc)
		tell_replica(fake, ENGINE_FAILED, &unknown, rc);
	else if (container && container->sight == REPLICA_RUNNING && !fake->ignores_stop)
		container_end(fake, container, 143, true);
	pthread_mutex_unlock(&fake->mutex);
}

static void remove_replica(struct engine *engine, const struct replica_key *key)
{
	struct fake_engine *fake = fake_of(engine);
	struct replica_status status = { .key = *key };
	enum status rc;

	pthread_mutex_lock(&fake->mutex);
	rc = outcome_of(fake, FAKE_REMOVE);
	if (!rc && fake->holds_removals && container_find(fake, key)) {
		fake->awaits_removal[container_find(fake, key) - fake->containers] = true;
		pthread_mutex_unlock(&fake->mutex);
		return;
	}
	if (!rc)
		container_drop(fake, key);
	tell_replica(fake, rc ? ENGINE_FAILED : ENGINE_REPLICA_REMOVED, &status, rc);
	pthread_mutex_unlock(&fake->mutex);
}

static void link_replica(struct engine *engine, const struct replica_key *key,
			 const struct replica_link *link)
{
	struct fake_engine *fake = fake_of(engine);
	struct replica_status unknown = { .key = *key };
	enum status rc;

	pthread_mutex_lock(&fake->mutex);
	rc = outcome_of(fake, link->address ? FAKE_JOIN : FAKE_CUT);
	if (rc)
		tell_replica(fake, ENGINE_FAILED, &unknown, rc);
	pthread_mutex_unlock(&fake->mutex);
}

static void throttle_replica(struct engine *engine, const struct replica_key *key, unsigned bytes_per_s)
{
	struct fake_engine *fake = fake_of(engine);
	struct replica_status unknown = { .key = *key };
	enum status rc;

	pthread_mutex_lock(&fake->mutex);
	rc = outcome_of(fake, bytes_per_s ? FAKE_SLOW : FAKE_HASTEN);
	if (rc)
		tell_replica(fake, ENGINE_THROTTLE_FAILED, &unknown, rc);
	else
		fake->bytes_per_s = bytes_per_s;
	pthread_mutex_unlock(&fake->mutex);
}

static void follow_logs(struct engine *engine, const struct replica_key *key, const struct log_position *from)
{
	struct fake_engine *fake = fake_of(engine);
	struct replica_status *container;

	pthread_mutex_lock(&fake->mutex);
	container = container_find(fake, key);
	if (!container) {
		tell_replica(fake, ENGINE_LOGS_ENDED, &(struct replica_status){ .key = *key }, STATUS_OK);
	} else if (!fake->output[container - fake->containers].is_followed) {
		fake->output[container - fake->containers].is_followed = true;
		fake->output[container - fake->containers].read = from->streams[0].time_ns;
	}
	if (container && container->sight == REPLICA_EXITED)
		output_end(fake, container);
	pthread_mutex_unlock(&fake->mutex);
}

static void resume_logs(struct engine *engine)
{
	struct fake_engine *fake = fake_of(engine);

	pthread_mutex_lock(&fake->mutex);
	for (unsigned i = 0; i < fake->container_count; i++)
		if (fake->lines && fake->containers[i].sight == REPLICA_EXITED)
			output_end(fake, &fake->containers[i]);
	pthread_mutex_unlock(&fake->mutex);
}

static enum status open_terminal(struct engine *engine, const struct replica_key *key, const json_t *command,
				 struct terminal **ret_terminal, struct error *err)
{
	(void)engine, (void)key, (void)command, (void)ret_terminal;
	return error_set(err, STATUS_FAILED_PRECONDITION, NULL, "the fake has no programs");
}

/* Under the lock. */
static void list(struct engine *engine)
{
	struct fake_engine *fake = fake_of(engine);

	pthread_mutex_lock(&fake->mutex);
	if (fake->up)
		listing_send(fake);
	pthread_mutex_unlock(&fake->mutex);
}

static void close_engine(struct engine *engine)
{
	(void)engine;
}

static const struct engine_ops operations = {
	ensure_image, create_network, remove_network, create_replica,   start_replica,
	stop_replica, remove_replica, link_replica,   throttle_replica, follow_logs,
	resume_logs,  open_terminal,  list,           close_engine,
};

struct fake_engine *fake_engine_new(void)
{
	struct fake_engine *fake = calloc(1, sizeof(*fake));

	fake->engine.ops = &operations;
	fake->host = (struct host){ .known = true, .cpus = 8, .memory_bytes = (int64_t)64 << 30 };
	pthread_mutex_init(&fake->mutex, NULL);
	pthread_cond_init(&fake->changed, NULL);
	return fake;
}

struct engine *fake_engine_open(struct fake_engine *fake, const struct engine_sink *sink)
{
	fake->sink = *sink;
	return &fake->engine;
}

void fake_engine_host(struct fake_engine *fake, const struct host *host)
{
	pthread_mutex_lock(&fake->mutex);
	fake->host = *host;
	pthread_mutex_unlock(&fake->mutex);
}

void fake_engine_free(struct fake_engine *fake)
{
	for (unsigned i = 0; i < fake->container_count; i++)
		free(fake->limits[i]), free(fake->surroundings[i]), json_decref(fake->devices[i]);
	pthread_mutex_destroy(&fake->mutex);
	pthread_cond_destroy(&fake->changed);
	free(fake);
}

void fake_engine_up(struct fake_engine *fake)
{
	pthread_mutex_lock(&fake->mutex);
	come_up(fake);
	pthread_mutex_unlock(&fake->mutex);
}

void fake_engine_list(struct fake_engine *fake, unsigned paused)
{
	pthread_mutex_lock(&fake->mutex);
	fake->paused_listings = paused;
	listing_send(fake);
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
	go_down(fake, text);
	pthread_mutex_unlock(&fake->mutex);
}

void fake_engine_fail(struct fake_engine *fake, enum fake_operation operation, unsigned nth,
		      enum status status)
{
	pthread_mutex_lock(&fake->mutex);
	fake->countdown[operation] = nth;
	fake->failure[operation] = status;
	pthread_mutex_unlock(&fake->mutex);
}

/* One of its counts. */
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

static void end_by_itself(struct fake_engine *fake, const struct replica_key *key, int exit_code, bool tell)
{
	struct replica_status *container;

	pthread_mutex_lock(&fake->mutex);
	while (!(container = container_find(fake, key)) || container->sight != REPLICA_RUNNING)
		pthread_cond_wait(&fake->changed, &fake->mutex);
	container_end(fake, container, exit_code, tell);
	pthread_mutex_unlock(&fake->mutex);
}

void fake_engine_exit(struct fake_engine *fake, const struct replica_key *key, int exit_code)
{
	end_by_itself(fake, key, exit_code, true);
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
	end_by_itself(fake, key, exit_code, false);
}

bool fake_engine_exit_now(struct fake_engine *fake, const struct replica_key *key, int exit_code)
{
	struct replica_status *container;
	bool has_ended;

	pthread_mutex_lock(&fake->mutex);
	container = container_find(fake, key);
	if (container && container->sight == REPLICA_RUNNING)
		container_end(fake, container, exit_code, true);
	has_ended = container && container->sight == REPLICA_EXITED;
	pthread_mutex_unlock(&fake->mutex);
	return has_ended;
}

static void end_any(struct fake_engine *fake, unsigned choice, int exit_code, bool tell)
{
	struct replica_status *running[CONTAINERS_MAX];
	unsigned count = 0;

	pthread_mutex_lock(&fake->mutex);
	for (unsigned i = 0; i < fake->container_count; i++)
		if (fake->containers[i].sight == REPLICA_RUNNING)
			running[count++] = &fake->containers[i];
	if (count)
		container_end(fake, running[choice % count], exit_code, tell);
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

/* A copy of what one of the arrays has of it, once it was made. */
static char *text_of(struct fake_engine *fake, char *const *texts, const struct replica_key *key)
{
	struct replica_status *container;
	char *text;

	pthread_mutex_lock(&fake->mutex);
	while (!(container = container_find(fake, key)))
		pthread_cond_wait(&fake->changed, &fake->mutex);
	text = strdup(texts[container - fake->containers]);
	pthread_mutex_unlock(&fake->mutex);
	return text;
}

void fake_engine_print(struct fake_engine *fake, int64_t lines)
{
	pthread_mutex_lock(&fake->mutex);
	fake->lines = lines;
	pthread_mutex_unlock(&fake->mutex);
}

char *fake_engine_limits(struct fake_engine *fake, const struct replica_key *key)
{
	return text_of(fake, fake->limits, key);
}

char *fake_engine_surroundings(struct fake_engine *fake, const struct replica_key *key)
{
	return text_of(fake, fake->surroundings, key);
}

void fake_engine_on_call(struct fake_engine *fake, void (*tell)(void *arg, const char *operation), void *arg)
{
	pthread_mutex_lock(&fake->mutex);
	fake->tell = tell;
	fake->tell_arg = arg;
	pthread_mutex_unlock(&fake->mutex);
}

/* Under the lock. */
static void container_snatch(struct fake_engine *fake, const struct replica_key *key)
{
	struct replica_status status = { .key = *key, .sight = REPLICA_EXITED, .exit_code = 137 };

	if (container_find(fake, key)->sight == REPLICA_RUNNING)
		tell_replica(fake, ENGINE_REPLICA_EXITED, &status, STATUS_OK);
	container_drop(fake, key);
	tell_replica(fake, ENGINE_REPLICA_REMOVED, &status, STATUS_OK);
	tell_replica(fake, ENGINE_LOGS_ENDED, &status, STATUS_OK);
}

void fake_engine_snatch(struct fake_engine *fake, const struct replica_key *key)
{
	pthread_mutex_lock(&fake->mutex);
	while (!container_find(fake, key))
		pthread_cond_wait(&fake->changed, &fake->mutex);
	container_snatch(fake, key);
	pthread_mutex_unlock(&fake->mutex);
}

void fake_engine_snatch_any(struct fake_engine *fake, unsigned choice)
{
	struct replica_key key;

	pthread_mutex_lock(&fake->mutex);
	if (fake->container_count) {
		key = fake->containers[choice % fake->container_count].key;
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
		const struct replica_status status = { .key = fake->containers[i].key };

		if (!fake->awaits_removal[i]) {
			i++;
			continue;
		}
		container_drop(fake, &status.key);
		tell_replica(fake, ENGINE_REPLICA_REMOVED, &status, STATUS_OK);
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

unsigned fake_engine_calls(struct fake_engine *fake, enum fake_operation operation)
{
	return peek(fake, &fake->calls[operation]);
}
