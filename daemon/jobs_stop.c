/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/jobs_stop.h"

#include "daemon/base/log.h"
#include "scheduler/scheduler.h"
#include "store/jobs/jobs.h"

void jobs_stop(struct store *store, struct scheduler *scheduler, unsigned wait_ms)
{
	struct job_list list AUTO_JOB_LIST = { 0 };
	struct error err AUTO_ERROR = { 0 };

	/* Refuse new jobs first: running jobs can still reach this daemon through their gateways and submit others. */
	if (jobs_end(store, &err) || job_list_unfinished(store, &list, &err)) {
		log_event(LOG_ERROR, "jobs-unread", "error=\"%s\"", err.text ? err.text : "");
		return;
	}
	/* Trials follow their tuning jobs. */
	for (size_t i = 0; i < list.count; i++)
		if (!list.jobs[i].parent)
			job_cancel_by_id(store, list.jobs[i].id,
					 "The job was cancelled because the emulator was stopped.", NULL);
	if (list.count && !scheduler_wait_idle(scheduler, wait_ms))
		log_event(LOG_WARNING, "jobs-unstopped", "hint=\"they are ended at the next start\"");
}
