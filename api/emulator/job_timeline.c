/* SPDX-License-Identifier: Apache-2.0 */
#include "api/emulator/job_timeline.h"

#include <string.h>

#include "api/emulator/faults.h"
#include "api/emulator/fields.h"
#include "api/emulator/jobs.h"
#include "api/message/message_write.h"
#include "daemon/base/clock.h"
#include "daemon/base/json.h"
#include "scheduler/faults/fault_registry.h"
#include "scheduler/plan/dialect.h"
#include "scheduler/plan/outcome.h"
#include "store/jobs/faults.h"
#include "store/jobs/journal.h"
#include "store/jobs/summaries.h"

/* ---- messages ---- */

static const struct field query_fields[] = {
	FIELD("project", STRING, 0, "Only a job of the project with this id."),
	FIELD("trial", INT32, 0, "The job that runs this trial of a tuning job."),
	{ .name = NULL },
};
const struct message job_timeline_query = { "trainyard.TimelineRequest", query_fields,
					    "The job of the timeline.", .is_own = true };

static const struct field event_fields[] = {
	FIELD("time", TIMESTAMP, 0, "When it was stored."),
	FIELD("kind", STRING, 0,
	      "STATE (the job is in another state), DECIDED (its end is known, or that it is tried again), RETRIED (an attempt "
	      "begins), REPLICA_ENDED, REPLICA_RESTARTED or REPLICA_MADE (the container of one that was started anew is "
	      "there)."),
	FIELD("attempt", INT32, 0, "Which try of the whole job, from 1."),
	FIELD("state", STRING, 0, "Of STATE and DECIDED: the job's state, now or to come."),
	FIELD("replica", STRING, 0, "Which replica, as its log calls it."),
	FIELD("restart", INT32, 0, "How often it had been started anew alone; absent if 0."),
	FIELD("end", STRING, 0,
	      "EXIT, LOST (the engine ended it), REFUSED (the engine would not start it) or BROKEN (it could not)."),
	{ .name = "exitCode",
	  .type = FIELD_INT32,
	  .flags = FIELD_PRESENCE,
	  .help = "Of EXIT; 128 and more: a signal." },
	FIELD("outOfMemory", BOOL, 0, "It had used up its memory."),
	FIELD("blamed", BOOL, 0, "Its end is a reason for the job's outcome."),
	FIELD("ordered", BOOL, 0, "A rule of faults ended it."),
	FIELD("text", STRING, 0, "The same as a sentence."),
	{ .name = NULL },
};
static const struct message event_message = { "trainyard.TimelineEvent", event_fields, "A change.",
					      .is_own = true };

static const struct field replica_fields[] = {
	FIELD("replica", STRING, 0, "Its name, as its log calls it."),
	FIELD("ended", BOOL, 0, "Whether it has ended in the last attempt."),
	FIELD("end", STRING, 0, "How, as of an event."),
	{ .name = "exitCode", .type = FIELD_INT32, .flags = FIELD_PRESENCE, .help = "Of EXIT." },
	FIELD("restarts", INT32, 0, "How often it was started anew in the last attempt; absent if 0."),
	FIELD("outOfMemory", BOOL, 0, "It had used up its memory."),
	FIELD("blamed", BOOL, 0, "Its end is a reason for the job's outcome."),
	{ .name = NULL },
};
static const struct message replica_message = { "trainyard.TimelineReplica", replica_fields,
						"What became of a replica.", .is_own = true };

static const struct field fault_fields[] = {
	FIELD("rule", INT64, 0, "The number of the rule that ordered it."),
	FIELD("fault", STRING, 0, "Which kind of fault, as rules name it: preempt, cutNetwork …"),
	FIELD("replica", STRING, 0, "Which replica was hit; absent where it is the whole job."),
	FIELD("attempt", INT32, 0, "In which try of the whole job, from 1."),
	FIELD("restart", INT32, 0, "How often the replica had been started anew alone; absent if 0."),
	FIELD("lasts", BOOL, 0,
	      "Of slowNetwork and cutNetwork: the rule still holds, and its time is not over."),
	FIELD("endTime", TIMESTAMP, 0, "When its time is over; absent where it has no end."),
	FIELD("bytesPerSecond", INT64, 0, "Of slowNetwork."),
	FIELD("text", STRING, 0, "The same as a sentence."),
	{ .name = NULL },
};
static const struct message fault_injection_message = { "trainyard.TimelineFault", fault_fields,
							"A fault that hit a job.", .is_own = true };

static const struct field timeline_fields[] = {
	FIELD("attempt", INT32, 0, "Which try of the whole job is the last, from 1."),
	{ .name = "events",
	  .type = FIELD_MESSAGE,
	  .flags = FIELD_REPEATED,
	  .message = &event_message,
	  .help = "Oldest first." },
	{ .name = "replicas",
	  .type = FIELD_MESSAGE,
	  .flags = FIELD_REPEATED,
	  .message = &replica_message,
	  .help = "All replicas of the job; none for a tuning job." },
	{ .name = "faults",
	  .type = FIELD_MESSAGE,
	  .flags = FIELD_REPEATED,
	  .message = &fault_injection_message,
	  .help = "What rules of faults did to the job." },
	{ .name = NULL },
};
const struct message job_timeline_message = { "trainyard.Timeline", timeline_fields,
					      "What became of a job, and when.", .is_own = true };

/* ---- answers ---- */

static const char *end_name(int end)
{
	static const char *const names[] = {
		[END_EXIT] = "EXIT", [END_LOST] = "LOST", [END_REFUSED] = "REFUSED", [END_BROKEN] = "BROKEN"
	};

	return end > 0 && (size_t)end < sizeof(names) / sizeof(names[0]) ? names[end] : NULL;
}

static const char *state_name(int state)
{
	return state >= 0 && state < JOB_STATE_COUNT ? job_state_name((enum job_state)state) : NULL;
}

/* Writes the sentence about a replica's end: "worker-replica-1 exited with 137, out of memory". */
static void end_report(const struct journal_row *row, const char *replica, struct text *text)
{
	switch (row->cause) {
	case END_EXIT:
		text_printf(text, "%s exited with %lld", replica, (long long)row->number);
		break;
	case END_LOST:
		text_printf(text,
			    row->flags & JOURNAL_ORDERED ? "%s was ended by a fault's rule" : "%s was lost",
			    replica);
		break;
	case END_REFUSED:
		text_printf(text, "the engine would not start %s", replica);
		break;
	default:
		text_printf(text, "the engine could not start %s", replica);
	}
	if (row->flags & JOURNAL_OUT_OF_MEMORY)
		text_puts(text, ", out of memory");
}

static void event_report(const struct journal_row *row, const char *replica, struct text *text)
{
	switch (row->kind) {
	case JOURNAL_STATE:
		text_printf(text, "the job is %s", state_name(row->cause));
		break;
	case JOURNAL_DECIDED:
		if (row->cause == JOB_PREPARING)
			text_puts(text, "the job will be tried again");
		else
			text_printf(text, "the job will be %s", state_name(row->cause));
		break;
	case JOURNAL_RETRIED:
		text_printf(text, "attempt %u begins", row->attempt);
		break;
	case JOURNAL_ENDED:
		end_report(row, replica, text);
		break;
	case JOURNAL_RESTARTED:
		text_printf(text, "%s is started anew", replica);
		break;
	case JOURNAL_MADE:
		text_printf(text, "%s has its new container", replica);
		break;
	case JOURNAL_BLAME: /* has no event of its own: it marks the row of the end that is to blame */
		break;
	}
}

static const char *kind_name(enum journal_kind kind)
{
	static const char *const names[] = {
		[JOURNAL_STATE] = "STATE",
		[JOURNAL_DECIDED] = "DECIDED",
		[JOURNAL_RETRIED] = "RETRIED",
		[JOURNAL_ENDED] = "REPLICA_ENDED",
		[JOURNAL_RESTARTED] = "REPLICA_RESTARTED",
		[JOURNAL_MADE] = "REPLICA_MADE",
		[JOURNAL_BLAME] = "", /* no row has it */
	};

	return names[kind];
}

/* Writes the members about the end of a replica, into an event or a replica. */
static void end_write(const struct journal_row *row, struct writer *answer)
{
	member_text(answer, "end", end_name(row->cause));
	if (row->cause == END_EXIT)
		member_int(answer, "exitCode", row->number);
}

static void event_write(const struct plan *plan, const struct journal_row *row, struct writer *answer)
{
	char replica[REPLICA_NAME_MAX] = "";
	struct text text AUTO_TEXT = { 0 };

	if (row->of_replica)
		replica_task_name(plan, (enum role)row->role, row->index, replica);
	event_report(row, replica, &text);
	member_time(answer, "time", row->time_us, TIME_MICROSECONDS);
	member_text(answer, "kind", kind_name(row->kind));
	member_int(answer, "attempt", row->attempt);
	if (row->kind == JOURNAL_STATE || row->kind == JOURNAL_DECIDED)
		member_text(answer, "state", state_name(row->cause));
	if (row->of_replica)
		member_text(answer, "replica", replica);
	if (row->of_replica && row->restart)
		member_int(answer, "restart", row->restart);
	if (row->kind == JOURNAL_ENDED) {
		end_write(row, answer);
		if (row->flags & JOURNAL_OUT_OF_MEMORY)
			member_bool(answer, "outOfMemory", true);
		if (row->flags & JOURNAL_BLAMED)
			member_bool(answer, "blamed", true);
		if (row->flags & JOURNAL_ORDERED)
			member_bool(answer, "ordered", true);
	}
	member_text(answer, "text", text.data);
}

static void replica_write(const struct journal *journal, const struct plan *plan, unsigned attempt,
			  enum role role, unsigned index, struct writer *answer)
{
	const struct journal_row *end = NULL;
	unsigned restarts = 0;
	char name[REPLICA_NAME_MAX];

	for (size_t i = 0; i < journal->count; i++) {
		const struct journal_row *row = &journal->rows[i];

		if (!row->of_replica || row->attempt != attempt || row->role != (int)role ||
		    row->index != index || row->kind == JOURNAL_MADE)
			continue;
		if (row->restart > restarts)
			restarts = row->restart;
		end = row->kind == JOURNAL_ENDED ? row : NULL; /* valid until the replica is started again */
	}
	replica_task_name(plan, role, index, name);
	member_text(answer, "replica", name);
	if (end) {
		member_bool(answer, "ended", true);
		end_write(end, answer);
	}
	if (restarts)
		member_int(answer, "restarts", restarts);
	if (end && end->flags & JOURNAL_OUT_OF_MEMORY)
		member_bool(answer, "outOfMemory", true);
	if (end && end->flags & JOURNAL_BLAMED)
		member_bool(answer, "blamed", true);
}

/* Sorts the rows by time. They may be out of order, because the end of a replica is stored later than it happened, with
 * the engine's time of it. Rows with the same time keep their order. */
static void rows_sort(struct journal *journal)
{
	for (size_t i = 1; i < journal->count; i++) {
		const struct journal_row row = journal->rows[i];
		size_t at = i;

		for (; at && journal->rows[at - 1].time_us > row.time_us; at--)
			journal->rows[at] = journal->rows[at - 1];
		journal->rows[at] = row;
	}
}

static void fault_write(const struct jobs_context *context, const struct plan *plan,
			const struct fault_injection *injection, struct writer *answer)
{
	const bool of_network = injection->stage == STAGE_NETWORK;
	char replica[REPLICA_NAME_MAX];

	member_int(answer, "rule", injection->fault);
	member_text(answer, "fault", fault_kind_name((enum fault_kind)injection->kind));
	if (of_network || injection->stage == STAGE_RUNNING) {
		replica_task_name(plan, (enum role)injection->key.role, injection->key.index, replica);
		member_text(answer, "replica", replica);
	}
	member_int(answer, "attempt", injection->key.attempt);
	if (injection->key.restart)
		member_int(answer, "restart", injection->key.restart);
	if (of_network && context->faults &&
	    fault_registry_has(context->faults->registry, injection->fault) &&
	    (!injection->until_us || clock_wall_us(context->faults->clock) < injection->until_us))
		member_bool(answer, "lasts", true);
	member_time(answer, "endTime", injection->until_us, TIME_MICROSECONDS);
	if (injection->bytes_per_s)
		member_int(answer, "bytesPerSecond", injection->bytes_per_s);
	member_text(answer, "text", injection->line);
}

struct reported {
	const struct jobs_context *context;
	const struct job *job;
	const struct plan *plan;
	struct journal journal;
	struct fault_injection_list injections; /* faults of the job and of its trials */
};

static void reported_deinit(struct reported *reported)
{
	journal_deinit(&reported->journal);
	fault_injection_list_deinit(&reported->injections);
}

static void timeline_write(const struct reported *reported, struct text *text)
{
	const struct journal *journal = &reported->journal;
	const struct plan *plan = reported->plan;
	const unsigned attempt = reported->job->attempt;
	struct writer answer = message_open(text, &job_timeline_message), list;

	member_int(&answer, "attempt", attempt);
	list = member_list(&answer, "events");
	for (size_t i = 0; i < journal->count; i++) {
		struct writer event = element_message(&list);

		event_write(plan, &journal->rows[i], &event);
		message_close(&event);
	}
	message_close(&list);
	list = member_list(&answer, "replicas");
	for (int role = 0; !plan_tunes(plan) && role < ROLE_COUNT; role++)
		for (unsigned index = 0; index < plan->pools[role].count; index++) {
			struct writer replica = element_message(&list);

			replica_write(journal, plan, attempt, (enum role)role, index, &replica);
			message_close(&replica);
		}
	message_close(&list);
	list = member_list(&answer, "faults");
	for (size_t i = 0; i < reported->injections.count; i++) {
		struct writer fault;

		if (reported->injections.injections[i].key.job != reported->job->id)
			continue;
		fault = element_message(&list);
		fault_write(reported->context, plan, &reported->injections.injections[i], &fault);
		message_close(&fault);
	}
	message_close(&list);
	message_close(&answer);
}

enum status job_timeline_answer(struct call *call, struct error *err)
{
	const struct jobs_context *context = call->context;
	struct summary_list list AUTO_SUMMARY_LIST = { 0 };
	AUTO(job) struct job *job = NULL;
	AUTO(plan) struct plan *plan = NULL;
	struct reported reported __attribute__((cleanup(reported_deinit))) = { .context = context };
	const int64_t trial = json_int_at(call->query, "trial", 0);
	enum status rc = jobs_find(call, &list, err);

	if (!rc)
		rc = job_get_by_id(context->store, list.jobs[0].id, &job, err);
	if (!rc && trial)
		rc = jobs_trial_find(context->store, trial, &job, err);
	if (!rc)
		rc = plan_from_text(job->plan, &plan, err);
	if (!rc)
		rc = journal_read(context->store, job->id, &reported.journal, err);
	if (!rc)
		rc = fault_injections_of_job(context->store, job->id, &reported.injections, err);
	if (rc)
		return rc;
	reported.job = job;
	reported.plan = plan;
	rows_sort(&reported.journal);
	timeline_write(&reported, &call->answer);
	return STATUS_OK;
}
