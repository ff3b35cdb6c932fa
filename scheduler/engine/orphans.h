/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/orphans.h: a list of the containers, networks and volumes of any instance in an engine. Pure, except
 * for memory. Thread: any. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/instance_lock.h"

enum orphan_kind { ORPHAN_CONTAINER, ORPHAN_NETWORK, ORPHAN_VOLUME, ORPHAN_KIND_COUNT };
extern const char *const orphan_kind_names[ORPHAN_KIND_COUNT]; /* "container" */

enum { ORPHAN_NAME_SIZE = 128 };

struct orphan {
	enum orphan_kind kind;
	bool runs;
	int64_t created_s; /* wall clock; 0: unknown */
	char instance[INSTANCE_MAX + 1];
	char id[80];                   /* hexadecimal digits; of a volume its name */
	char name[ORPHAN_NAME_SIZE];   /* "ty-INSTANCE-…" */
	char job_id[ORPHAN_NAME_SIZE]; /* the user's name for the job; "" for others. Untrusted bytes */
};

struct orphans {
	struct orphan *items;
	size_t count;
};

void orphans_deinit(struct orphans *list);
#define AUTO_ORPHANS __attribute__((cleanup(orphans_deinit)))

/* The number of orphans of one instance. */
struct orphan_count {
	const char *instance; /* borrowed of the list */
	size_t containers, running, networks, volumes;
	int64_t oldest_s; /* when the oldest was made; 0: unknown */
};

/* Sorts by instance, then containers before networks before volumes, then by name. */
void orphans_sort(struct orphans *list);
/* For a sorted list: counts the orphans of the instance that begin at @at; returns where those of the next instance
 * begin. */
size_t orphans_count(const struct orphans *list, size_t at, struct orphan_count *ret_count);
