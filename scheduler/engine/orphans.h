/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/orphans.h: the containers and networks of any instance that an engine has.
 * Pure but for memory. Thread: any. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/instance_lock.h"

enum orphan_kind { ORPHAN_CONTAINER, ORPHAN_NETWORK, ORPHAN_KIND_COUNT };
extern const char *const orphan_kind_names[ORPHAN_KIND_COUNT]; /* "container" */

enum { ORPHAN_NAME_SIZE = 128 };

struct orphan {
	enum orphan_kind kind;
	bool runs;
	bool is_joined;    /* a network: of a daemon in a container, which is in it while it runs */
	int64_t created_s; /* wall clock; 0: not known */
	char instance[INSTANCE_MAX + 1];
	char id[80];                   /* hexadecimal digits */
	char name[ORPHAN_NAME_SIZE];   /* "ty-INSTANCE-…" */
	char job_id[ORPHAN_NAME_SIZE]; /* as the user named the job; "" for networks. Bytes from outside */
};

struct orphans {
	struct orphan *items;
	size_t count;
};

void orphans_deinit(struct orphans *list);
#define AUTO_ORPHANS __attribute__((cleanup(orphans_deinit)))

/* What one instance has. */
struct orphan_count {
	const char *instance; /* borrowed of the list */
	size_t containers, running, networks;
	int64_t oldest_s; /* when the oldest was made; 0: not known */
};

/* By instance, containers before networks, by name. */
void orphans_sort(struct orphans *list);
/* In a sorted list: counts the instance with orphans that begin at @at; returns where the next instance's begin. */
size_t orphans_count(const struct orphans *list, size_t at, struct orphan_count *ret_count);
