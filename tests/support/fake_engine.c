/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/fake_engine_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/clock.h"
#include "daemon/base/json.h"
#include "daemon/base/text.h"

static struct fake_engine *fake_of(struct engine *engine)
{
	return (struct fake_engine *)engine;
}

/* Whether this call is to fail, and how. The caller holds the lock. */
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
		[FAKE_FOLLOW] = "follow_logs",
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

struct container *fake_container_find(struct fake_engine *fake, const struct replica_key *key)
{
	for (unsigned i = 0; i < fake->container_count; i++)
		if (same_key(&fake->containers[i].status.key, key))
			return &fake->containers[i];
	return NULL;
}

bool fake_container_runs(const struct container *container)
{
	return container && container->status.observed == REPLICA_RUNNING;
}

static void container_deinit(struct container *container)
{
	free(container->limits);
	free(container->surroundings);
	json_decref(container->devices);
}

void fake_container_drop(struct fake_engine *fake, const struct replica_key *key)
{
	struct container *container = fake_container_find(fake, key);

	if (!container)
		return;
	container_deinit(container);
	*container = fake->containers[--fake->container_count];
}

void fake_tell_replica(struct fake_engine *fake, enum engine_event_kind kind,
		       const struct replica_status *status, enum status rc)
{
	pthread_cond_broadcast(&fake->changed);
	fake->sink.event(fake->sink.arg, &(struct engine_event){ .kind = kind,
								 .status = rc,
								 .text = rc ? "the fake refuses" : "",
								 .replicas = status,
								 .replica_count = 1 });
}

/* For a container that has ended: hands over its unread output, and then reports the end. Without output, nothing is
 * handed over. */
static void output_end(struct fake_engine *fake, struct container *container)
{
	if (fake->lines && !container->is_followed)
		return;
	while (container->read < fake->lines) {
		const int64_t next = container->read + 1;

		if (!fake->sink.line(fake->sink.arg, &(struct replica_line){ .key = container->status.key,
									     .stream = 1,
									     .time_ns = next,
									     .data = "line",
									     .length = strlen("line"),
									     .reach = { .time_ns = next } }))
			return;
		container->read = next;
	}
	container->is_followed = false;
	fake_tell_replica(fake, ENGINE_LOGS_ENDED, &container->status, STATUS_OK);
}

static struct network_status network_of(int64_t job)
{
	struct network_status network = {
		.job = job, .reach = { 0x0ad50101, "ty-net" }, .first = 0x0ad50102, .capacity = 61
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

/* Answers as the next creations would, without making a network. */
static void look_for_networks(struct engine *engine, unsigned address_count)
{
	struct fake_engine *fake = fake_of(engine);
	enum status rc;

	(void)address_count;
	pthread_mutex_lock(&fake->mutex);
	rc = !fake->up ? STATUS_UNAVAILABLE : fake->boasts ? STATUS_OK : fake->failure_of_all[FAKE_NETWORK];
	if (!rc && fake->network_count == NETWORKS_MAX)
		rc = STATUS_RESOURCE_EXHAUSTED;
	fake->looks++;
	fake->sink.event(fake->sink.arg, &(struct engine_event){ .kind = ENGINE_NETWORKS_FREE,
								 .status = rc,
								 .text = rc ? "the fake refuses" : "",
								 .free_blocks = rc ? 0 : FREE_BLOCKS_MAX });
	pthread_mutex_unlock(&fake->mutex);
}

static void claim_devices(struct engine *engine, const json_t *devices, unsigned number)
{
	struct fake_engine *fake = fake_of(engine);
	AUTO(json) json_t *refused = json_array();
	const json_t *device;
	size_t i;

	pthread_mutex_lock(&fake->mutex);
	json_array_foreach(devices, i, device)
		if (fake->held_elsewhere && strcmp(fake->held_elsewhere, json_string_value(device)) == 0)
			json_array_append_new(refused, json_string(fake->held_elsewhere));
	fake->sink.event(fake->sink.arg,
			 &(struct engine_event){ .kind = ENGINE_DEVICES_CLAIMED,
						 .status = fake->up && !fake->claims_fail ? STATUS_OK : STATUS_UNAVAILABLE,
						 .text = fake->claims_fail ? "no space" : "",
						 .number = number,
						 .devices = refused });
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
	lines_append(&text, spec->mounts);
	if (spec->empty)
		text_printf(&text, "empty:%s\n", spec->empty);
	return text_take(&text);
}

static bool has_double(const struct fake_engine *fake, const json_t *ids)
{
	size_t index, other;
	json_t *id, *held;

	for (unsigned i = 0; i < fake->container_count; i++)
		json_array_foreach((json_t *)ids, index, id)
			json_array_foreach(fake->containers[i].devices, other, held)
				if (json_equal(id, held))
					return true;
	return false;
}

void fake_listing_send(struct fake_engine *fake)
{
	for (unsigned i = 0; i < fake->container_count; i++) {
		fake->containers[i].status.paused = fake->paused_listings != 0;
		fake->listed[i] = fake->containers[i].status;
	}
	fake->paused_listings -= fake->paused_listings != 0;
	fake->sink.event(fake->sink.arg, &(struct engine_event){ .kind = ENGINE_LISTING,
								 .text = "",
								 .replicas = fake->listed,
								 .replica_count = fake->container_count,
								 .networks = fake->networks,
								 .network_count = fake->network_count });
}

void fake_come_up(struct fake_engine *fake)
{
	fake->up = true;
	fake->sink.event(
		fake->sink.arg,
		&(struct engine_event){ .kind = ENGINE_UP, .text = "fake 1.0", .host = &fake->host });
	fake_listing_send(fake);
	/* The reading of outputs ended when the engine went away. */
	for (unsigned i = 0; i < fake->container_count; i++)
		if (fake->containers[i].status.observed == REPLICA_EXITED)
			output_end(fake, &fake->containers[i]);
}

void fake_go_down(struct fake_engine *fake, const char *text)
{
	fake->up = false;
	fake->sink.event(fake->sink.arg, &(struct engine_event){ .kind = ENGINE_DOWN, .text = text });
}

static void blink(struct fake_engine *fake)
{
	fake_go_down(fake, "blinks");
	fake_come_up(fake);
	fake->blinks = false;
}

static void create_replica(struct engine *engine, const struct replica_spec *spec)
{
	struct fake_engine *fake = fake_of(engine);
	struct replica_status status = { .key = spec->key,
					 .observed = REPLICA_CREATED,
					 .gateway_port = spec->gateway_port,
					 .made_us = spec->made_us };
	enum status rc;

	pthread_mutex_lock(&fake->mutex);
	rc = outcome_of(fake, FAKE_CREATE);
	if (fake->blinks)
		blink(fake);
	if (!rc && !fake_container_find(fake, &spec->key)) {
		struct container *container = &fake->containers[fake->container_count];

		fake->doubled += has_double(fake, spec->device_ids);
		*container = (struct container){ .status = status,
						 .limits = limits_text(spec),
						 .surroundings = surroundings_text(spec),
						 .devices = json_deep_copy(spec->device_ids) };
		snprintf(container->on, sizeof(container->on), "%s", spec->network);
		fake->container_count++;
	}
	fake_tell_replica(fake, rc ? ENGINE_REPLICA_FAILED : ENGINE_REPLICA_CREATED, &status, rc);
	pthread_mutex_unlock(&fake->mutex);
}

static bool network_is_there(const struct fake_engine *fake, const char *id)
{
	for (unsigned i = 0; i < fake->network_count; i++)
		if (strcmp(fake->networks[i].id, id) == 0)
			return true;
	return fake->is_guest;
}

static bool meets_another_job(const struct fake_engine *fake, const struct container *container)
{
	for (unsigned i = 0; i < fake->container_count; i++) {
		const struct container *other = &fake->containers[i];

		if (other->status.key.job != container->status.key.job && fake_container_runs(other) &&
		    strcmp(other->on, container->on) == 0)
			return true;
	}
	return false;
}

void fake_container_end(struct fake_engine *fake, struct container *container, int exit_code, bool tell)
{
	container->status.observed = REPLICA_EXITED;
	container->status.exit_code = exit_code;
	container->status.signalled =
		exit_code == 143 && !container->status.witnessed; /* 143 is the status of a stop */
	container->status.finished_ns = clock_wall_ns(&system_clock);
	if (!tell)
		return;
	fake_tell_replica(fake, ENGINE_REPLICA_EXITED, &container->status, STATUS_OK);
	output_end(fake, container);
}

static void start_replica(struct engine *engine, const struct replica_key *key)
{
	struct fake_engine *fake = fake_of(engine);
	struct replica_status status = { .key = *key, .observed = REPLICA_RUNNING };
	struct container *container;
	enum status rc;

	pthread_mutex_lock(&fake->mutex);
	rc = outcome_of(fake, FAKE_START);
	container = fake_container_find(fake, key);
	if (!rc && container && !network_is_there(fake, container->on))
		rc = STATUS_NOT_FOUND;
	if (!rc && container && fake->holds_starts) {
		container->awaits_start = true;
		pthread_mutex_unlock(&fake->mutex);
		return;
	}
	if (!rc && container && container->status.observed == REPLICA_CREATED) {
		container->status.observed = REPLICA_RUNNING;
		fake->shared += meets_another_job(fake, container);
	}
	fake_tell_replica(fake, rc ? ENGINE_REPLICA_FAILED : ENGINE_REPLICA_STARTED, &status, rc);
	if (!rc && container && fake->ends_at_once)
		fake_container_end(fake, container, fake->exit_at_once, true);
	pthread_mutex_unlock(&fake->mutex);
}

static void stop_replica(struct engine *engine, const struct replica_key *key, unsigned grace_s)
{
	struct fake_engine *fake = fake_of(engine);
	struct container *container;
	struct replica_status unknown = { .key = *key };
	enum status rc;

	(void)grace_s;
	pthread_mutex_lock(&fake->mutex);
	rc = outcome_of(fake, FAKE_STOP);
	container = fake_container_find(fake, key);
	if (rc)
		fake_tell_replica(fake, ENGINE_FAILED, &unknown, rc);
	else if (fake_container_runs(container) && !fake->ignores_stop)
		fake_container_end(fake, container, 143, true);
	pthread_mutex_unlock(&fake->mutex);
}

static void remove_replica(struct engine *engine, const struct replica_key *key)
{
	struct fake_engine *fake = fake_of(engine);
	struct replica_status status = { .key = *key };
	struct container *container;
	enum status rc;

	pthread_mutex_lock(&fake->mutex);
	rc = outcome_of(fake, FAKE_REMOVE);
	container = fake_container_find(fake, key);
	if (!rc && fake->holds_removals && container) {
		container->awaits_removal = true;
		pthread_mutex_unlock(&fake->mutex);
		return;
	}
	if (!rc)
		fake_container_drop(fake, key);
	fake_tell_replica(fake, rc ? ENGINE_FAILED : ENGINE_REPLICA_REMOVED, &status, rc);
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
		fake_tell_replica(fake, ENGINE_FAILED, &unknown, rc);
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
		fake_tell_replica(fake, ENGINE_THROTTLE_FAILED, &unknown, rc);
	else
		fake->bytes_per_s = bytes_per_s;
	pthread_mutex_unlock(&fake->mutex);
}

static void follow_logs(struct engine *engine, const struct replica_key *key, const struct log_position *from)
{
	struct fake_engine *fake = fake_of(engine);
	struct container *container;
	enum status rc;

	pthread_mutex_lock(&fake->mutex);
	rc = outcome_of(fake, FAKE_FOLLOW);
	if (rc) {
		fake_tell_replica(fake, ENGINE_FAILED, &(struct replica_status){ .key = *key }, rc);
		pthread_mutex_unlock(&fake->mutex);
		return;
	}
	container = fake_container_find(fake, key);
	if (!container) {
		fake_tell_replica(fake, ENGINE_LOGS_ENDED, &(struct replica_status){ .key = *key },
				  STATUS_OK);
	} else if (!container->is_followed) {
		container->is_followed = true;
		container->read = from->streams[0].time_ns;
	}
	if (container && container->status.observed == REPLICA_EXITED)
		output_end(fake, container);
	pthread_mutex_unlock(&fake->mutex);
}

static void resume_logs(struct engine *engine)
{
	struct fake_engine *fake = fake_of(engine);

	pthread_mutex_lock(&fake->mutex);
	for (unsigned i = 0; i < fake->container_count; i++)
		if (fake->lines && fake->containers[i].status.observed == REPLICA_EXITED)
			output_end(fake, &fake->containers[i]);
	pthread_mutex_unlock(&fake->mutex);
}

static enum status open_terminal(struct engine *engine, const struct replica_key *key, const json_t *command,
				 enum terminal_kind kind, struct terminal **ret_terminal, struct error *err)
{
	(void)engine, (void)key, (void)command, (void)kind, (void)ret_terminal;
	return error_set(err, STATUS_FAILED_PRECONDITION, NULL, "the fake has no programs");
}

static void list(struct engine *engine)
{
	struct fake_engine *fake = fake_of(engine);

	pthread_mutex_lock(&fake->mutex);
	if (fake->up)
		fake_listing_send(fake);
	pthread_mutex_unlock(&fake->mutex);
}

static void close_engine(struct engine *engine)
{
	(void)engine;
}

/* The scheduler copies no files into or out of containers. */
static const struct engine_ops operations = {
	.ensure_image = ensure_image,
	.create_network = create_network,
	.look_for_networks = look_for_networks,
	.claim_devices = claim_devices,
	.remove_network = remove_network,
	.create_replica = create_replica,
	.start_replica = start_replica,
	.stop_replica = stop_replica,
	.remove_replica = remove_replica,
	.link_replica = link_replica,
	.throttle_replica = throttle_replica,
	.follow_logs = follow_logs,
	.resume_logs = resume_logs,
	.open_terminal = open_terminal,
	.way = fake_way,
	.list = list,
	.close = close_engine,
};

struct fake_engine *fake_engine_new(void)
{
	struct fake_engine *fake = calloc(1, sizeof(*fake));

	fake->engine.ops = &operations;
	fake->way = (struct engine_way){ INT64_MAX, 0 };
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

void fake_engine_be_guest(struct fake_engine *fake)
{
	pthread_mutex_lock(&fake->mutex);
	fake->is_guest = true;
	pthread_mutex_unlock(&fake->mutex);
}

void fake_engine_free(struct fake_engine *fake)
{
	for (unsigned i = 0; i < fake->container_count; i++)
		container_deinit(&fake->containers[i]);
	pthread_mutex_destroy(&fake->mutex);
	pthread_cond_destroy(&fake->changed);
	free(fake);
}
