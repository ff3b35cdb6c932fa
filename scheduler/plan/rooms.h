/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/plan/rooms.h: the machines that jobs may run on, and which one of them a job gets. Pure. Thread: any. */
#include <stddef.h>

#include "daemon/base/error.h"
#include "scheduler/plan/placement.h"

struct node_room {
	const char *name; /* borrowed; the first machine's is what clients read, and is in no assignment */
	struct room room;
};

struct rooms {
	struct node_room *nodes; /* in the order of the configuration */
	size_t count;            /* at least 1 */
};

void rooms_deinit(struct rooms *rooms);
#define AUTO_ROOMS __attribute__((cleanup(rooms_deinit)))

/* The same machines without any job, and without any lack. Their hosts are borrowed: free(nodes) releases it. */
struct rooms rooms_emptied(const struct rooms *rooms);

/* Finds one machine with room for every replica of @plan. Of several, a job with GPUs gets the one with the fewest free
 * GPUs, and any other job the least loaded one. A machine with too few GPUs is not considered if another one has
 * enough of them, even if that one is full or does not answer now.
 *
 * Outcomes and @ret_shortage: as placement_find(), for a single machine exactly so. For several:
 *           RESOURCE_EXHAUSTED: the job waits; the text has a sentence for each machine that is considered.
 *           SHORTAGE_ENGINE then means that others may start, because only machines that do not answer could run it;
 *           FAILED_PRECONDITION: none of them can ever run it, and the text is about the one with the most GPUs.
 * @ret_node  the index of the machine, for OK; it is in the assignment too */
enum status rooms_find(const struct plan *plan, const struct rooms *rooms, size_t *ret_node,
		       struct assignment **ret_assignment, enum shortage *ret_shortage, struct error *err);

/* As placement_wants_devices(), for any of the machines. */
bool rooms_want_devices(unsigned accelerators, const struct rooms *rooms);
