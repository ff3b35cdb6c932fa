/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/leftovers.h: the containers and networks of any instance that an engine has.
 * Pure but for memory; texts of the engine are hostile. Thread: any. */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/instance_lock.h"
#include "scheduler/engine/docker_json.h"

enum leftover_kind { LEFTOVER_CONTAINER, LEFTOVER_NETWORK, LEFTOVER_KIND_COUNT };
extern const char *const leftover_kind_names[LEFTOVER_KIND_COUNT]; /* "container" */

struct leftover {
	enum leftover_kind kind;
	bool runs;
	int64_t created_s; /* wall clock; 0: not known */
	char instance[INSTANCE_MAX + 1];
	char id[80];                   /* hexadecimal digits */
	char name[DOCKER_NAME_SIZE];   /* "ty-INSTANCE-…" */
	char job_id[DOCKER_NAME_SIZE]; /* as the user named the job; "" for networks. Bytes from outside */
};

struct leftovers {
	struct leftover *items;
	size_t count;
};

void leftovers_deinit(struct leftovers *list);
#define AUTO_LEFTOVERS __attribute__((cleanup(leftovers_deinit)))

/* Adds those of GET /containers/json, or of GET /networks. What has our label and not a name of ours is not ours: an
 * image that was made of a container of ours gives its labels to containers of other people.
 * False when memory ran out. */
bool leftovers_add(struct leftovers *list, enum leftover_kind kind, const json_t *answer);

/* What one instance has. */
struct leftover_count {
	const char *instance; /* borrowed of the list */
	size_t containers, running, networks;
	int64_t oldest_s; /* when the oldest was made; 0: not known */
};

/* By instance, containers before networks, by name. */
void leftovers_sort(struct leftovers *list);
/* Of a sorted list: counts the instance whose things begin at @at; returns where the next one's begin. */
size_t leftovers_count(const struct leftovers *list, size_t at, struct leftover_count *ret_count);
