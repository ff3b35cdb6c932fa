/* SPDX-License-Identifier: Apache-2.0 */
/* Injects faults into calls before their handlers run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/emulator/fault_method.h"
#include "api/emulator/faults.h"
#include "api/training/quota.h"
#include "daemon/base/json.h"
#include "daemon/base/log.h"
#include "daemon/base/memory.h"
#include "scheduler/faults/fault_registry.h"
#include "store/jobs/pipelines.h"
#include "store/jobs/resources.h"

enum { NAP_US = 20000 };

/* The path parameters that are the id of a job, and the kind of that job. */
static const struct {
	const char *param;
	enum job_kind kind;
} job_params[] = {
	{ "job", KIND_TRAINING },
	{ "customJob", KIND_CUSTOM },
	{ "hyperparameterTuningJob", KIND_TUNING },
};

/* The canonical status of an injected error, for each HTTP status. */
static const struct {
	int http;
	enum status status;
} statuses[] = {
	{ 429, STATUS_RESOURCE_EXHAUSTED },
	{ 500, STATUS_INTERNAL },
	{ 503, STATUS_UNAVAILABLE },
	{ 504, STATUS_DEADLINE_EXCEEDED },
};

#define COUNT_OF(ARRAY) (sizeof(ARRAY) / sizeof((ARRAY)[0]))

/* The project of the call by its id, as in rules and jobs, even if the path has its number. */
static const char *project_of(const struct faults_context *context, const struct call *call)
{
	const char *named = call_param(call, "project");

	return named && strcmp(named, context->project_number) == 0 ? context->project_id : named;
}

static char *copy(const char *text)
{
	return text ? memory_strdup(text) : NULL;
}

static char *pipeline_display_name(const struct faults_context *context, const struct call *call)
{
	const struct pipeline_name name = { project_of(context, call), call_param(call, "location"),
					    call_param(call, "trainingPipeline") };
	struct pipeline pipeline AUTO_PIPELINE = { 0 };
	struct error unknown AUTO_ERROR = { 0 };

	return pipeline_get(context->store, &name, &pipeline, &unknown) ? NULL : copy(pipeline.display_name);
}

static char *job_display_name(const struct faults_context *context, const struct call *call,
			      enum job_kind kind, const char *id)
{
	const struct resource resource = { kind, project_of(context, call), call_param(call, "location"),
					   id };
	AUTO(job) struct job *job = NULL;
	struct error unknown AUTO_ERROR = { 0 };

	return resource_get(context->store, &resource, &job, &unknown) ? NULL : copy(job->display_name);
}

/* The names of the job that a call is about; NULL: unknown. The id is borrowed from the call, the display name is
 * owned. */
struct called {
	const char *id;
	char *display_name;
};

static void called_deinit(struct called *called)
{
	free(called->display_name);
}

static void called_find(const struct faults_context *context, const struct call *call, struct called *called)
{
	called->id = call_param(call, "trainingPipeline");
	if (called->id)
		called->display_name = pipeline_display_name(context, call);
	for (size_t i = 0; i < COUNT_OF(job_params) && !called->id; i++) {
		called->id = call_param(call, job_params[i].param);
		if (called->id && job_params[i].kind != KIND_TRAINING)
			called->display_name =
				job_display_name(context, call, job_params[i].kind, called->id);
	}
	if (called->id)
		return;
	called->id = json_text_at(call->body, "jobId");
	called->display_name = copy(json_text_at(call->body, "displayName"));
}

/* Delays a call until it is due; a step of the clock may make it due. A call that its client has abandoned does
 * nothing. */
static enum status due_await(const struct faults_context *context, const struct call *call,
			     const struct fault_order *order, bool *ret_cut, struct error *err)
{
	const int64_t due_us = clock_mono_us(context->clock) + order->seconds_us;
	int64_t left_us;

	while ((left_us = due_us - clock_mono_us(context->clock)) > 0 && !call_closing(call) &&
	       fault_registry_has(context->registry, order->rule)) {
		if (call_client_gone(call)) {
			*ret_cut = true;
			return error_set(err, STATUS_CANCELLED, NULL, "the client has closed the connection");
		}
		usleep(left_us < NAP_US ? (useconds_t)left_us : NAP_US);
	}
	return STATUS_OK;
}

static enum status call_delay(const struct faults_context *context, struct call *call,
			      const struct fault_order *order, bool *ret_cut, struct error *err)
{
	enum status rc;

	if (!call_wait_begin(call))
		return error_set(
			err, STATUS_UNAVAILABLE, NULL,
			"Fault rule %lld: this answer was to be delayed, but half of all connections are "
			"delayed already.",
			(long long)order->rule);
	rc = due_await(context, call, order, ret_cut, err);
	call_wait_end(call);
	return rc;
}

static enum status quota_answer(const struct call *call, const char *method, struct error *err)
{
	const struct creation *creation = creation_of(method);
	const char *project = call_param(call, "project");
	char consumer[256];

	if (creation && creation->sentence)
		return error_set(err, STATUS_RESOURCE_EXHAUSTED, NULL, "%s", creation->sentence);
	snprintf(consumer, sizeof(consumer), "project:%.200s", project ? project : "-");
	return quota_refuse(QUOTA_CREATE, 0, consumer, err);
}

static enum status error_answer(const struct fault_order *order, struct error *err)
{
	for (size_t i = 0; i < COUNT_OF(statuses); i++)
		if (statuses[i].http == order->http_status)
			return error_set(err, statuses[i].status, NULL,
					 "Fault rule %lld: this error is injected.", (long long)order->rule);
	return error_set(err, STATUS_INTERNAL, NULL, "a fault rule has the unknown HTTP status %d",
			 order->http_status);
}

static enum status order_carry_out(struct faults_context *context, struct call *call, const char *method,
				   const struct fault_order *order, bool *ret_cut, struct error *err)
{
	switch (order->kind) {
	case FAULT_QUOTA:
		return quota_answer(call, method, err);
	case FAULT_TIMEOUT:
		if (order->seconds_us)
			return call_delay(context, call, order, ret_cut, err);
		*ret_cut = true;
		return error_set(err, STATUS_UNAVAILABLE, NULL, "Fault rule %lld: the connection is cut.",
				 (long long)order->rule);
	default:
		return error_answer(order, err);
	}
}

static enum status gate_pass(void *arg, struct call *call, const struct family *family, bool *ret_cut,
			     struct error *err)
{
	struct faults_context *context = arg;
	struct text method AUTO_TEXT = { 0 };
	struct error uncounted AUTO_ERROR = { 0 };
	struct called called __attribute__((cleanup(called_deinit))) = { 0 };
	struct fault_order order;
	int64_t wait_us;

	if (fault_registry_is_empty(context->registry))
		return STATUS_OK;
	fault_method_write(&method, family, call->route);
	if (!method.length)
		return STATUS_OK;
	called_find(context, call, &called);
	const struct fault_context fault_context = {
		.stage = STAGE_CALL,
		.project = project_of(context, call),
		.job_names = { called.id, called.display_name },
		.method = method.data,
		.creates_job = creation_of(method.data) != NULL,
	};
	if (!fault_registry_take(context->registry, &fault_context, &order, &wait_us))
		return STATUS_OK;
	log_event(LOG_INFO, "fault-ordered", "method=%s rule=%lld kind=%s", method.data,
		  (long long)order.rule, fault_kind_name(order.kind));
	if (fault_registry_count(context->registry, order.rule, &uncounted))
		log_event(LOG_ERROR, "fault-uncounted", "rule=%lld error=\"%s\"", (long long)order.rule,
			  uncounted.text ? uncounted.text : "");
	return order_carry_out(context, call, method.data, &order, ret_cut, err);
}

struct call_gate faults_gate(struct faults_context *context)
{
	return (struct call_gate){ gate_pass, context };
}
