/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* tests/unit/scheduler/world_engine_testing.h: the engine of world_testing.h. What it is asked for waits until a history does
 * it, or lets it fail; the answer waits until a history delivers it. It keeps the promises of engine.h and no others. */
#include "tests/unit/scheduler/world_search_testing.h"

static struct pending_event *event_add(enum engine_event_kind kind, struct operation *of)
{
	struct pending_event *pending = &world.events[world.event_count];

	if (world.event_count == EVENTS_MAX) {
		VIOLATE("too many events");
		return &world.events[0];
	}
	world.event_count++;
	*pending = (struct pending_event){ .event = { .kind = kind, .text = "" }, .of = of, .streamed = !of };
	if (of)
		of->answered = true;
	return pending;
}

static struct pending_event *replica_event(enum engine_event_kind kind, const struct replica_status *status,
					   struct operation *of)
{
	struct pending_event *pending = event_add(kind, of);

	pending->replica = *status;
	pending->event.job = status->key.job;
	pending->event.replica_count = 1;
	return pending;
}

static void key_event(enum engine_event_kind kind, const struct replica_key *key, struct operation *of)
{
	replica_event(kind, &(struct replica_status){ .key = *key }, of);
}

/* The reading of a container's output that has ended, or is gone, ends. */
static void output_end(struct container *container)
{
	if (!container->followed || container->logs_ended ||
	    (container->exists && container->status.observed != REPLICA_EXITED))
		return;
	container->logs_ended = true;
	key_event(ENGINE_LOGS_ENDED, &container->status.key, NULL);
}

static bool runs(const struct container *container)
{
	return container && container->exists && container->status.observed == REPLICA_RUNNING;
}

static void container_end(struct container *container, enum truth truth, int exit_code, bool reported)
{
	TELL("engine: %s ends with %d", key_text(&container->status.key), exit_code);
	container->truth = truth;
	container->status.observed = REPLICA_EXITED;
	container->status.exit_code = exit_code;
	container->status.out_of_memory = truth == BY_ITSELF && exit_code == 137;
	container->status.finished_ns = world.wall_us * 1000;
	container->status.witnessed = truth == BY_ITSELF && world.engine_up;
	container->status.signalled = world.engine_up && (truth == BY_OUR_STOP || truth == KILLED_OUTSIDE);
	container->status.paused = false;
	if (!world.engine_up || !reported)
		return;
	replica_event(ENGINE_REPLICA_EXITED, &container->status, NULL);
	output_end(container);
}

static void container_drop(struct container *container, enum truth truth)
{
	container->exists = false;
	if (container->truth == LIVES)
		container->truth = truth;
	if (world.engine_up) {
		key_event(ENGINE_REPLICA_REMOVED, &container->status.key, NULL);
		output_end(container);
	}
}

static bool network_is(int64_t network)
{
	for (size_t i = 0; i < world.network_count; i++)
		if (world.networks[i] == network)
			return true;
	return false;
}

static void network_fill(int64_t network, struct network_status *ret_status)
{
	*ret_status = (struct network_status){ .job = network, .first = 0x0ad50002, .capacity = 16 };
	snprintf(ret_status->id, sizeof(ret_status->id), "n%d", (int)network);
}

static void create_run(struct operation *operation)
{
	const struct replica_key *key = &operation->key;
	struct container *container = container_find(key);

	for (size_t i = 0; i < world.container_count; i++) {
		const struct container *other = &world.containers[i];

		if (runs(other) && other->status.key.job == key->job && other->status.key.role == key->role &&
		    other->status.key.index == key->index && other != container)
			VIOLATE("%s is made while %s runs", key_text(key), key_text(&other->status.key));
	}
	if (!container && world.container_count < CONTAINERS_MAX) {
		container = &world.containers[world.container_count++];
		container->exists = false;
	}
	if (container && !container->exists) {
		TELL("engine: makes %s", key_text(key));
		*container = (struct container){ .status = { .key = *key, .made_us = world.wall_us },
						 .network = operation->joins,
						 .exists = true };
	}
	key_event(ENGINE_REPLICA_CREATED, key, operation);
}

static void start_run(struct operation *operation)
{
	const struct replica_key *key = &operation->key;
	struct container *container = container_find(key);

	if (!container || !container->exists) {
		key_event(ENGINE_REPLICA_REMOVED, key, operation);
		return;
	}
	if (container->status.observed == REPLICA_CREATED && !network_is(container->network)) {
		replica_event(ENGINE_REPLICA_FAILED, &container->status, operation)->event.status =
			STATUS_NOT_FOUND;
		return;
	}
	if (container->status.observed == REPLICA_CREATED) {
		TELL("engine: starts %s", key_text(key));
		for (size_t i = 0; i < world.container_count; i++)
			if (runs(&world.containers[i]) && world.containers[i].network == container->network &&
			    world.containers[i].status.key.job != key->job)
				VIOLATE("%s starts on the network of %s", key_text(key),
					key_text(&world.containers[i].status.key));
		if (container->started)
			VIOLATE("%s is started twice", key_text(key));
		container->started = true;
		container->status.observed = REPLICA_RUNNING;
	}
	key_event(ENGINE_REPLICA_STARTED, key, operation);
	if (container->status.observed == REPLICA_EXITED)
		replica_event(ENGINE_REPLICA_EXITED, &container->status, NULL);
}

static void stop_run(struct operation *operation)
{
	struct container *container = container_find(&operation->key);

	if (!container || !container->exists)
		key_event(ENGINE_REPLICA_REMOVED, &operation->key, operation);
	else if (runs(container))
		container_end(container, BY_OUR_STOP, choose(2) ? 137 : 143, true);
	else if (container->status.observed == REPLICA_EXITED)
		replica_event(ENGINE_REPLICA_EXITED, &container->status, operation);
}

static void remove_run(struct operation *operation)
{
	struct container *container = container_find(&operation->key);
	const struct client_job *job = client_job(operation->key.job);

	if (!container || !container->exists) {
		key_event(ENGINE_REPLICA_REMOVED, &operation->key, operation);
		return;
	}
	TELL("engine: removes %s", key_text(&operation->key));
	if (runs(container) && !job_state_is_final(job->row.state) &&
	    job->row.attempt == operation->key.attempt && !job->row.outcome)
		VIOLATE("%s is removed while it runs", key_text(&operation->key));
	if (container->started && !container->logs_stored && !job->troubled &&
	    job->row.attempt == operation->key.attempt)
		VIOLATE("%s is removed, and its output was not stored", key_text(&operation->key));
	container->truth = container->truth == LIVES ? REMOVED_BY_US : container->truth;
	container_drop(container, REMOVED_BY_US);
}

static void network_remove_run(struct operation *operation)
{
	const int64_t network = operation->network;

	for (size_t i = 0; i < world.container_count; i++)
		if (runs(&world.containers[i]) && world.containers[i].network == network) {
			struct pending_event *failed = event_add(ENGINE_FAILED, operation);

			failed->event.job = network;
			failed->event.status = STATUS_INTERNAL;
			return;
		}
	for (size_t i = 0; i < world.network_count; i++)
		if (world.networks[i] == network) {
			TELL("engine: removes network %d", (int)network);
			world.networks[i--] = world.networks[--world.network_count];
		}
	event_add(ENGINE_NETWORK_REMOVED, operation)->event.job = network;
}

static void network_create_run(struct operation *operation)
{
	struct pending_event *ready;

	if (!network_is(operation->network) && world.network_count < NETWORKS_MAX)
		world.networks[world.network_count++] = operation->network;
	TELL("engine: network %d is ready", (int)operation->network);
	ready = event_add(ENGINE_NETWORK_READY, operation);
	ready->event.job = operation->network;
	network_fill(operation->network, &ready->network);
	ready->event.network_count = 1;
}

static void operation_run(struct operation *operation)
{
	struct pending_event *answer;

	switch (operation->verb) {
	case ENSURE_IMAGE:
		answer = event_add(ENGINE_IMAGE_READY, operation);
		memcpy(answer->image, operation->image, sizeof(answer->image));
		answer->event.text = "sha256:1";
		break;
	case LOOK:
		event_add(ENGINE_NETWORKS_FREE, operation)->event.free_blocks = 2;
		break;
	case CLAIM:
		event_add(ENGINE_DEVICES_CLAIMED, operation)->event.number = operation->order;
		break;
	case CREATE_NETWORK:
		network_create_run(operation);
		break;
	case REMOVE_NETWORK:
		network_remove_run(operation);
		break;
	case CREATE:
		create_run(operation);
		break;
	case START:
		start_run(operation);
		break;
	case STOP:
		stop_run(operation);
		break;
	case REMOVE:
		remove_run(operation);
		break;
	case NO_VERB:
		break;
	}
	if (!operation->answered) /* the stream tells */
		operation->verb = NO_VERB;
}

/* Answers with a failure what was done, or was not. */
static void operation_fail(struct operation *operation, enum status status)
{
	struct client_job *job = client_job(operation->key.job ? operation->key.job : operation->network);
	struct pending_event *answer;

	TELL("engine: fails to %s %s with %s", verb_names[operation->verb], key_text(&operation->key),
	     status_name(status));
	if (operation->verb == CREATE || operation->verb == START) {
		answer = replica_event(ENGINE_REPLICA_FAILED,
				       &(struct replica_status){ .key = operation->key }, operation);
	} else if (operation->verb == ENSURE_IMAGE) {
		answer = event_add(ENGINE_IMAGE_FAILED, operation);
		memcpy(answer->image, operation->image, sizeof(answer->image));
		world.image_refused = world.image_refused || status != STATUS_UNAVAILABLE;
	} else if (operation->verb == LOOK) {
		answer = event_add(ENGINE_NETWORKS_FREE, operation);
	} else if (operation->verb == CLAIM) {
		answer = event_add(ENGINE_DEVICES_CLAIMED, operation);
		answer->event.number = operation->order;
	} else if (operation->verb == CREATE_NETWORK) {
		answer = event_add(ENGINE_NETWORK_FAILED, operation);
		answer->event.job = operation->network;
	} else if (operation->verb == REMOVE_NETWORK) {
		answer = event_add(ENGINE_FAILED, operation);
		answer->event.job = operation->network;
	} else {
		answer = replica_event(ENGINE_FAILED, &(struct replica_status){ .key = operation->key },
				       operation);
	}
	if (job && status != STATUS_UNAVAILABLE && operation->verb != STOP && operation->verb != REMOVE)
		job->troubled = true;
	answer->event.status = status;
	answer->event.text = "as ordered";
}

static void operation_drop(struct operation *operation)
{
	for (size_t i = 0; i < world.event_count; i++)
		if (world.events[i].of == operation)
			world.events[i].of = NULL;
	operation->verb = NO_VERB;
}

static struct operation *operation_add(enum verb verb, const struct replica_key *key, int64_t network)
{
	struct operation *operation = NULL;

	if (!has_effect())
		return NULL;
	for (size_t i = 0; i < world.operation_count && !operation; i++)
		if (world.operations[i].verb == NO_VERB)
			operation = &world.operations[i];
	if (!operation && world.operation_count == OPERATIONS_MAX) {
		VIOLATE("too many operations");
		return NULL;
	}
	if (!operation)
		operation = &world.operations[world.operation_count++];
	*operation = (struct operation){ .verb = verb, .network = network, .number = ++world.asked };
	if (key)
		operation->key = *key;
	TELL("scheduler: asks to %s %s", verb_names[verb], key ? key_text(key) : "");
	if (world.engine_up)
		return operation;
	operation_fail(operation, STATUS_UNAVAILABLE);
	operation_drop(operation);
	return operation;
}

static void op_ensure_image(struct engine *engine, const char *image)
{
	struct operation *operation;

	(void)engine;
	for (size_t i = 0; i < world.operation_count; i++)
		if (world.operations[i].verb == ENSURE_IMAGE && !world.operations[i].answered &&
		    strcmp(world.operations[i].image, image) == 0)
			return;
	operation = operation_add(ENSURE_IMAGE, NULL, 0);
	if (!operation)
		return;
	snprintf(operation->image, sizeof(operation->image), "%s", image);
	for (size_t i = 0; i < world.event_count && operation->verb == NO_VERB; i++)
		if (world.events[i].event.kind == ENGINE_IMAGE_FAILED && !world.events[i].image[0])
			memcpy(world.events[i].image, operation->image, sizeof(operation->image));
}

static void op_create_network(struct engine *engine, int64_t job, unsigned address_count)
{
	(void)engine, (void)address_count;
	operation_add(CREATE_NETWORK, NULL, job);
}

static void op_look_for_networks(struct engine *engine, unsigned address_count)
{
	(void)engine, (void)address_count;
	operation_add(LOOK, NULL, 0);
}

static void op_claim_devices(struct engine *engine, const json_t *devices, unsigned number)
{
	struct operation *operation = operation_add(CLAIM, NULL, 0);

	(void)engine, (void)devices;
	if (operation)
		operation->order = number;
}

static void op_remove_network(struct engine *engine, int64_t job)
{
	(void)engine;
	operation_add(REMOVE_NETWORK, NULL, job);
}

static void op_create_replica(struct engine *engine, const struct replica_spec *spec)
{
	struct operation *operation = operation_add(CREATE, &spec->key, 0);

	(void)engine;
	if (json_array_size(spec->device_ids) != (spec->key.role == ROLE_MASTER ? client_job(spec->key.job)->gpus : 0))
		VIOLATE("%s is given %zu GPUs", key_text(&spec->key), json_array_size(spec->device_ids));
	if (operation)
		operation->joins = atoll(spec->network + 1);
}

static struct operation *operation_find(enum verb verb, const struct replica_key *key)
{
	for (size_t i = 0; i < world.operation_count; i++)
		if (world.operations[i].verb == verb && !world.operations[i].answered &&
		    memcmp(&world.operations[i].key, key, sizeof(*key)) == 0)
			return &world.operations[i];
	return NULL;
}

static void op_start_replica(struct engine *engine, const struct replica_key *key)
{
	(void)engine;
	if (!operation_find(START, key))
		operation_add(START, key, 0);
}

static void op_stop_replica(struct engine *engine, const struct replica_key *key, unsigned grace_s)
{
	struct operation *start = operation_find(START, key);

	(void)engine, (void)grace_s;
	if (!start) {
		operation_add(STOP, key, 0);
	} else if (has_effect()) {
		TELL("scheduler: takes the start of %s back", key_text(key));
		operation_drop(start);
		key_event(ENGINE_REPLICA_CREATED, key, NULL);
	}
}

static void op_remove_replica(struct engine *engine, const struct replica_key *key)
{
	(void)engine;
	operation_add(REMOVE, key, 0);
}

static void op_follow_logs(struct engine *engine, const struct replica_key *key,
			   const struct log_position *from)
{
	struct container *container = container_find(key);

	(void)engine, (void)from;
	if (!has_effect())
		return;
	TELL("scheduler: follows %s", key_text(key));
	if (!container) {
		key_event(ENGINE_LOGS_ENDED, key, NULL);
		return;
	}
	container->followed = true;
	if (world.engine_up)
		output_end(container);
}

static void op_list(struct engine *engine)
{
	(void)engine;
	if (has_effect())
		world.list_asked = true;
}

static void op_link_replica(struct engine *engine, const struct replica_key *key,
			    const struct replica_link *link)
{
	(void)engine, (void)key, (void)link;
}

static void op_throttle_replica(struct engine *engine, const struct replica_key *key, unsigned bytes_per_s)
{
	(void)engine, (void)key, (void)bytes_per_s;
}

static void op_resume_logs(struct engine *engine)
{
	(void)engine;
}

static const struct engine_ops world_ops = {
	.ensure_image = op_ensure_image,
	.create_network = op_create_network,
	.look_for_networks = op_look_for_networks,
	.claim_devices = op_claim_devices,
	.remove_network = op_remove_network,
	.create_replica = op_create_replica,
	.start_replica = op_start_replica,
	.stop_replica = op_stop_replica,
	.remove_replica = op_remove_replica,
	.link_replica = op_link_replica,
	.throttle_replica = op_throttle_replica,
	.follow_logs = op_follow_logs,
	.resume_logs = op_resume_logs,
	.list = op_list,
};
