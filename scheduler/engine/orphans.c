/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/engine/orphans.h"

#include <stdlib.h>
#include <string.h>

const char *const orphan_kind_names[] = { "container", "network", "volume" };

void orphans_deinit(struct orphans *list)
{
	free(list->items);
	*list = (struct orphans){ 0 };
}

static int item_compare(const void *left, const void *right)
{
	const struct orphan *a = left, *b = right;
	int order = strcmp(a->instance, b->instance);

	if (!order)
		order = (int)a->kind - (int)b->kind;
	return order ? order : strcmp(a->name, b->name);
}

void orphans_sort(struct orphans *list)
{
	if (list->count)
		qsort(list->items, list->count, sizeof(*list->items), item_compare);
}

size_t orphans_count(const struct orphans *list, size_t at, struct orphan_count *ret_count)
{
	*ret_count = (struct orphan_count){ .instance = list->items[at].instance };
	for (; at < list->count && strcmp(list->items[at].instance, ret_count->instance) == 0; at++) {
		const struct orphan *item = &list->items[at];

		ret_count->containers += item->kind == ORPHAN_CONTAINER;
		ret_count->running += item->runs;
		ret_count->networks += item->kind == ORPHAN_NETWORK;
		ret_count->volumes += item->kind == ORPHAN_VOLUME;
		if (item->created_s > 0 && (!ret_count->oldest_s || item->created_s < ret_count->oldest_s))
			ret_count->oldest_s = item->created_s;
	}
	return at;
}
