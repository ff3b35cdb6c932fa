/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/plan/rooms.h"

#include <stdlib.h>

#include "daemon/base/memory.h"
#include "daemon/base/text.h"

void rooms_deinit(struct rooms *rooms)
{
	for (size_t i = 0; i < rooms->count; i++)
		room_deinit(&rooms->nodes[i].room);
	free(rooms->nodes);
	*rooms = (struct rooms){ 0 };
}

struct rooms rooms_emptied(const struct rooms *rooms)
{
	struct rooms empty = { memory_calloc(rooms->count, sizeof(*empty.nodes)), rooms->count };

	for (size_t i = 0; i < rooms->count; i++)
		empty.nodes[i] = (struct node_room){ rooms->nodes[i].name,
						     { .capacity = rooms->nodes[i].room.capacity } };
	return empty;
}

bool rooms_want_devices(unsigned accelerators, const struct rooms *rooms)
{
	for (size_t i = 0; i < rooms->count; i++)
		if (placement_wants_devices(accelerators, &rooms->nodes[i].room.capacity))
			return true;
	return false;
}

/* ---- one machine among others ---- */

static unsigned free_devices(const struct room *room)
{
	const size_t leased = room->usage.lease_count, there = room->capacity.host.device_count;

	return leased < there ? (unsigned)(there - leased) : 0;
}

static double share_of(double used, double all)
{
	return all > 0 ? used / all : 0;
}

static double greater(double a, double b)
{
	return a > b ? a : b;
}

/* How much of the machine is in use: of its CPUs, its memory, its GPUs or its containers, whichever is the most. */
static double load_of(const struct room *room)
{
	const struct usage *usage = &room->usage;
	const struct host *host = &room->capacity.host;
	const double cpus = share_of((double)usage->nano_cpus, (double)host->cpus * NANO_PER_CPU);
	const double memory = share_of((double)usage->memory_bytes, (double)host->memory_bytes);
	const double devices = share_of((double)usage->lease_count, (double)host->device_count);
	const double containers = share_of(usage->containers, room->capacity.max_containers);

	return greater(greater(cpus, memory), greater(devices, containers));
}

/* Whether @room is better for the job than @other, which also has room for it. */
static bool is_better(const struct room *room, const struct room *other, unsigned accelerators)
{
	if (accelerators && room->capacity.accelerators != ACCELERATORS_SHARE &&
	    free_devices(room) != free_devices(other))
		return free_devices(room) < free_devices(other);
	return load_of(room) < load_of(other);
}

/* ---- all of them ---- */

/* One job among the machines. */
struct search {
	const struct plan *plan;
	const struct rooms *rooms;
	unsigned accelerators;
	bool wants_devices; /* some machine has so many GPUs */
	const struct room *best;
	size_t node; /* of best */
	struct assignment *assignment;
	enum shortage shortage; /* of machines where the job could run later */
	bool waits;
	struct text reasons;         /* why it waits, of each machine */
	const struct room *hopeless; /* of those that can never run it, the one with the most GPUs */
	struct error refusal;        /* its text */
	enum shortage refusal_shortage;
};

static void search_deinit(struct search *search)
{
	assignment_free(search->assignment);
	text_deinit(&search->reasons);
	error_deinit(&search->refusal);
}
#define AUTO_SEARCH __attribute__((cleanup(search_deinit)))

/* A job with GPUs that a machine would only pretend to have runs where they are. */
static bool is_considered(const struct search *search, const struct room *room)
{
	return !search->wants_devices || placement_wants_devices(search->accelerators, &room->capacity);
}

/* The one that makes more of the other jobs wait counts. */
static enum shortage shortage_join(enum shortage a, enum shortage b)
{
	static const unsigned ranks[SHORTAGE_KINDS] = {
		[SHORTAGE_NONE] = 0,    [SHORTAGE_HOST] = 1, [SHORTAGE_ENGINE] = 2,  [SHORTAGE_PROJECT] = 3,
		[SHORTAGE_DEVICES] = 4, [SHORTAGE_ROOM] = 5, [SHORTAGE_NETWORK] = 6,
	};

	return ranks[a] > ranks[b] ? a : b;
}

static void reason_add(struct search *search, const char *name, const char *reason)
{
	text_printf(&search->reasons, "%s%s: %s", search->reasons.length ? " " : "", name, reason);
}

static void take(struct search *search, size_t node, struct assignment *assignment)
{
	const struct room *room = &search->rooms->nodes[node].room;

	if (search->best && !is_better(room, search->best, search->wants_devices ? search->accelerators : 0)) {
		assignment_free(assignment);
		return;
	}
	assignment_free(search->assignment);
	search->assignment = assignment;
	search->best = room;
	search->node = node;
}

static void refuse(struct search *search, const struct room *room, enum shortage shortage,
		   struct error *cause)
{
	if (search->hopeless &&
	    room->capacity.host.device_count <= search->hopeless->capacity.host.device_count)
		return;
	search->hopeless = room;
	search->refusal_shortage = shortage;
	error_deinit(&search->refusal);
	error_move(&search->refusal, cause);
}

/* INTERNAL: passed on. */
static enum status look_at(struct search *search, size_t node, struct error *err)
{
	const struct node_room *at = &search->rooms->nodes[node];
	AUTO(assignment) struct assignment *assignment = NULL;
	enum shortage shortage = SHORTAGE_NONE;
	struct error cause AUTO_ERROR = { 0 };
	const enum status rc = placement_find(search->plan, &at->room, &assignment, &shortage, &cause);

	switch (rc) {
	case STATUS_OK:
		take(search, node, TAKE(assignment));
		return STATUS_OK;
	case STATUS_RESOURCE_EXHAUSTED:
	case STATUS_UNAVAILABLE:
		search->waits = true;
		search->shortage = shortage_join(search->shortage,
						 rc == STATUS_UNAVAILABLE ? SHORTAGE_ENGINE : shortage);
		reason_add(search, at->name, cause.text ? cause.text : "There is too little room now.");
		return STATUS_OK;
	case STATUS_FAILED_PRECONDITION:
		refuse(search, &at->room, shortage, &cause);
		return STATUS_OK;
	default:
		return error_move(err, &cause);
	}
}

/* Whether a machine that has not answered yet may have the GPUs that the others only pretend to have. Such a job waits:
 * it must not run without GPUs because one engine answers later than another. */
static bool waits_for_devices(const struct search *search)
{
	for (size_t i = 0; i < search->rooms->count; i++)
		if (search->accelerators && !search->wants_devices && search->waits &&
		    !search->rooms->nodes[i].room.capacity.host.known)
			return true;
	return false;
}

static enum status search_end(struct search *search, size_t *ret_node, struct assignment **ret_assignment,
			      enum shortage *ret_shortage, struct error *err)
{
	*ret_shortage = SHORTAGE_NONE;
	if (search->best && !waits_for_devices(search)) {
		*ret_node = search->node;
		*ret_assignment = TAKE(search->assignment);
		if (search->node)
			(*ret_assignment)->node = memory_strdup(search->rooms->nodes[search->node].name);
		return STATUS_OK;
	}
	*ret_shortage = search->waits ? search->shortage : search->refusal_shortage;
	return search->waits ? error_set(err, STATUS_RESOURCE_EXHAUSTED, NULL, "%s", search->reasons.data)
			     : error_move(err, &search->refusal);
}

enum status rooms_find(const struct plan *plan, const struct rooms *rooms, size_t *ret_node,
		       struct assignment **ret_assignment, enum shortage *ret_shortage, struct error *err)
{
	struct search search AUTO_SEARCH = { .plan = plan,
					     .rooms = rooms,
					     .accelerators = plan_accelerator_count(plan) };
	enum status rc = STATUS_OK;

	if (rooms->count == 1) {
		*ret_node = 0;
		return placement_find(plan, &rooms->nodes->room, ret_assignment, ret_shortage, err);
	}
	search.wants_devices = rooms_want_devices(search.accelerators, rooms);
	for (size_t i = 0; !rc && i < rooms->count; i++)
		if (is_considered(&search, &rooms->nodes[i].room))
			rc = look_at(&search, i, err);
	if (rc)
		return rc;
	return search_end(&search, ret_node, ret_assignment, ret_shortage, err);
}
