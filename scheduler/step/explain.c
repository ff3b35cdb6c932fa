/* SPDX-License-Identifier: Apache-2.0 */
/* Stores why a job failed or was cancelled, once all it wrote can be read, and says it in the log. */
#include "scheduler/steps.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/base/log.h"
#include "daemon/base/memory.h"
#include "scheduler/plan/dialect.h"
#include "store/logs/logs.h"

enum { TAIL_LINES = 200 }; /* in which a traceback may begin */

/* The end of what the first replica that failed by itself wrote to stderr. The stored sentences say which
 * that was: exits that were seen later, of replicas that were stopped for it, say nothing. */
static char *stderr_tail(struct reconciler *reconciler, const struct job_run *run, const char *reason)
{
	struct error err AUTO_ERROR = { 0 };
	char task[REPLICA_NAME_MAX];
	char *tail = NULL;

	for (size_t i = 0; i < run->replica_count; i++) {
		const struct replica_key *key = &run->replicas[i].key;

		if (!sentences_blame(run->plan, reason, key->role, key->index))
			continue;
		replica_task_name(run->plan, key->role, key->index, task);
		if (log_stderr_tail(reconciler->store, job_run_owner(run), run->plan->trial, task, TAIL_LINES,
				    &tail, &err))
			log_event(LOG_WARNING, "stderr-tail-unread", "job=%s task=%s error=\"%s\"",
				  run->row->job_id, task, err.text ? err.text : "");
		return tail;
	}
	return NULL;
}

void step_explain(struct reconciler *reconciler, struct job_run *run)
{
	struct planned_change *planned = pass_add(reconciler->pass, run, run->row->state);
	const char *reason = run->row->verdict_message ? run->row->verdict_message : "";
	AUTO(string) char *tail = NULL;

	if (!planned)
		return;
	planned->change.error_code = run->row->verdict_code;
	if (run->row->verdict == JOB_FAILED) {
		tail = stderr_tail(reconciler, run, reason);
		planned->error_message =
			error_message_text(reason, tail, reconciler->project_number, run->plan->job_id);
		job_run_say(run, SEVERITY_ERROR, "%s",
			    planned->error_message ? planned->error_message : reason);
	} else {
		planned->error_message = memory_strdup(reason);
	}
	if (run->row->started_us)
		job_run_say_all(run, SEVERITY_INFO, dialect_of(run->plan)->ending);
}
