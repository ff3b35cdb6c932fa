/* SPDX-License-Identifier: Apache-2.0 */
#include "api/emulator/queue.h"

#include <stdlib.h>
#include <string.h>

#include "api/emulator/fields.h"
#include "api/emulator/jobs.h"
#include "api/message/message_write.h"
#include "api/training/context.h"
#include "api/training/job_name.h"
#include "api/training/start_estimate.h"
#include "daemon/base/memory.h"
#include "scheduler/plan/dialect.h"
#include "store/jobs/jobs.h"

/* Choice: only the first ESTIMATES_MAX jobs get a start estimate. An estimate goes through all jobs before the
 * estimated one, which takes long for jobs far back in the queue, and gives the same result for all of them. */
enum { ESTIMATES_MAX = 20, WAITING_MAX = 1000, NANO = 1000000000 };

/* ---- messages ---- */

static const struct field waiting_fields[] = {
	FIELD("place", INT32, 0, "Its place in the queue, from 1."),
	FIELD("job", STRING, 0, "The name by which its own API knows it; of a trial, the tuning job's."),
	FIELD("trial", STRING, 0, "Which trial of a tuning job."),
	FIELD("displayName", STRING, 0, "What the client calls it; absent for a job of AI Platform Training."),
	FIELD("createTime", TIMESTAMP, 0, "Since when it waits."),
	FIELD("expireTime", TIMESTAMP, 0, "When it gives up; absent where it does not."),
	FIELD("priority", INT32, 0, "Jobs of a higher one are served first; absent if 0."),
	FIELD("replicaCount", INT32, 0, "How many replicas start together."),
	FIELD("gpuCount", INT32, 0, "How many GPUs they ask for together."),
	FIELD("vcpuCount", INT32, 0, "How many vCPUs they ask for together, in the cloud's sizes."),
	FIELD("startsNow", BOOL, 0, "Whether there is room for it now: its turn comes at once."),
	FIELD("shortage", STRING, 0,
	      "The resource that is short for it, or for the job that it waits behind: ROOM (jobs, containers, CPUs or memory), DEVICES "
	      "(GPUs that others hold), PROJECT (the project's vCPUs), HOST (GPUs that this machine does not have), ENGINE or "
	      "NETWORK. Only the first 20 jobs have it."),
	FIELD("behind", STRING, 0, "The name of the job that has to start before it."),
	FIELD("reason", STRING, 0, "Why it does not start, a sentence."),
	{ .name = NULL },
};
static const struct message waiting_message = { "trainyard.WaitingJob", waiting_fields,
						"A job that waits for its turn.", .is_own = true };

static const struct field room_fields[] = {
	FIELD("node", STRING, 0, "The node's name; absent for all together."),
	FIELD("problem", STRING, 0, "Why no job can start on the node now; absent: jobs can."),
	FIELD("jobs", INT32, 0, "How many jobs have been let in."),
	FIELD("maxJobs", INT32, 0, "How many may be."),
	FIELD("containers", INT32, 0, "How many containers they have."),
	FIELD("maxContainers", INT32, 0, "How many they may have."),
	FIELD("vcpus", DOUBLE, 0, "How many CPUs their containers may use together."),
	FIELD("maxVcpus", DOUBLE, 0, "How many there are to give; absent: no limit holds for all together."),
	FIELD("memoryBytes", INT64, 0, "How much memory they may use together."),
	FIELD("maxMemoryBytes", INT64, 0,
	      "How much there is to give; absent: no limit holds for all together."),
	FIELD("hostVcpus", INT32, 0, "How many CPUs the machine has, or all machines together."),
	FIELD("hostMemoryBytes", INT64, 0, "How much memory the machine has, or all machines together."),
	{ .name = NULL },
};
static const struct message room_message = { "trainyard.Room", room_fields,
					     "Resources in use, and their limits.", .is_own = true };

static const struct field queue_fields[] = {
	{ .name = "room", .type = FIELD_MESSAGE, .message = &room_message, .help = "Absent: not known now." },
	{ .name = "nodes",
	  .type = FIELD_MESSAGE,
	  .flags = FIELD_REPEATED,
	  .message = &room_message,
	  .help = "The same for each node; absent if there is only one." },
	{ .name = "jobs",
	  .type = FIELD_MESSAGE,
	  .flags = FIELD_REPEATED,
	  .message = &waiting_message,
	  .help = "Those that wait, the next one first; 1000 at most." },
	FIELD("waitingCount", INT32, 0, "How many wait."),
	{ .name = NULL },
};
const struct message queue_answer_message = { "trainyard.Queue", queue_fields, "The jobs that wait.",
					      .is_own = true };

static const struct field holder_fields[] = {
	FIELD("job", STRING, 0, "The name by which its own API knows it; of a trial, the tuning job's."),
	FIELD("trial", STRING, 0, "Which trial of a tuning job."),
	FIELD("displayName", STRING, 0,
	      "What the client calls the job; absent for a job of AI Platform Training."),
	FIELD("replica", STRING, 0, "The replica, as its log calls it."),
	FIELD("startTime", TIMESTAMP, 0, "When its job left the queue."),
	{ .name = NULL },
};
static const struct message holder_message = { "trainyard.GpuHolder", holder_fields,
					       "A replica that has a GPU.", .is_own = true };

static const struct field gpu_fields[] = {
	FIELD("id", STRING, 0, "What the engine calls it."),
	FIELD("node", STRING, 0, "The node that has it; absent if there is only one."),
	FIELD("shared", BOOL, 0, "Whether several replicas may hold it."),
	{ .name = "holders",
	  .type = FIELD_MESSAGE,
	  .flags = FIELD_REPEATED,
	  .message = &holder_message,
	  .help = "Absent: it is free." },
	{ .name = NULL },
};
static const struct message gpu_message = { "trainyard.Gpu", gpu_fields, "A GPU of a machine.",
					    .is_own = true };

static const struct field gpu_list_fields[] = {
	{ .name = "gpus",
	  .type = FIELD_MESSAGE,
	  .flags = FIELD_REPEATED,
	  .message = &gpu_message,
	  .help = "In the order in which they are given away." },
	FIELD("policy", STRING, 0,
	      "What happens to jobs that ask for more GPUs than there are: PRETEND (they run without), REQUIRE (they are "
	      "refused), WAIT or SHARE. Absent: not known now."),
	{ .name = NULL },
};
const struct message gpu_list_message = { "trainyard.GpuList", gpu_list_fields, "The GPUs of all machines.",
					  .is_own = true };

/* ---- jobs ---- */

static void job_write(const struct jobs_context *context, const struct job *job, struct writer *answer)
{
	AUTO(job) struct job *parent = NULL;
	struct text name AUTO_TEXT = { 0 };

	if (job->parent && job_get_by_id(context->store, job->parent, &parent, NULL))
		parent = NULL;
	job_name_write(context->training, parent ? parent : job, &name);
	member_text(answer, "job", name.data);
	if (job->parent)
		member_printf(answer, "trial", "%u", job->trial);
	member_text(answer, "displayName", (parent ? parent : job)->display_name);
}

static const struct job *job_of(const struct job_list *list, int64_t id)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->jobs[i].id == id)
			return &list->jobs[i];
	return NULL;
}

/* ---- the queue ---- */

static int by_turn(const void *left, const void *right)
{
	const struct job *a = *(const struct job *const *)left, *b = *(const struct job *const *)right;

	if (a->priority != b->priority)
		return a->priority > b->priority ? -1 : 1;
	return a->id < b->id ? -1 : a->id > b->id;
}

/* A tuning job takes no room and has no turn: its trials wait. */
static bool is_waiting(const struct job *job)
{
	return job->state == JOB_QUEUED && job->outcome == JOB_STATE_UNSPECIFIED &&
	       !(job->traits & JOB_TRAIT_SEARCH);
}

static size_t waiting_sort(const struct job_list *list, const struct job **jobs)
{
	size_t count = 0;

	for (size_t i = 0; i < list->count; i++)
		if (is_waiting(&list->jobs[i]))
			jobs[count++] = &list->jobs[i];
	qsort(jobs, count, sizeof(struct job *), by_turn);
	return count;
}

static void estimate_write(const struct jobs_context *context, const struct job_list *list,
			   const struct job *job, const struct plan *plan, struct writer *answer)
{
	struct start_estimate estimate AUTO_START_ESTIMATE = { 0 };
	struct error cause AUTO_ERROR = { 0 };
	AUTO(json) json_t *reported = NULL;

	if (start_estimate_among(context->training, plan, job, list, &estimate, &cause)) {
		member_text(answer, "reason", cause.text);
		return;
	}
	reported = start_estimate_json(&estimate);
	if (estimate.starts_now)
		member_bool(answer, "startsNow", true);
	member_text(answer, "shortage", json_text_at(reported, "shortage"));
	member_text(answer, "behind", estimate.behind);
	member_text(answer, "reason", estimate.text);
}

static void waiting_write(const struct jobs_context *context, const struct job_list *list,
			  const struct job *job, size_t place, struct writer *answer)
{
	AUTO(plan) struct plan *plan = NULL;

	member_int(answer, "place", (int64_t)place);
	job_write(context, job, answer);
	member_time(answer, "createTime", job->created_us, TIME_MICROSECONDS);
	if (plan_from_text(job->plan, &plan, NULL))
		return; /* it is about to fail */
	if (plan->max_wait_us)
		member_time(answer, "expireTime", job->created_us + plan->max_wait_us, TIME_MICROSECONDS);
	if (job->priority)
		member_int(answer, "priority", job->priority);
	member_int(answer, "replicaCount", plan_replica_count(plan));
	if (plan_accelerator_count(plan))
		member_int(answer, "gpuCount", plan_accelerator_count(plan));
	if (plan_vcpus(plan))
		member_int(answer, "vcpuCount", plan_vcpus(plan));
	if (place <= ESTIMATES_MAX)
		estimate_write(context, list, job, plan, answer);
}

/* Resources of machines in use, and their limits; 0: no limit. */
struct share {
	unsigned jobs, max_jobs, containers, max_containers;
	int64_t nano_cpus, memory_bytes, max_memory_bytes;
	double max_vcpus;
	bool known; /* the machine's size is known */
	unsigned host_cpus;
	int64_t host_memory_bytes;
};

static struct share share_of(const struct room *room)
{
	const struct capacity *capacity = &room->capacity;
	const bool is_cloud = capacity->fit == FIT_CLOUD && capacity->host.known;

	return (struct share){
		.jobs = room->usage.jobs,
		.max_jobs = capacity->max_jobs,
		.containers = room->usage.containers,
		.max_containers = capacity->max_containers,
		.nano_cpus = room->usage.nano_cpus,
		.memory_bytes = room->usage.memory_bytes,
		.max_vcpus = capacity->max_vcpus ? capacity->max_vcpus
			     : is_cloud          ? capacity->host.cpus
						 : 0,
		.max_memory_bytes = capacity->max_memory_bytes ? capacity->max_memory_bytes
				    : is_cloud                 ? capacity->host.memory_bytes
							       : 0,
		.known = capacity->host.known,
		.host_cpus = capacity->host.cpus,
		.host_memory_bytes = capacity->host.memory_bytes,
	};
}

/* Adds the resources of one machine; all machines have the same limits. A machine of unknown size adds only its
 * limits. */
static void share_add(struct share *sum, const struct share *share)
{
	sum->jobs += share->jobs;
	sum->max_jobs += share->max_jobs;
	sum->containers += share->containers;
	sum->max_containers += share->max_containers;
	sum->nano_cpus += share->nano_cpus;
	sum->memory_bytes += share->memory_bytes;
	sum->max_vcpus += share->max_vcpus;
	sum->max_memory_bytes += share->max_memory_bytes;
	sum->known = sum->known || share->known;
	sum->host_cpus += share->host_cpus;
	sum->host_memory_bytes += share->host_memory_bytes;
}

static void share_write(const struct share *share, struct writer *answer)
{
	member_int(answer, "jobs", share->jobs);
	member_int(answer, "maxJobs", share->max_jobs);
	member_int(answer, "containers", share->containers);
	member_int(answer, "maxContainers", share->max_containers);
	member_double(answer, "vcpus", (double)share->nano_cpus / NANO);
	if (share->max_vcpus > 0)
		member_double(answer, "maxVcpus", share->max_vcpus);
	member_int(answer, "memoryBytes", share->memory_bytes);
	if (share->max_memory_bytes)
		member_int(answer, "maxMemoryBytes", share->max_memory_bytes);
	if (share->known) {
		member_int(answer, "hostVcpus", share->host_cpus);
		member_int(answer, "hostMemoryBytes", share->host_memory_bytes);
	}
}

static void nodes_write(const struct rooms *rooms, struct writer *answer)
{
	struct writer nodes = member_list(answer, "nodes");

	for (size_t i = 0; i < rooms->count; i++) {
		const struct room *room = &rooms->nodes[i].room;
		const struct share share = share_of(room);
		struct writer node = element_message(&nodes);

		member_text(&node, "node", rooms->nodes[i].name);
		member_text(&node, "problem",
			    room->engine_lack[0]    ? room->engine_lack
			    : room->network_lack[0] ? room->network_lack
						    : NULL);
		share_write(&share, &node);
		message_close(&node);
	}
	message_close(&nodes);
}

static void rooms_write(const struct rooms *rooms, struct writer *answer)
{
	struct share sum = { 0 };
	struct writer room = member_message(answer, "room");

	for (size_t i = 0; i < rooms->count; i++) {
		const struct share share = share_of(&rooms->nodes[i].room);

		share_add(&sum, &share);
	}
	share_write(&sum, &room);
	message_close(&room);
	if (rooms->count > 1)
		nodes_write(rooms, answer);
}

/* Reads the machines' resources. False: they are not known now. */
static bool rooms_read(const struct jobs_context *context, struct rooms *rooms)
{
	const struct training_context *training = context->training;
	const char *project = training->project_id ? training->project_id : "";

	return training->rooms && training->rooms(training->rooms_arg, project, rooms, NULL) == STATUS_OK;
}

enum status queue_answer(struct call *call, struct error *err)
{
	const struct jobs_context *context = call->context;
	struct job_list list AUTO_JOB_LIST = { 0 };
	struct rooms rooms AUTO_ROOMS = { 0 };
	const struct job **jobs;
	struct writer answer, waiting;
	size_t count;
	enum status rc = job_list_unfinished(context->store, &list, err);

	if (rc)
		return rc;
	jobs = memory_calloc(list.count + 1, sizeof(const struct job *));
	count = waiting_sort(&list, jobs);
	answer = message_open(&call->answer, &queue_answer_message);
	if (rooms_read(context, &rooms))
		rooms_write(&rooms, &answer);
	waiting = member_list(&answer, "jobs");
	for (size_t i = 0; i < count && i < WAITING_MAX; i++) {
		struct writer one = element_message(&waiting);

		waiting_write(context, &list, jobs[i], i + 1, &one);
		message_close(&one);
	}
	message_close(&waiting);
	member_int(&answer, "waitingCount", (int64_t)count);
	message_close(&answer);
	free(jobs);
	return STATUS_OK;
}

/* ---- the GPUs ---- */

static void holder_write(const struct jobs_context *context, const struct job *job, const struct lease *lease,
			 struct writer *answer)
{
	AUTO(plan) struct plan *plan = NULL;
	char name[REPLICA_NAME_MAX];

	job_write(context, job, answer);
	if (plan_from_text(job->plan, &plan, NULL) == STATUS_OK) {
		replica_task_name(plan, (enum role)lease->role, lease->replica, name);
		member_text(answer, "replica", name);
	}
	member_time(answer, "startTime", job->started_us, TIME_MICROSECONDS);
}

/* Writes the leases of one device; those of others are ignored. @node: NULL: there is only one. */
static void gpu_write(const struct jobs_context *context, const char *node, const char *device,
		      const struct job_list *jobs, const struct room *room, struct writer *answer)
{
	struct writer holders;

	member_text(answer, "id", device);
	member_text(answer, "node", node);
	if (room->capacity.accelerators == ACCELERATORS_SHARE)
		member_bool(answer, "shared", true);
	holders = member_list(answer, "holders");
	for (size_t i = 0; i < room->usage.lease_count; i++) {
		const struct lease *lease = &room->usage.leases[i];
		const struct job *job = strcmp(lease->device, device) == 0 ? job_of(jobs, lease->job) : NULL;

		if (job) {
			struct writer holder = element_message(&holders);

			holder_write(context, job, lease, &holder);
			message_close(&holder);
		}
	}
	message_close(&holders);
}

static void gpus_write(const struct jobs_context *context, const struct rooms *rooms,
		       const struct job_list *jobs, struct writer *gpus)
{
	for (size_t i = 0; i < rooms->count; i++) {
		const struct room *room = &rooms->nodes[i].room;

		for (size_t at = 0; at < room->capacity.host.device_count; at++) {
			struct writer gpu = element_message(gpus);

			gpu_write(context, rooms->count > 1 ? rooms->nodes[i].name : NULL,
				  room->capacity.host.devices[at], jobs, room, &gpu);
			message_close(&gpu);
		}
	}
}

enum status gpu_list_answer(struct call *call, struct error *err)
{
	static const char *const policies[] = {
		[ACCELERATORS_PRETEND] = "PRETEND",
		[ACCELERATORS_REQUIRE] = "REQUIRE",
		[ACCELERATORS_WAIT] = "WAIT",
		[ACCELERATORS_SHARE] = "SHARE",
	};
	const struct jobs_context *context = call->context;
	struct job_list jobs AUTO_JOB_LIST = { 0 };
	struct rooms rooms AUTO_ROOMS = { 0 };
	struct writer answer, gpus;
	const bool known = rooms_read(context, &rooms);
	enum status rc = job_list_unfinished(context->store, &jobs, err);

	if (rc)
		return rc;
	answer = message_open(&call->answer, &gpu_list_message);
	gpus = member_list(&answer, "gpus");
	gpus_write(context, &rooms, &jobs, &gpus);
	message_close(&gpus);
	if (known)
		member_text(&answer, "policy", policies[rooms.nodes->room.capacity.accelerators]);
	message_close(&answer);
	return STATUS_OK;
}
