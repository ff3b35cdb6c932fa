/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/tuning/measurement_list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/memory.h"

enum { ROOM_FIRST = 64 };

void measurement_list_deinit(struct measurement_list *list)
{
	free(list->all);
	*list = (struct measurement_list){ 0 };
}

static size_t stride_of(const struct measurement_list *list)
{
	return list->stride ? list->stride : 1;
}

static void thin_out(struct measurement_list *list)
{
	for (size_t i = 0; 2 * i < list->count; i++)
		list->all[i] = list->all[2 * i];
	list->count = (list->count + 1) / 2;
	list->stride = 2 * stride_of(list);
}

void measurement_list_append(struct measurement_list *list, const struct measurement *measurement)
{
	/* The last measurement was kept only because it was the last one: the new one replaces it. */
	const bool replaces = list->count && (list->seen_count - 1) % stride_of(list);

	if (replaces) {
		list->all[list->count - 1] = *measurement;
		list->seen_count++;
		return;
	}
	if (list->count == MEASUREMENTS_KEPT_MAX)
		thin_out(list);
	if (list->count == list->size) {
		list->size = list->size ? list->size * 2 : ROOM_FIRST;
		list->all = memory_resize(list->all, list->size, sizeof(*list->all));
	}
	list->all[list->count++] = *measurement;
	list->seen_count++;
}

/* Orders by step, then time, then position; both are in one array. */
static int measurement_compare(const void *left, const void *right)
{
	const struct measurement *a = *(const struct measurement *const *)left;
	const struct measurement *b = *(const struct measurement *const *)right;

	if (a->step != b->step)
		return a->step < b->step ? -1 : 1;
	if (a->elapsed_s != b->elapsed_s)
		return a->elapsed_s < b->elapsed_s ? -1 : 1;
	return (a > b) - (a < b);
}

/* The new measurement replaces earlier values. */
static void measurement_cover(struct measurement *into, const struct measurement *from, size_t metric_count)
{
	for (size_t i = 0; i < metric_count; i++)
		if (!isnan(from->values[i]))
			into->values[i] = from->values[i];
	into->elapsed_s = from->elapsed_s;
}

static void sorted_join(const struct measurement *const *sorted, size_t count, size_t metric_count,
			struct measurement_list *into)
{
	for (size_t i = 0; i < count; i++) {
		struct measurement *last = into->count ? &into->all[into->count - 1] : NULL;

		if (last && last->step == sorted[i]->step)
			measurement_cover(last, sorted[i], metric_count);
		else
			measurement_list_append(into, sorted[i]);
	}
}

/* Copies all of @lists into @block. @sorted: pointers to the copies, still to be sorted. */
static void lists_copy(const struct measurement_list *const *lists, size_t count, struct measurement *block,
		       const struct measurement **sorted)
{
	size_t at = 0;

	for (size_t l = 0; l < count; l++)
		for (size_t i = 0; i < lists[l]->count; i++, at++) {
			block[at] = lists[l]->all[i];
			sorted[at] = &block[at];
		}
}

void measurement_lists_merge(const struct measurement_list *const *lists, size_t count, size_t metric_count,
			     struct measurement_list *into)
{
	struct measurement_list merged = { 0 };
	const struct measurement **sorted;
	struct measurement *block;
	size_t total = 0;

	for (size_t l = 0; l < count; l++)
		total += lists[l]->count;
	block = memory_calloc(total + 1, sizeof(*block));
	sorted = memory_calloc(total + 1, sizeof(struct measurement *));
	lists_copy(lists, count, block, sorted);
	qsort(sorted, total, sizeof(struct measurement *), measurement_compare);
	sorted_join(sorted, total, metric_count, &merged);
	free(block);
	free(sorted);
	measurement_list_deinit(into);
	*into = merged;
}
