/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/replica_journal.h"

#include "scheduler/decision.h"
#include "scheduler/job_run.h"
#include "store/jobs/journal.h"

static struct journal_row replica_row(const struct replica_run *replica, enum journal_kind kind)
{
	return (struct journal_row){ .kind = kind,
				     .attempt = replica->key.attempt,
				     .of_replica = true,
				     .role = (int)replica->key.role,
				     .index = replica->key.index,
				     .restart = replica->key.restart };
}

static void note_end(struct decision *decision, const struct replica_run *replica)
{
	struct journal_row row = replica_row(replica, JOURNAL_ENDED);

	row.time_us = replica->ended_us;
	row.cause = (int)replica->end;
	row.number = replica->exit_code;
	row.flags = (replica->out_of_memory ? JOURNAL_OUT_OF_MEMORY : 0) |
		    (replica->of_itself ? JOURNAL_OF_ITSELF : 0) | (replica->ordered ? JOURNAL_ORDERED : 0);
	decision_note(decision, &row);
}

/* Whether the end can be stored by itself. An end with an error text of the engine is stored together with the outcome,
 * because the outcome's message repeats the text. */
static bool end_is_plain(const struct replica_run *replica)
{
	return replica->end == END_EXIT || replica->end == END_LOST;
}

void note_restart(struct decision *decision, const struct replica_run *replica)
{
	struct journal_row row = replica_row(replica, JOURNAL_RESTARTED);

	row.restart++;
	decision_note(decision, &row);
}

static bool is_to_blame(const struct job_run *run, const struct replica_run *replica, enum job_state outcome)
{
	const bool bad = end_is_bad(replica->end, replica->exit_code);

	if (replica->end == END_NONE || job_run_restarts(run, replica))
		return false;
	return outcome == JOB_SUCCEEDED ? replica->key.role == ROLE_MASTER && !bad : bad;
}

void note_blame(struct decision *decision, const struct job_run *run, enum job_state outcome)
{
	for (size_t i = 0; !run->fault && i < run->replica_count; i++) {
		const struct replica_run *replica = &run->replicas[i];
		const struct journal_row row = replica_row(replica, JOURNAL_BLAME);

		if (!is_to_blame(run, replica, outcome))
			continue;
		if (replica->journaled < JOURNALED_END && !end_is_plain(replica))
			note_end(decision, replica);
		decision_note(decision, &row);
	}
}

void note_replicas(struct decision *decision, const struct job_run *run)
{
	for (size_t i = 0; i < run->replica_count; i++) {
		const struct replica_run *replica = &run->replicas[i];
		const struct journal_row made = replica_row(replica, JOURNAL_MADE);

		if (replica->journaled < JOURNALED_MADE && replica_is_made(replica))
			decision_note(decision, &made);
		if (replica->journaled < JOURNALED_END && end_is_plain(replica))
			note_end(decision, replica);
	}
}
