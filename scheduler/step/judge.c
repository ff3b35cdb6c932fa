/* SPDX-License-Identifier: Apache-2.0 */
/* Writes down what the exits of the replicas decided, before anything is torn down for it. */
#include "scheduler/steps.h"

#include <stdlib.h>

#include "daemon/base/clock.h"
#include "daemon/base/log.h"
#include "scheduler/plan/dialect.h"
#include "store/logs/logs.h"

/* Its program ran, though it ended before all of its replicas were seen to: while no daemon looked, say. Clients see no
 * job succeed that never ran, and none fail by its own program before it did. */
static bool ran_unseen(const struct job_run *run, const struct judgement *judgement)
{
	return run->row->state == JOB_PREPARING &&
	       (judgement->verdict == JOB_SUCCEEDED || job_run_began(run));
}

enum { EXIT_NO_PROGRAM = 127 };

/* Users ask for it: what is missing is mostly an image's python, or arguments that its own entry point has swallowed.
 * Choice: the service says nothing of the kind. */
static void tell_missing_programs(const struct reconciler *reconciler, struct job_run *run)
{
	for (size_t i = 0; i < run->replica_count; i++) {
		const struct replica_run *replica = &run->replicas[i];
		AUTO(string) char *line = NULL;
		char name[REPLICA_NAME_MAX];

		if (replica->end != END_EXIT || replica->exit_code != EXIT_NO_PROGRAM || replica->ordered)
			continue;
		line = replica_command_line(reconciler, run, &replica->key);
		if (!line)
			continue;
		replica_sentence_name(run->plan, replica->key.role, replica->key.index, name);
		job_run_say(run, SEVERITY_WARNING,
			    "Status %d says that the replica %s found no such program. It was started as: %s",
			    EXIT_NO_PROGRAM, name, line);
	}
}

void step_judge(struct reconciler *reconciler, struct job_run *run)
{
	struct judgement judgement = job_run_judge(run);
	struct planned_change *planned = ran_unseen(run, &judgement)
						 ? running_declare(reconciler, run)
						 : pass_add(reconciler->pass, run, run->row->state);

	if (!planned) {
		free(judgement.message);
		return;
	}
	planned->change.decides = true;
	planned->change.verdict = judgement.verdict;
	planned->change.verdict_code = judgement.code;
	planned->verdict_message = judgement.message;
	if (judgement.verdict == JOB_PREPARING)
		job_run_say(run, SEVERITY_WARNING, "%sThe job is tried again (attempt %u).",
			    judgement.message, run->row->attempt + 1);
	if (judgement.verdict == JOB_FAILED)
		tell_missing_programs(reconciler, run);
	if (judgement.verdict == JOB_SUCCEEDED)
		job_run_say_all(run, SEVERITY_INFO, dialect_of(run->plan)->ending);
	log_event(LOG_INFO, "job-decided", "project=%s job=%s verdict=%s attempt=%u", run->row->project,
		  run->row->job_id, job_state_name(judgement.verdict), run->row->attempt);
}
