/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/engine/leftovers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/json.h"
#include "daemon/base/text.h"

enum { NANOSECONDS = 1000 * 1000 * 1000 };

const char *const leftover_kind_names[] = { "container", "network" };

void leftovers_deinit(struct leftovers *list)
{
	free(list->items);
	*list = (struct leftovers){ 0 };
}

/* False when it is missing or too long. */
static bool text_copy(char *to, size_t size, const char *from)
{
	return from && (size_t)snprintf(to, size, "%s", from) < size;
}

/* It becomes part of paths. */
static bool id_valid(const char *id)
{
	return *id && !id[strspn(id, "0123456789abcdef")];
}

static bool name_is_ours(const struct leftover *item)
{
	const size_t length = strlen(item->instance);

	return strncmp(item->name, "ty-", 3) == 0 && strncmp(item->name + 3, item->instance, length) == 0 &&
	       item->name[3 + length] == '-';
}

/* A container has a list of names with a slash before each, and its time in seconds. */
static bool container_read(const json_t *from, struct leftover *item)
{
	const char *name = json_string_value(json_array_get(json_object_get(from, "Names"), 0));
	const char *state = json_text_at(from, "State");
	const char *job_id = json_text_at(json_object_get(from, "Labels"), "trainyard.job_id");

	item->created_s = json_int_at(from, "Created", 0);
	item->runs = state && (strcmp(state, "running") == 0 || strcmp(state, "paused") == 0);
	snprintf(item->job_id, sizeof(item->job_id), "%s", job_id ? job_id : "");
	return name && text_copy(item->name, sizeof(item->name), name + (*name == '/'));
}

static bool network_read(const json_t *from, struct leftover *item)
{
	const char *created = json_text_at(from, "Created");
	int64_t created_ns;

	if (created && time_parse(created, &created_ns))
		item->created_s = created_ns / NANOSECONDS;
	return text_copy(item->name, sizeof(item->name), json_text_at(from, "Name"));
}

static bool item_read(enum leftover_kind kind, const json_t *from, struct leftover *item)
{
	const char *instance = json_text_at(json_object_get(from, "Labels"), "trainyard.instance");

	*item = (struct leftover){ .kind = kind };
	return text_copy(item->instance, sizeof(item->instance), instance) &&
	       instance_valid(item->instance) &&
	       text_copy(item->id, sizeof(item->id), json_text_at(from, "Id")) && id_valid(item->id) &&
	       (kind == LEFTOVER_CONTAINER ? container_read(from, item) : network_read(from, item)) &&
	       name_is_ours(item);
}

bool leftovers_add(struct leftovers *list, enum leftover_kind kind, const json_t *answer)
{
	const size_t count = json_array_size(answer);
	struct leftover *grown;

	if (!count)
		return true;
	grown = reallocarray(list->items, list->count + count, sizeof(*grown));
	if (!grown)
		return false;
	list->items = grown;
	for (size_t i = 0; i < count; i++)
		list->count += item_read(kind, json_array_get(answer, i), &list->items[list->count]);
	return true;
}

static int item_compare(const void *left, const void *right)
{
	const struct leftover *a = left, *b = right;
	int order = strcmp(a->instance, b->instance);

	if (!order)
		order = (int)a->kind - (int)b->kind;
	return order ? order : strcmp(a->name, b->name);
}

void leftovers_sort(struct leftovers *list)
{
	if (list->count)
		qsort(list->items, list->count, sizeof(*list->items), item_compare);
}

size_t leftovers_count(const struct leftovers *list, size_t at, struct leftover_count *ret_count)
{
	*ret_count = (struct leftover_count){ .instance = list->items[at].instance };
	for (; at < list->count && strcmp(list->items[at].instance, ret_count->instance) == 0; at++) {
		const struct leftover *item = &list->items[at];

		ret_count->containers += item->kind == LEFTOVER_CONTAINER;
		ret_count->running += item->runs;
		ret_count->networks += item->kind == LEFTOVER_NETWORK;
		if (item->created_s > 0 && (!ret_count->oldest_s || item->created_s < ret_count->oldest_s))
			ret_count->oldest_s = item->created_s;
	}
	return at;
}
