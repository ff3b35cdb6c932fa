/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/room.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/log.h"
#include "daemon/base/memory.h"
#include "scheduler/device_claims.h"
#include "scheduler/job_run.h"
#include "scheduler/job_table.h"
#include "scheduler/plan/assignment.h"
#include "scheduler/scheduler_state.h"

static unsigned project_vcpus(const struct scheduler *scheduler, const char *project)
{
	return (unsigned)json_integer_value(json_object_get(scheduler->project_vcpus, project));
}

static void devices_swap(struct host *a, struct host *b)
{
	const struct host before = *a;

	a->devices = b->devices;
	a->device_count = b->device_count;
	b->devices = before.devices;
	b->device_count = before.device_count;
}

void room_host_take(struct node *node, struct host *reported)
{
	struct host *host = &node->room.capacity.host;

	pthread_mutex_lock(&node->scheduler->mutex);
	if (node->devices_automatic)
		devices_swap(host, reported);
	host->known = reported->known;
	host->cpus = reported->cpus;
	host->memory_bytes = reported->memory_bytes;
	memcpy(host->engine, reported->engine, sizeof(host->engine));
	pthread_mutex_unlock(&node->scheduler->mutex);
	log_event(LOG_INFO, "host", "%s%s%scpus=%u memory_mib=%lld gpus=%zu", node_shown(node) ? "node=" : "",
		  node_shown(node) ? node->name : "", node_shown(node) ? " " : "", host->cpus,
		  (long long)(host->memory_bytes >> 20), host->device_count);
}

void room_claims_keep(struct scheduler *scheduler)
{
	for (struct node *node = scheduler->nodes; node < scheduler->nodes + scheduler->node_count; node++)
		device_claims_keep(node->claims, node->room.usage.leases, node->room.usage.lease_count);
}

static void usage_lease_add(struct usage *usage, const struct lease *leases, size_t count)
{
	if (!count)
		return;
	usage->leases = memory_resize(usage->leases, usage->lease_count + count, sizeof(*usage->leases));
	memcpy(usage->leases + usage->lease_count, leases, count * sizeof(*leases));
	usage->lease_count += count;
}

struct node *node_named(struct scheduler *scheduler, const char *name)
{
	if (!name)
		return scheduler->nodes;
	for (size_t i = 1; i < scheduler->node_count; i++)
		if (strcmp(scheduler->nodes[i].name, name) == 0)
			return &scheduler->nodes[i];
	return NULL;
}

const char *node_shown(const struct node *node)
{
	return node->scheduler->node_count > 1 ? node->name : NULL;
}

bool nodes_are_away(const struct scheduler *scheduler)
{
	for (size_t i = 0; i < scheduler->node_count; i++)
		if (scheduler->nodes[i].state != ENGINE_AWAY)
			return false;
	return true;
}

/* The lease's node. It is known, because jobs_add() refuses a job on an unknown node. */
static struct node *lease_node(struct scheduler *scheduler, const struct lease *lease)
{
	struct node *node = node_named(scheduler, lease->node);

	return node ? node : scheduler->nodes;
}

enum status room_leases_load(struct scheduler *scheduler, struct error *err)
{
	struct lease *leases = NULL;
	size_t count = 0;
	enum status rc = lease_list(scheduler->reconciler.store, &leases, &count, err);

	if (rc)
		return rc;
	pthread_mutex_lock(&scheduler->mutex);
	for (struct node *node = scheduler->nodes; node < scheduler->nodes + scheduler->node_count; node++) {
		leases_free(node->room.usage.leases, node->room.usage.lease_count);
		node->room.usage.leases = NULL;
		node->room.usage.lease_count = 0;
	}
	for (size_t i = 0; i < count; i++)
		usage_lease_add(&lease_node(scheduler, &leases[i])->room.usage, &leases[i], 1);
	pthread_mutex_unlock(&scheduler->mutex);
	free(leases); /* the nodes own the texts now */
	room_claims_keep(scheduler);
	return STATUS_OK;
}

bool room_devices_are_claimed(const struct job_run *run)
{
	struct node *first = run->nodes->node;
	bool are_claimed = true;
	size_t count = 0;
	struct lease *leases = first && run->assignment && !run->assignment->shared
				       ? assignment_leases(run->assignment, run->row->id, &count)
				       : NULL;

	for (size_t i = 0; i < count; i++)
		are_claimed = are_claimed && device_claims_have(lease_node(first->scheduler, &leases[i])->claims,
								leases[i].device);
	leases_free(leases, count);
	return are_claimed;
}

/* Adds to the project's sum. The name is not checked as UTF-8, because a project is any text. */
static void project_vcpus_add(struct scheduler *scheduler, const char *project, int64_t vcpus)
{
	json_t *sum = json_object_get(scheduler->project_vcpus, project);

	if (!sum) {
		if (vcpus)
			json_object_set_new_nocheck(scheduler->project_vcpus, project, json_integer(vcpus));
		return;
	}
	json_integer_set(sum, json_integer_value(sum) + vcpus);
	if (!json_integer_value(sum))
		json_object_del(scheduler->project_vcpus, project);
}

/* Adds (@sign 1) or subtracts (@sign -1) the resources of the job's replicas on the node at @at. */
static void sums_add(const struct job_run *run, unsigned at, int sign)
{
	struct usage *usage = &run->nodes[at].node->room.usage;
	unsigned count = 0;

	for (size_t i = 0; i < run->replica_count; i++) {
		const struct replica_run *replica = &run->replicas[i];

		if (replica->at != at)
			continue;
		count++;
		if (!run->assignment)
			continue;
		usage->nano_cpus += sign * run->assignment->limits[replica->key.role].nano_cpus;
		usage->memory_bytes += sign * run->assignment->limits[replica->key.role].memory_bytes;
	}
	usage->jobs += (unsigned)(count ? sign : 0);
	usage->containers += (unsigned)sign * count;
}

/* Sets the job's nodes by its assignment. All are known, because jobs_add() refuses a job on an unknown node. */
static void nodes_take(struct scheduler *scheduler, struct job_run *run)
{
	struct node *node = node_named(scheduler, run->assignment ? run->assignment->node : NULL);

	run->nodes->node = node ? node : scheduler->nodes;
	for (size_t i = 0; run->assignment && i < run->replica_count; i++) {
		struct replica_run *replica = &run->replicas[i];

		node = node_named(scheduler,
				  assignment_node(run->assignment, replica->key.role, replica->key.index));
		replica->at = node ? job_run_join(run, node) : 0;
	}
}

void room_take(struct scheduler *scheduler, struct job_run *run)
{
	nodes_take(scheduler, run);
	pthread_mutex_lock(&scheduler->mutex);
	project_vcpus_add(scheduler, run->row->project, plan_vcpus(run->plan));
	for (unsigned at = 0; at < run->node_count; at++)
		sums_add(run, at, 1);
	pthread_mutex_unlock(&scheduler->mutex);
	run->counted = true;
}

void room_lease(const struct job_run *run)
{
	struct scheduler *scheduler = run->nodes->node->scheduler;
	size_t count;
	struct lease *leases = assignment_leases(run->assignment, run->row->id, &count);

	pthread_mutex_lock(&scheduler->mutex);
	for (size_t i = 0; i < count; i++)
		usage_lease_add(&lease_node(scheduler, &leases[i])->room.usage, &leases[i], 1);
	pthread_mutex_unlock(&scheduler->mutex);
	free(leases); /* the room owns the texts now */
}

static void leases_drop(struct usage *usage, int64_t job)
{
	size_t kept = 0;

	for (size_t i = 0; i < usage->lease_count; i++)
		if (usage->leases[i].job == job)
			lease_deinit(&usage->leases[i]);
		else
			usage->leases[kept++] = usage->leases[i];
	usage->lease_count = kept;
}

void room_return(struct scheduler *scheduler, struct job_run *run)
{
	if (!run->counted)
		return;
	pthread_mutex_lock(&scheduler->mutex);
	project_vcpus_add(scheduler, run->row->project, -(int64_t)plan_vcpus(run->plan));
	for (unsigned at = 0; at < run->node_count; at++) {
		sums_add(run, at, -1);
		leases_drop(&run->nodes[at].node->room.usage, run->row->id);
	}
	pthread_mutex_unlock(&scheduler->mutex);
	room_claims_keep(scheduler);
	run->counted = false;
	scheduler->queue_stirred = true;
}

void room_network_lack(struct node *node, const char *text)
{
	struct scheduler *scheduler = node->scheduler;

	if (strcmp(node->room.network_lack, text) == 0)
		return;
	pthread_mutex_lock(&scheduler->mutex);
	snprintf(node->room.network_lack, sizeof(node->room.network_lack), "%s", text);
	pthread_mutex_unlock(&scheduler->mutex);
	scheduler->queue_stirred = true;
}

static struct lease *leases_copy(const struct usage *usage)
{
	struct lease *leases = usage->lease_count ? memory_calloc(usage->lease_count, sizeof(*leases)) : NULL;

	for (size_t i = 0; i < usage->lease_count; i++) {
		leases[i] = usage->leases[i];
		leases[i].device = memory_strdup(usage->leases[i].device);
		leases[i].node = memory_strdup(usage->leases[i].node);
	}
	return leases;
}

static struct room room_copy(const struct node *node)
{
	struct room copy = node->room;

	copy.capacity.host = host_copy(&copy.capacity.host);
	copy.usage.leases = leases_copy(&copy.usage);
	if (node->state < ENGINE_ANSWERS)
		engine_lack_set(&copy, node->text);
	return copy;
}

struct rooms scheduler_rooms(struct scheduler *scheduler, const char *project)
{
	struct rooms rooms = { .span = scheduler->nodes_span };

	pthread_mutex_lock(&scheduler->mutex);
	rooms.count = scheduler->node_count;
	rooms.nodes = memory_calloc(rooms.count, sizeof(*rooms.nodes));
	for (size_t i = 0; i < rooms.count; i++) {
		rooms.nodes[i].name = scheduler->nodes[i].name;
		rooms.nodes[i].room = room_copy(&scheduler->nodes[i]);
		rooms.nodes[i].room.usage.project_vcpus = project_vcpus(scheduler, project);
	}
	pthread_mutex_unlock(&scheduler->mutex);
	return rooms;
}
