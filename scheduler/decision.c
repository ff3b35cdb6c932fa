/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/decision.h"

#include <stdlib.h>

#include "daemon/base/memory.h"
#include "scheduler/job_run.h"
#include "scheduler/plan/assignment.h"
#include "store/jobs/journal.h"
#include "store/jobs/leases.h"

void decision_change(struct decision *decision, const struct job_run *run, enum job_state to)
{
	decision->stores = true;
	decision->change.job = run->row->id;
	decision->change.from = run->row->state;
	decision->change.to = to;
}

void decision_order(struct decision *decision, enum order_verb verb, unsigned of)
{
	decision->orders =
		memory_resize(decision->orders, decision->order_count + 1, sizeof(*decision->orders));
	decision->orders[decision->order_count++] = (struct order){ .verb = verb, .of = of };
}

void decision_note(struct decision *decision, const struct journal_row *row)
{
	decision->journal =
		memory_resize(decision->journal, decision->journal_count + 1, sizeof(*decision->journal));
	decision->journal[decision->journal_count++] = *row;
}

bool decision_is_empty(const struct decision *decision)
{
	return !decision->stores && !decision->order_count && trial_acts_is_empty(&decision->trials);
}

void decision_deinit(struct decision *decision)
{
	free(decision->error_message);
	free(decision->outcome_message);
	notes_clear(&decision->says);
	free(decision->journal);
	assignment_free(decision->assignment);
	leases_free(decision->leases, decision->lease_count);
	json_decref(decision->reported);
	trial_acts_deinit(&decision->trials);
	free(decision->orders);
}
