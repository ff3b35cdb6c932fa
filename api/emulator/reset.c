/* SPDX-License-Identifier: Apache-2.0 */
#include "api/emulator/reset.h"

#include "api/emulator/faults.h"
#include "api/emulator/fields.h"
#include "api/emulator/jobs.h"
#include "api/message/message_write.h"
#include "api/training/context.h"
#include "scheduler/faults/fault_registry.h"
#include "store/jobs/job_purge.h"
#include "store/jobs/jobs.h"
#include "store/objects/objects_clear.h"

/* Choice: a step takes a second at most on a slow disk. */
enum { JOBS_AT_ONCE = 20, OBJECTS_AT_ONCE = 200 };

static const struct field no_fields[] = { { .name = NULL } };
const struct message reset_request_message = { "trainyard.ResetRequest", no_fields,
					       "All jobs, logs, objects and faults are to go.",
					       .is_own = true };

static const struct field answer_fields[] = {
	FIELD("done", BOOL, 0, "Whether nothing is left; else the call is to be repeated."),
	FIELD("stoppingCount", INT32, 0, "How many jobs are being stopped; absent if 0."),
	FIELD("removedJobs", INT32, 0, "How many jobs this call has removed; absent if 0."),
	FIELD("removedObjects", INT64, 0, "How many objects this call has removed; absent if 0."),
	{ .name = NULL },
};
const struct message reset_answer_message = { "trainyard.ResetStatus", answer_fields,
					      "How far a reset has come.", .is_own = true };

struct reset {
	const struct jobs_context *context;
	size_t stopping;
	unsigned jobs;
	uint64_t objects;
	bool done;
};

/* Cancels all unfinished jobs except those that run trials: they end with their tuning jobs. */
static enum status jobs_stop(struct reset *reset, struct error *err)
{
	struct job_list list AUTO_JOB_LIST = { 0 };
	enum status rc = job_list_unfinished(reset->context->store, &list, err);

	for (size_t i = 0; !rc && i < list.count; i++)
		if (!list.jobs[i].parent && list.jobs[i].outcome == JOB_STATE_UNSPECIFIED)
			job_cancel_by_id(reset->context->store, list.jobs[i].id,
					 "The job was cancelled because the emulator is reset.", NULL);
	reset->stopping = list.count;
	return rc;
}

static enum status jobs_remove(struct reset *reset, struct error *err)
{
	int64_t job = 1;
	enum status rc = STATUS_OK;

	while (!rc && job && reset->jobs < JOBS_AT_ONCE) {
		rc = job_purge_any(reset->context->store, &job, err);
		reset->jobs += !rc && job;
	}
	return rc;
}

/* Removes the remaining state, after all jobs are gone. */
static enum status rest_remove(struct reset *reset, struct error *err)
{
	struct objects *objects = reset->context->training->objects;
	bool more = false;
	enum status rc =
		objects ? objects_clear(objects, OBJECTS_AT_ONCE, &reset->objects, &more, err) : STATUS_OK;

	if (rc || more)
		return rc;
	rc = job_purge_rest(reset->context->store, &more, err);
	if (!rc && reset->context->faults)
		rc = fault_registry_clear(reset->context->faults->registry, err);
	reset->done = !rc && !more;
	return rc;
}

enum status reset_step(struct call *call, struct error *err)
{
	struct reset reset = { .context = call->context };
	struct writer answer;
	enum status rc = jobs_stop(&reset, err);

	if (!rc && !reset.stopping)
		rc = jobs_remove(&reset, err);
	if (!rc && !reset.stopping && !reset.jobs)
		rc = rest_remove(&reset, err);
	if (rc)
		return rc;
	answer = message_open(&call->answer, &reset_answer_message);
	member_bool(&answer, "done", reset.done);
	if (reset.stopping)
		member_int(&answer, "stoppingCount", (int64_t)reset.stopping);
	if (reset.jobs)
		member_int(&answer, "removedJobs", reset.jobs);
	if (reset.objects)
		member_int(&answer, "removedObjects", (int64_t)reset.objects);
	message_close(&answer);
	return STATUS_OK;
}
