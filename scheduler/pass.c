/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/pass.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/base/memory.h"
#include "scheduler/job_run.h"
#include "store/jobs/journal.h"
#include "store/jobs/leases.h"

static struct planned_change *slot_take(struct pass *pass)
{
	if (pass->count == pass->size) {
		size_t size = pass->size ? pass->size * 2 : 8;
		struct planned_change *grown = realloc(pass->planned, size * sizeof(*grown));

		if (!grown) {
			memory_note_failure();
			return NULL;
		}
		pass->planned = grown;
		pass->size = size;
	}
	pass->planned[pass->count] = (struct planned_change){ 0 };
	return &pass->planned[pass->count++];
}

struct planned_change *pass_add(struct pass *pass, struct job_run *run, enum job_state to)
{
	struct planned_change *planned = slot_take(pass);

	if (!planned)
		return NULL;
	planned->run = run;
	planned->note_mark = run->note_count;
	planned->change = (struct job_change){ .job = run->row->id, .from = run->row->state, .to = to };
	run->change_pending = true;
	return planned;
}

void planned_change_note(struct planned_change *planned, const struct journal_row *row)
{
	planned->journal =
		memory_resize(planned->journal, planned->journal_count + 1, sizeof(*planned->journal));
	planned->journal[planned->journal_count++] = *row;
}

void pass_clear(struct pass *pass)
{
	for (size_t i = 0; i < pass->count; i++) {
		free(pass->planned[i].lines);
		free(pass->planned[i].error_message);
		free(pass->planned[i].verdict_message);
		free(pass->planned[i].assignment);
		free(pass->planned[i].journal);
		json_decref(pass->planned[i].told);
		leases_free(pass->planned[i].leases, pass->planned[i].lease_count);
	}
	pass->count = 0;
}
