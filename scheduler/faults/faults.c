/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/faults/faults.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/log.h"
#include "daemon/base/memory.h"
#include "daemon/base/text.h"
#include "scheduler/decision.h"
#include "scheduler/faults/fault_registry.h"
#include "scheduler/job_run.h"
#include "scheduler/job_table.h"
#include "scheduler/plan/deviation.h"
#include "scheduler/plan/dialect.h"
#include "scheduler/scheduler_state.h"
#include "store/jobs/faults.h"
#include "store/logs/logs.h"

static const struct fault_traits *traits_of(const struct fault_injection *injection)
{
	return fault_traits_of((enum fault_kind)injection->kind);
}

static bool injection_is_on(const struct fault_injection *injection, enum fault_stage stage,
			    const struct replica_key *key)
{
	return injection->stage == (int)stage && replica_keys_equal(&injection->key, key);
}

static const struct fault_injection *injection_of_replica(const struct job_run *run, enum fault_stage stage,
							  const struct replica_key *key, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (injection_is_on(&run->injections[i], stage, key))
			return &run->injections[i];
	return NULL;
}

static const struct fault_injection *injection_of_stage(const struct job_run *run, enum fault_stage stage,
							size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (run->injections[i].stage == (int)stage &&
		    run->injections[i].key.attempt == run->row->attempt)
			return &run->injections[i];
	return NULL;
}

bool faults_end(const struct job_run *run, struct replica_run *replica)
{
	const struct fault_injection *injection =
		injection_of_replica(run, STAGE_RUNNING, &replica->key, run->injections_stored);

	if (!injection)
		return false;
	replica->end = traits_of(injection)->end;
	replica->exit_code = injection->exit_code;
	replica->out_of_memory = traits_of(injection)->out_of_memory;
	replica->ordered = true;
	return true;
}

bool faults_await_end(const struct job_run *run)
{
	if (!run->injections_stored || !job_run_is_observed(run))
		return false;
	for (size_t i = 0; i < run->replica_count; i++) {
		const struct replica_run *replica = &run->replicas[i];

		if (replica->observed == OBSERVED_RUNNING && replica->end == END_NONE &&
		    order_is_pending(&replica->orders, ORDER_STOP) &&
		    injection_of_replica(run, STAGE_RUNNING, &replica->key, run->injections_stored))
			return true;
	}
	return false;
}

bool faults_caused_all_restarts(const struct job_run *run)
{
	for (size_t i = 0; i < run->replica_count; i++)
		if (job_run_restarts(run, &run->replicas[i]) && !run->replicas[i].ordered)
			return false;
	return true;
}

/* Whether the injection still has its effect: its rule is not deleted, and its duration, if it has one, is not over. */
static bool injection_lasts(const struct fault_injection *injection, int64_t mono_us)
{
	return injection->stands && (!injection->until_us || injection->ends_us > mono_us);
}

bool faults_hold(const struct job_run *run, int64_t mono_us)
{
	const struct fault_injection *injection =
		injection_of_stage(run, STAGE_QUEUED, run->injections_stored);

	return injection && injection->until_us && injection_lasts(injection, mono_us);
}

/* ---- applying stored injections ---- */

/* Wakes the run's decision at @at_us, unless an event wakes it earlier. */
static void look_again(struct job_run *run, int64_t at_us)
{
	if (!run->fault_at_us || at_us < run->fault_at_us)
		run->fault_at_us = at_us;
}

static void decide_kill(struct decision *decision, const struct job_run *run, unsigned index,
			const struct fault_injection *injection, unsigned grace_s)
{
	const struct replica_run *replica = &run->replicas[index];

	if (replica->observed != OBSERVED_RUNNING || replica->end != END_NONE ||
	    order_is_pending(&replica->orders, ORDER_STOP))
		return;
	decision_order(decision, ORDER_STOP, index);
	decision->orders[decision->order_count - 1].how = traits_of(injection)->graceful ? grace_s : 0;
}

/* Choice: AI Platform's jobs fail with Vertex AI's sentence too, because AI Platform's own is not known.
 * Choice: a lack of resources without a duration fails the job at once. The service first tries again up to three times,
 * at unknown intervals and without a log line. Those tries would fail too, and clients would notice only the delay. For a
 * temporary lack, the rule has `seconds`.
 * Source: https://cloud.google.com/vertex-ai/docs/training/understanding-training-service */
static void queued_apply(struct job_run *run, const struct fault_injection *injection)
{
	if (injection->until_us || run->fault || run->row->state != JOB_QUEUED)
		return;
	run->fault = memory_printf(STOCKOUT_SENTENCE, run->plan->region ? run->plan->region : "");
	run->fault_code = STATUS_RESOURCE_EXHAUSTED;
}

static void image_apply(struct job_run *run)
{
	struct replica_run *replica = run->replica_count ? &run->replicas[0] : NULL;

	if (!replica || replica->end != END_NONE || run->row->state != JOB_PREPARING)
		return;
	free(replica->refusal);
	replica->refusal = memory_printf("the image %s cannot be pulled: manifest unknown",
					 run->plan->pools[replica->key.role].image);
	replica->end = END_REFUSED;
}

/* Orders that the replica's network is cut or slowed while the fault lasts, and restored afterwards. Repeating an order is
 * harmless. */
static void decide_link(struct decision *decision, const struct job_run *run, unsigned index,
			const struct fault_injection *injection, int64_t mono_us)
{
	const struct replica_run *replica = &run->replicas[index];
	const bool lasts = injection_lasts(injection, mono_us), slow = injection->kind == FAULT_SLOW_NETWORK;
	const enum link_request request = slow    ? lasts ? LINK_SLOWED : LINK_HASTENED
					  : lasts ? LINK_CUT
						  : LINK_RESTORED;

	if (replica->observed != OBSERVED_RUNNING || replica->end != END_NONE ||
	    run->network != NETWORK_READY ||
	    (replica->link == request && order_is_pending(&replica->orders, ORDER_LINK)))
		return;
	decision_order(decision, ORDER_LINK, index);
	decision->orders[decision->order_count - 1].how = request;
	decision->orders[decision->order_count - 1].bytes_per_s = injection->bytes_per_s;
}

/* A busy engine may succeed on a later try. */
enum { THROTTLE_TRIES = 3 };

static const char not_done[] = "fault-not-done";

/* "The network of the replica master 0 cannot be slowed by the injected fault". */
static char *throttle_sentence(const struct job_run *run, const struct replica_run *replica, bool slowed)
{
	char name[REPLICA_NAME_MAX];

	replica_sentence_name(run->plan, replica->key.role, replica->key.index, name);
	return memory_printf("The network of the replica %s %s", name,
			     slowed ? "cannot be slowed by the injected fault"
				    : "stays slow after the end of the injected fault");
}

static bool was_logged(const struct job_run *run, const char *sentence)
{
	return run->assignment && deviations_begin(run->assignment->deviations, not_done, sentence);
}

/* Reports the failure once per job, even if a later one has another reason. */
static void throttle_give_up(struct job_run *run, const struct replica_run *replica, const char *reason)
{
	const bool slowed = replica->link == LINK_SLOWED;
	AUTO(string) char *never_slowed = throttle_sentence(run, replica, true);
	AUTO(string) char *sentence = throttle_sentence(run, replica, slowed);

	/* The limit need not be lifted if it was never set. */
	if (!was_logged(run, never_slowed) && !was_logged(run, sentence))
		job_run_differ(run, not_done, "", "%s: %s.", sentence, reason);
}

bool faults_throttle_failed(struct job_run *run, struct replica_run *replica, enum status status,
			    const char *reason)
{
	if (status == STATUS_UNAVAILABLE)
		return true;
	if (status != STATUS_FAILED_PRECONDITION && ++replica->throttle_failures < THROTTLE_TRIES)
		return true;
	throttle_give_up(run, replica, reason);
	return false;
}

/* Applies the effects of stored injections to the job itself, and ends temporary ones. */
static void injections_apply(struct scheduler *scheduler, struct job_run *run, int64_t mono_us)
{
	struct fault_registry *registry = scheduler->reconciler.faults;
	const struct fault_injection *queued = injection_of_stage(run, STAGE_QUEUED, run->injections_stored);

	for (size_t i = 0; i < run->injections_stored; i++) {
		struct fault_injection *injection = &run->injections[i];

		injection->stands = registry && fault_registry_has(registry, injection->fault);
		if (injection->until_us && injection_lasts(injection, mono_us))
			look_again(run, injection->ends_us);
	}
	if (queued)
		queued_apply(run, queued);
	if (injection_of_stage(run, STAGE_PREPARING, run->injections_stored))
		image_apply(run);
}

/* ---- rules that apply now ---- */

static char *line_make(const struct job_run *run, const struct fault_context *context,
		       const struct fault_order *order)
{
	const struct fault_traits *traits = fault_traits_of(order->kind);
	char name[REPLICA_NAME_MAX];
	struct text line AUTO_TEXT = { 0 };

	text_printf(&line, "Fault rule %lld: ", (long long)order->rule);
	switch (context->stage) {
	case STAGE_RUNNING:
	case STAGE_NETWORK:
		replica_sentence_name(run->plan, context->key.role, context->key.index, name);
		text_printf(&line, "the replica %s", name);
		if (context->trial)
			text_printf(&line, " of the trial %u", context->trial);
		text_printf(&line, " %s", traits->words);
		if (traits->says & SAYS_EXIT_CODE)
			text_printf(&line, " the code %d", order->exit_code);
		if (traits->says & SAYS_RATE)
			text_printf(&line, " %lld bytes a second", (long long)order->bytes_per_s);
		if (order->seconds_us)
			text_printf(&line, " for %g s", (double)order->seconds_us / 1e6);
		break;
	case STAGE_PREPARING:
		text_puts(&line, "the job's image is not found");
		break;
	default:
		text_puts(&line, "there are no resources for the job");
		if (order->seconds_us)
			text_printf(&line, " for %g s", (double)order->seconds_us / 1e6);
	}
	text_puts(&line, ". This fault is injected.");
	return text_take(&line);
}

static void injection_append(struct scheduler *scheduler, struct job_run *run,
			     const struct fault_context *context, const struct fault_order *order)
{
	const struct clock *clock = scheduler->reconciler.clock;
	const int64_t mono_us = clock_mono_us(clock); /* read before the wall clock: see step_clock_move() */

	run->injections = memory_resize(run->injections, run->injection_count + 1, sizeof(*run->injections));
	run->injections[run->injection_count++] = (struct fault_injection){
		.key = context->key,
		.stage = (int)context->stage,
		.fault = order->rule,
		.kind = (int)order->kind,
		.exit_code = order->exit_code,
		.until_us = order->seconds_us ? clock_wall_us(clock) + order->seconds_us : 0,
		.ends_us = mono_us + order->seconds_us,
		.line = line_make(run, context, order),
		.bytes_per_s = order->bytes_per_s,
	};
}

/* Records an injection if a rule applies to the context now. If one may apply later, merely because time passes, the
 * next decision is made at that time. */
static void context_look(struct scheduler *scheduler, struct job_run *run,
			 const struct fault_context *context)
{
	struct fault_order order;
	int64_t wait_us;

	if (fault_registry_take(scheduler->reconciler.faults, context, &order, &wait_us))
		injection_append(scheduler, run, context, &order);
	else if (wait_us < INT64_MAX)
		look_again(run, clock_mono_us(scheduler->reconciler.clock) + wait_us);
}

/* The display name of a trial's tuning job, which is unfinished as long as the trial is. */
static const char *owner_display_name(struct scheduler *scheduler, const struct job_run *run)
{
	const struct job_run *owner = run->row->parent ? scheduler_find(scheduler, run->row->parent) : NULL;

	return owner ? owner->row->display_name : NULL;
}

static struct fault_context context_of(struct scheduler *scheduler, const struct job_run *run,
				       enum fault_stage stage)
{
	return (struct fault_context){
		.stage = stage,
		.project = run->row->project,
		.job_names = { run->row->job_id, run->row->display_name, plan_log_job_id(run->plan),
			       owner_display_name(scheduler, run) },
		.trial = run->plan->trial,
		.key = { .job = run->row->id, .attempt = run->row->attempt },
	};
}

static void replicas_look(struct scheduler *scheduler, struct job_run *run, enum fault_stage stage)
{
	for (size_t i = 0; i < run->replica_count; i++) {
		struct replica_run *replica = &run->replicas[i];
		struct fault_context context = context_of(scheduler, run, stage);

		if (replica->observed != OBSERVED_RUNNING || replica->end != END_NONE ||
		    injection_of_replica(run, stage, &replica->key, run->injection_count))
			continue;
		context.key = replica->key;
		context.running_us = clock_mono_us(scheduler->reconciler.clock) - replica->running_at_us;
		context_look(scheduler, run, &context);
	}
}

static void whole_look(struct scheduler *scheduler, struct job_run *run, enum fault_stage stage)
{
	const struct fault_context context = context_of(scheduler, run, stage);

	if (!injection_of_stage(run, stage, run->injection_count))
		context_look(scheduler, run, &context);
}

/* Choice: faults are injected into containers only while their job is RUNNING, so that a lost replica is restarted
 * instead of the whole job. */
static void rules_look(struct scheduler *scheduler, struct job_run *run)
{
	if (run->row->state == JOB_QUEUED)
		whole_look(scheduler, run, STAGE_QUEUED);
	else if (run->row->state == JOB_PREPARING && job_run_is_observed(run) && run->replica_count &&
		 run->replicas[0].observed == OBSERVED_NOTHING)
		whole_look(scheduler, run, STAGE_PREPARING);
	if (run->row->state != JOB_RUNNING || !job_run_is_observed(run))
		return;
	replicas_look(scheduler, run, STAGE_NETWORK);
	replicas_look(scheduler, run, STAGE_RUNNING);
}

/* How long a container that is observed for the first time has run. If an earlier daemon started it: the time since its
 * job ran or, for a restarted container, since it was made. Otherwise 0. */
static int64_t ran_us(const struct scheduler *scheduler, const struct job_run *run,
		      const struct replica_run *replica)
{
	const bool is_first = replica->key.attempt == 1 && replica->key.restart == 0;
	const int64_t since_us = is_first ? run->row->running_us : replica->made_us;
	const int64_t past_us = clock_wall_us(scheduler->reconciler.clock) - since_us;

	return since_us && past_us > 0 ? past_us : 0;
}

static void replicas_stamp(const struct scheduler *scheduler, struct job_run *run)
{
	for (size_t i = 0; i < run->replica_count; i++) {
		struct replica_run *replica = &run->replicas[i];

		if (replica->observed == OBSERVED_RUNNING && !replica->running_at_us)
			replica->running_at_us =
				clock_mono_us(scheduler->reconciler.clock) - ran_us(scheduler, run, replica);
	}
}

void faults_look(struct scheduler *scheduler, struct job_run *run)
{
	struct fault_registry *registry = scheduler->reconciler.faults;

	run->fault_at_us = 0;
	replicas_stamp(scheduler, run);
	if (run->row->outcome != JOB_STATE_UNSPECIFIED)
		return;
	injections_apply(scheduler, run, clock_mono_us(scheduler->reconciler.clock));
	/* No faults are injected into a job with a decided outcome: they would be reported without having an effect. */
	if (registry && !fault_registry_is_empty(registry) && !job_run_is_decided(run))
		rules_look(scheduler, run);
}

void faults_decide(struct decision *decision, const struct job_run *run,
		   const struct decision_context *context)
{
	if (run->row->outcome != JOB_STATE_UNSPECIFIED)
		return;
	for (unsigned i = 0; run->injections_stored && i < run->replica_count; i++) {
		const struct replica_key *key = &run->replicas[i].key;
		const struct fault_injection *injection =
			injection_of_replica(run, STAGE_RUNNING, key, run->injections_stored);

		if (injection)
			decide_kill(decision, run, i, injection, context->reconciler->stop_grace_s);
		injection = injection_of_replica(run, STAGE_NETWORK, key, run->injections_stored);
		if (injection)
			decide_link(decision, run, i, injection, context->mono_us);
	}
	if (run->injection_count == run->injections_stored)
		return;
	decision_change(decision, run, run->row->state);
	decision->change.injections = &run->injections[run->injections_stored];
	decision->change.injection_count = run->injection_count - run->injections_stored;
	for (size_t i = run->injections_stored; i < run->injection_count; i++)
		notes_say(&decision->says, SEVERITY_WARNING, "%s", run->injections[i].line);
}

void faults_on_commit(struct scheduler *scheduler, struct job_run *run, bool stored)
{
	while (!stored && run->injection_count > run->injections_stored) {
		struct fault_injection *injection = &run->injections[--run->injection_count];

		fault_registry_return(scheduler->reconciler.faults, injection->fault);
		free(injection->line);
	}
	for (size_t i = run->injections_stored; i < run->injection_count; i++)
		log_event(LOG_INFO, "fault-ordered", "project=%s job=%s rule=%lld kind=%s", run->row->project,
			  run->row->job_id, (long long)run->injections[i].fault,
			  fault_kind_name((enum fault_kind)run->injections[i].kind));
	run->injections_stored = run->injection_count;
}

/* Restores a stored injection. One of a kind that only a later release knows is left out. */
static void injection_resume(const struct clock *clock, struct job_run *run,
			     struct fault_injection *injection)
{
	const int64_t mono_us = clock_mono_us(clock); /* read before the wall clock: see step_clock_move() */

	if (injection->kind <= FAULT_UNSPECIFIED || injection->kind >= FAULT_KIND_COUNT)
		return;
	run->injections = memory_resize(run->injections, run->injection_count + 1, sizeof(*run->injections));
	injection->ends_us = mono_us + injection->until_us - clock_wall_us(clock);
	run->injections[run->injection_count++] = *injection;
	injection->line = NULL;
	run->injections_stored = run->injection_count;
}

enum status faults_resume(struct scheduler *scheduler, struct error *err)
{
	struct fault_injection_list list AUTO_FAULT_INJECTION_LIST = { 0 };
	enum status rc = fault_injections_open(scheduler->reconciler.store, &list, err);

	for (size_t i = 0; !rc && i < list.count; i++) {
		struct job_run *run = scheduler_find(scheduler, list.injections[i].key.job);

		if (run)
			injection_resume(scheduler->reconciler.clock, run, &list.injections[i]);
	}
	return rc;
}
