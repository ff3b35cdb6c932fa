/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/gateway_keep.h"

#include "daemon/base/clock.h"
#include "daemon/base/log.h"
#include "scheduler/decision.h"
#include "scheduler/job_run.h"
#include "scheduler/node.h"
#include "scheduler/plan/assignment.h"
#include "scheduler/plan/deviation.h"
#include "scheduler/reconciler.h"

enum {
	TRIES_MAX =
		10, /* for a port that containers know: another process may use it, and be about to release it */
	RETRY_US = 1000000,
};

static bool knows_gateway(const struct job_run *run, const struct replica_run *replica)
{
	return run->gateway.port && replica->observed != OBSERVED_NOTHING &&
	       replica->observed != OBSERVED_EXITED;
}

static bool is_to_be_made(const struct job_run *run, const struct replica_run *replica)
{
	return run->row->outcome == JOB_STATE_UNSPECIFIED && replica->observed == OBSERVED_NOTHING &&
	       replica->end == END_NONE;
}

static bool is_of_use(const struct job_run *run)
{
	for (size_t i = 0; i < run->replica_count; i++)
		if (knows_gateway(run, &run->replicas[i]) || is_to_be_made(run, &run->replicas[i]))
			return true;
	return false;
}

bool gateway_is_awaited(const struct reconciler *reconciler, const struct job_run *run)
{
	return reconciler->gateway.open && run->gateway.observed == GATEWAY_CLOSED;
}

/* Lets the job run without a gateway. This is reported once per job, even if a later failure has another reason: the
 * report is a stored deviation of the job. */
static void give_up(struct job_run *run, const char *reason)
{
	static const char code[] = "gateway-missing";
	bool ignored;

	run->gateway.observed = GATEWAY_ABSENT;
	if (!run->assignment || !deviations_count(run->assignment->deviations, code, NULL, &ignored))
		job_run_differ(run, code, "",
			       "The replicas cannot reach trainyard's storage and metadata: %s.", reason);
}

/* Tries again later if containers know the gateway's port; otherwise, or after too many tries, the job runs without. */
static void opening_failed(struct job_run *run, int64_t now_us, const char *reason)
{
	log_event(LOG_WARNING, "gateway-failed", "project=%s job=%s port=%u error=\"%s\"", run->row->project,
		  run->row->job_id, run->gateway.port, reason);
	if (run->gateway.port && ++run->gateway.tries < TRIES_MAX)
		run->gateway.retry_at_us = now_us + RETRY_US;
	else
		give_up(run, reason);
}

/* Makes the engine pass connections from the job's network to the gateway, if its address is not on this machine. */
static enum status connections_bring(const struct reconciler *reconciler, const struct job_run *run,
				     struct error *err)
{
	struct engine *engine = run->nodes->node->engine;
	enum status rc;

	if (!run->network_status.reach.is_carried)
		return STATUS_OK;
	rc = engine->ops->carry_network(engine, job_run_network(run), &run->gateway.place.sink, err);
	if (rc)
		reconciler->gateway.close(reconciler->gateway.arg, run->row->id);
	return rc;
}

void gateway_open(const struct reconciler *reconciler, struct job_run *run)
{
	const struct gateway_request request = {
		.attempt = run->row->attempt,
		.job = run->row->id,
		.log_owner = job_run_owner(run),
		.plan = run->plan,
		.device = run->network_status.reach.device,
		.address = run->network_status.reach.address,
		.is_carried = run->network_status.reach.is_carried,
		.first_replica = run->network_status.first,
		.port = run->gateway.port,
		.started_us = run->row->started_us,
	};
	struct error err AUTO_ERROR = { 0 };

	if (reconciler->gateway.open(reconciler->gateway.arg, &request, &run->gateway.place, &err) ||
	    connections_bring(reconciler, run, &err)) {
		opening_failed(run, clock_mono_us(reconciler->clock),
			       err.text ? err.text : status_name(err.status));
		return;
	}
	run->gateway.observed = GATEWAY_OPEN;
	run->gateway.port = run->gateway.place.port;
	run->gateway.tries = 0;
}

void gateway_decide(struct decision *decision, const struct job_run *run,
		    const struct decision_context *context)
{
	if (!context->reconciler->gateway.open || !job_run_is_observed(run) ||
	    run->gateway.retry_at_us > context->mono_us)
		return;
	if (run->network == NETWORK_NONE && run->gateway.observed == GATEWAY_OPEN)
		/* the network was removed, and not by our order */
		decision_order(decision, ORDER_GATEWAY_CLOSE, 0);
	if (run->network == NETWORK_READY && run->gateway.observed == GATEWAY_CLOSED && is_of_use(run))
		decision_order(decision, ORDER_GATEWAY_OPEN, 0);
}

void gateway_leave(const struct reconciler *reconciler, struct job_run *run)
{
	if (reconciler->gateway.close)
		reconciler->gateway.close(reconciler->gateway.arg, run->row->id);
	run->gateway = (struct gateway_run){ 0 };
}
