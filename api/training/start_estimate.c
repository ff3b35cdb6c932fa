/* SPDX-License-Identifier: Apache-2.0 */
#include "api/training/start_estimate.h"

#include <stdlib.h>
#include <string.h>

#include "api/training/context.h"
#include "api/training/job_name.h"
#include "daemon/base/memory.h"
#include "store/jobs/jobs.h"

/* Choice: if more jobs than this are before a job, the estimate is that it waits, because looking at each of them would
 * take too long. */
enum { WAITING_MAX = 100 };

void start_estimate_deinit(struct start_estimate *start_estimate)
{
	free(start_estimate->text);
	free(start_estimate->behind);
	assignment_free(start_estimate->assignment);
	*start_estimate = (struct start_estimate){ 0 };
}

static void waits(struct start_estimate *start_estimate, enum shortage shortage, const char *text)
{
	start_estimate->shortage = shortage;
	start_estimate->text = memory_strdup(text ? text : "There is too little room now.");
}

static void waits_behind(const struct training_context *context, struct start_estimate *start_estimate,
			 const struct job *job, enum shortage shortage, const char *text)
{
	struct text name AUTO_TEXT = { 0 };

	job_name_write(context, job, &name);
	start_estimate->behind = text_take(&name);
	waits(start_estimate, shortage, text);
}

/* One estimation: our job, and the free resources that the jobs before it in the queue leave for it. */
struct estimation {
	const struct training_context *context;
	const struct plan *plan;           /* the plan of the job that waits */
	const struct job *job;             /* that job; NULL: it is not stored yet */
	const struct job_list *unfinished; /* NULL: to be read */
	struct fleet *fleet;
	struct start_estimate *start_estimate;
};

/* Whether our job has to wait behind @other, which waits because of @shortage. */
static bool holds_up(const struct estimation *estimation, const struct plan *other, enum shortage shortage)
{
	const struct plan *ours = estimation->plan;
	struct fleet *fleet = estimation->fleet;

	switch (shortage) {
	case SHORTAGE_NONE:
		return true;
	case SHORTAGE_ROOM:
	case SHORTAGE_NETWORK:
		return fleet_keep(fleet, other, shortage);
	case SHORTAGE_ENGINE:
		return fleet->count == 1; /* with several nodes others may start: see fleet_place() */
	case SHORTAGE_DEVICES:
		return fleet_keep(fleet, other, shortage) &&
		       placement_wants_devices(plan_accelerator_count(ours), &fleet->total.capacity);
	case SHORTAGE_PROJECT:
		return strcmp(ours->project, other->project) == 0;
	case SHORTAGE_HOST:
		return false;
	}
	return false;
}

/* Finds room for a job of another project. No vCPU quota is applied, because the fleet knows the usage of our project
 * only. */
static enum status other_place(struct fleet *fleet, const struct plan *other, unsigned **ret_nodes,
			       struct assignment **ret_assignment, enum shortage *ret_shortage,
			       struct error *err)
{
	const unsigned limit = fleet->total.capacity.project_vcpus;
	enum status rc;

	fleet->total.capacity.project_vcpus = 0;
	rc = fleet_place(fleet, other, ret_assignment, ret_nodes, ret_shortage, err);
	fleet->total.capacity.project_vcpus = limit;
	return rc;
}

/* Simulates the start of @job, which has its turn before ours. There are three outcomes: @job takes its resources, our
 * job has to wait behind @job, or @job makes no difference. */
static void look_at(const struct estimation *estimation, const struct job *job)
{
	struct fleet *fleet = estimation->fleet;
	AUTO(nodes) unsigned *nodes = NULL;
	AUTO(plan) struct plan *other = NULL;
	AUTO(assignment) struct assignment *assignment = NULL;
	struct error cause AUTO_ERROR = { 0 };
	enum shortage shortage = SHORTAGE_NONE;
	bool is_ours;

	if (plan_from_text(job->plan, &other, NULL))
		return; /* a job without a valid plan is about to fail */
	if (plan_tunes(other))
		return; /* the trials wait, not the tuning job itself */
	is_ours = strcmp(other->project, estimation->plan->project) == 0;
	switch (is_ours ? fleet_place(fleet, other, &assignment, &nodes, &shortage, &cause)
			: other_place(fleet, other, &nodes, &assignment, &shortage, &cause)) {
	case STATUS_OK:
		if (is_ours)
			fleet->total.usage.project_vcpus += plan_vcpus(other);
		fleet_use(fleet, other, assignment, nodes);
		break;
	case STATUS_RESOURCE_EXHAUSTED:
		if (holds_up(estimation, other, shortage))
			waits_behind(estimation->context, estimation->start_estimate, job, shortage,
				     cause.text);
		break;
	default:
		break; /* the job is about to fail */
	}
}

static int compare_turns(const void *left, const void *right)
{
	const struct job *a = *(const struct job *const *)left, *b = *(const struct job *const *)right;

	if (a->priority != b->priority)
		return a->priority > b->priority ? -1 : 1;
	return a->id < b->id ? -1 : a->id > b->id;
}

static bool goes_before(const struct job *other, const struct estimation *estimation)
{
	return estimation->job ? compare_turns(&other, &estimation->job) < 0
			       : other->priority >= estimation->plan->priority;
}

/* The queued jobs that have their turn before ours, in the order of their turns. */
static void queue_before(const struct estimation *estimation, const struct job_list *list,
			 const struct job ***ret_jobs, size_t *ret_count)
{
	const struct job **jobs = memory_calloc(list->count + 1, sizeof(struct job *));
	size_t count = 0;

	for (size_t i = 0; i < list->count; i++)
		if (list->jobs[i].state == JOB_QUEUED && list->jobs[i].outcome == JOB_STATE_UNSPECIFIED &&
		    goes_before(&list->jobs[i], estimation))
			jobs[count++] = &list->jobs[i];
	qsort(jobs, count, sizeof(struct job *), compare_turns);
	*ret_jobs = jobs;
	*ret_count = count;
}

static enum status queue_look(const struct estimation *estimation, struct error *err)
{
	const struct training_context *context = estimation->context;
	struct job_list list AUTO_JOB_LIST = { 0 };
	const struct job **jobs = NULL;
	size_t count = 0;
	enum status rc = estimation->unfinished ? STATUS_OK : job_list_unfinished(context->store, &list, err);

	if (!rc)
		queue_before(estimation, estimation->unfinished ? estimation->unfinished : &list, &jobs,
			     &count);
	if (!rc && count > WAITING_MAX)
		waits_behind(context, estimation->start_estimate, jobs[count - 1], SHORTAGE_ROOM,
			     "Many jobs wait before it.");
	for (size_t i = 0; i < count && !estimation->start_estimate->text; i++)
		look_at(estimation, jobs[i]);
	free(jobs);
	return rc;
}

/* Estimates the job's resources for a machine without other jobs. */
static enum status place_alone(const struct plan *plan, const struct rooms *rooms,
			       struct start_estimate *start_estimate, struct error *err)
{
	struct fleet empty AUTO_FLEET = fleet_of(rooms, true);
	enum shortage shortage = SHORTAGE_NONE;
	AUTO(nodes) unsigned *nodes = NULL;
	enum status rc = fleet_place(&empty, plan, &start_estimate->assignment, &nodes, &shortage, err);

	if (rc == STATUS_RESOURCE_EXHAUSTED) {
		error_deinit(err);
		return STATUS_OK;
	}
	for (int role = 0; !rc && role < ROLE_COUNT; role++) {
		json_decref(start_estimate->assignment->devices[role]);
		start_estimate->assignment->devices[role] = NULL;
	}
	return rc;
}

static enum status place(const struct plan *plan, const struct fleet *fleet,
			 struct start_estimate *start_estimate, struct error *err)
{
	struct error cause AUTO_ERROR = { 0 };
	enum shortage shortage = SHORTAGE_NONE;
	AUTO(nodes) unsigned *nodes = NULL;
	enum status rc = fleet_place(fleet, plan, &start_estimate->assignment, &nodes, &shortage, &cause);

	if (rc == STATUS_RESOURCE_EXHAUSTED) {
		waits(start_estimate, shortage, cause.text);
		return STATUS_OK;
	}
	if (rc)
		error_move(err, &cause);
	start_estimate->starts_now = !rc;
	return rc;
}

static enum status start_estimate_in(const struct training_context *context, const struct plan *plan,
				     const struct job *job, const struct job_list *unfinished,
				     const struct rooms *rooms, struct start_estimate *start_estimate,
				     struct error *err)
{
	struct fleet fleet AUTO_FLEET = fleet_of(rooms, false);
	struct estimation estimation = { context, plan, job, unfinished, &fleet, start_estimate };
	enum status rc = queue_look(&estimation, err);

	if (!rc && !start_estimate->text)
		rc = place(plan, &fleet, start_estimate, err);
	if (!rc && !start_estimate->starts_now)
		rc = place_alone(plan, rooms, start_estimate, err);
	start_estimate->known = !rc;
	return rc;
}

enum status start_estimate_make(const struct training_context *context, const struct plan *plan,
				const struct job *job, struct start_estimate *ret_estimate, struct error *err)
{
	return start_estimate_among(context, plan, job, NULL, ret_estimate, err);
}

enum status start_estimate_among(const struct training_context *context, const struct plan *plan,
				 const struct job *job, const struct job_list *unfinished,
				 struct start_estimate *ret_estimate, struct error *err)
{
	struct start_estimate start_estimate AUTO_START_ESTIMATE = { 0 };
	struct error cause AUTO_ERROR = { 0 };
	struct rooms rooms AUTO_ROOMS = { 0 };
	enum status rc = STATUS_UNAVAILABLE;

	if (context->rooms)
		rc = context->rooms(context->rooms_arg, plan->project, &rooms, &cause);
	if (!rc)
		rc = start_estimate_in(context, plan, job, unfinished, &rooms, &start_estimate, &cause);
	if (rc == STATUS_UNAVAILABLE) {
		start_estimate_deinit(&start_estimate); /* a partial result */
		waits(&start_estimate, context->rooms ? SHORTAGE_ENGINE : SHORTAGE_NONE,
		      cause.text ? cause.text : "What this machine has is not known.");
		rc = STATUS_OK;
	} else if (rc) {
		error_move(err, &cause);
	}
	if (rc)
		return rc;
	*ret_estimate = start_estimate;
	start_estimate = (struct start_estimate){ 0 };
	return STATUS_OK;
}

json_t *start_estimate_json(const struct start_estimate *start_estimate)
{
	static const char *const shortages[SHORTAGE_KINDS] = {
		[SHORTAGE_NONE] = NULL,         [SHORTAGE_ROOM] = "ROOM", [SHORTAGE_DEVICES] = "DEVICES",
		[SHORTAGE_PROJECT] = "PROJECT", [SHORTAGE_HOST] = "HOST", [SHORTAGE_ENGINE] = "ENGINE",
		[SHORTAGE_NETWORK] = "NETWORK",
	};
	const char *shortage = shortages[start_estimate->shortage];

	if (!start_estimate->known && !shortage)
		return json_pack("{s:s*}", "text", start_estimate->text);
	return json_pack("{s:b, s:s*, s:s*, s:s*}", "now", start_estimate->starts_now, "shortage", shortage,
			 "behind", start_estimate->behind, "text", start_estimate->text);
}
