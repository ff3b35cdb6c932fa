/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/search/trial_acts.h"

#include <stdlib.h>

#include "daemon/base/memory.h"
#include "scheduler/search/suggester.h"

struct trial_act *trial_act_add(struct trial_acts *acts, enum trial_act_kind kind,
				const struct stored_trial *stored)
{
	acts->items = memory_resize(acts->items, acts->count + 1, sizeof(*acts->items));
	acts->items[acts->count] =
		(struct trial_act){ .kind = kind, .number = stored->number, .run = stored->run };
	return &acts->items[acts->count++];
}

bool trial_acts_is_empty(const struct trial_acts *acts)
{
	return !acts->count && !acts->asks && !acts->starts && !acts->forgets && !acts->best && !acts->failed;
}

void trial_acts_deinit(struct trial_acts *acts)
{
	for (size_t i = 0; i < acts->count; i++) {
		free(acts->items[i].final);
		free(acts->items[i].curve);
		notes_clear(&acts->items[i].says);
	}
	free(acts->items);
	suggestion_free(acts->asks);
	error_deinit(&acts->err);
}
