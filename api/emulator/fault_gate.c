/* SPDX-License-Identifier: Apache-2.0 */
/* What ordered faults do to calls, before anything of them is done. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "api/emulator/faults.h"
#include "api/http/router.h"
#include "api/training/quota.h"
#include "daemon/base/json.h"
#include "daemon/base/log.h"
#include "scheduler/fault_book.h"

enum { NAP_US = 20000 };

/* The families whose calls may be hit, and what their methods' names begin with. */
static const struct {
	const char *family, *api;
} apis[] = {
	{ "ml", "ml" },
	{ "aiplatform", "aiplatform" },
	{ "aiplatform-beta", "aiplatform" },
	{ "aiplatform-ui", "aiplatform" },
	{ "logging", "logging" },
	{ "storage", "storage" },
	{ "storage-short", "storage" },
	{ "storage-plain", "storage" },
};

/* Rows that are in no discovery document, by how their paths begin; the first that fits counts. "" is any method. */
static const struct {
	const char *path, *http_method, *name;
} unpublished[] = {
	{ "/upload/", "", "objects.insert" },
	{ "/resumable/", "", "objects.insert" },
	{ "/download/", "", "objects.get" },
	{ "/storage/v1/b/{bucket}/o", "POST", "objects.insert" },
	{ "/{bucket}/{object", "GET", "objects.get" },
	{ "/{bucket}/{object", "DELETE", "objects.delete" },
	{ "/{bucket}/{object", "", "objects.insert" },
	{ "/{bucket}", "HEAD", "buckets.get" },
	{ "/{bucket}", "", "objects.list" },
	{ "/batch", "", "batch" },
};

/* The statuses of errors, by what they are in HTTP. */
static const struct {
	int http;
	enum status status;
} statuses[] = {
	{ 429, STATUS_RESOURCE_EXHAUSTED },
	{ 500, STATUS_INTERNAL },
	{ 503, STATUS_UNAVAILABLE },
	{ 504, STATUS_DEADLINE_EXCEEDED },
};

/* Choice: CPUs are what every job wants. */
static const char too_many_cpus[] = QUOTA_METRICS_SENTENCE QUOTA_TRAINING_METRIC "cpus";

/* Calls that want a job made, and what a quota says to them. */
static const struct creation {
	const char *method;
	const char *sentence; /* NULL: that of too many calls */
} creating[] = {
	{ "ml.projects.jobs.create", NULL },
	{ "aiplatform.projects.locations.customJobs.create", too_many_cpus },
	{ "aiplatform.projects.locations.hyperparameterTuningJobs.create", too_many_cpus },
	{ "aiplatform.projects.locations.trainingPipelines.create", too_many_cpus },
};

#define COUNT_OF(ARRAY) (sizeof(ARRAY) / sizeof((ARRAY)[0]))

static const char *unpublished_name(const struct route *route)
{
	for (size_t i = 0; i < COUNT_OF(unpublished); i++)
		if (strncmp(route->path, unpublished[i].path, strlen(unpublished[i].path)) == 0 &&
		    (!*unpublished[i].http_method || strcmp(route->method, unpublished[i].http_method) == 0))
			return unpublished[i].name;
	return NULL;
}

/* "ml.projects.jobs.create"; empty when the call is none that may be hit. */
static void method_write(struct text *text, const struct route *route, const struct family *family)
{
	const char *name = route->doc ? route->doc->id : unpublished_name(route);

	for (size_t i = 0; i < COUNT_OF(apis); i++) {
		if (strcmp(apis[i].family, family->name) != 0)
			continue;
		text_printf(text, "%s.", apis[i].api);
		if (name)
			text_puts(text, name);
		else
			route_name_write(text, route);
	}
}

/* NULL: it makes no job. */
static const struct creation *creation_of(const char *method)
{
	for (size_t i = 0; i < COUNT_OF(creating); i++)
		if (strcmp(creating[i].method, method) == 0)
			return &creating[i];
	return NULL;
}

static struct fault_scene scene_of(const struct call *call, const char *method)
{
	const char *job = call_param(call, "job");

	return (struct fault_scene){
		.stage = STAGE_CALL,
		.project = call_param(call, "project"),
		.job_names = { job ? job : json_text_at(call->body, "jobId"),
			       json_text_at(call->body, "displayName") },
		.method = method,
	};
}

/* An answer that is late: what a client waits for, or does not. */
static void call_delay(const struct call *call, int64_t wait_us)
{
	for (; wait_us > 0 && !call_closing(call); wait_us -= NAP_US)
		usleep(wait_us < NAP_US ? (useconds_t)wait_us : NAP_US);
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
					 "Fault rule %lld: this answer was ordered.", (long long)order->rule);
	return error_set(err, STATUS_INTERNAL, NULL, "an ordered status that is none: %d",
			 order->http_status);
}

static enum status order_carry_out(struct call *call, const char *method, const struct fault_order *order,
				   bool *ret_cut, struct error *err)
{
	switch (order->kind) {
	case FAULT_QUOTA:
		return quota_answer(call, method, err);
	case FAULT_TIMEOUT:
		call_delay(call, order->seconds_us);
		if (order->seconds_us)
			return STATUS_OK;
		*ret_cut = true;
		return error_set(err, STATUS_UNAVAILABLE, NULL, "Fault rule %lld: no answer was ordered.",
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
	struct fault_scene scene;
	struct fault_order order;
	int64_t wait_us;

	if (fault_book_is_empty(context->book))
		return STATUS_OK;
	method_write(&method, call->route, family);
	if (method.failed)
		return error_no_memory(err);
	if (!method.length)
		return STATUS_OK;
	scene = scene_of(call, method.data);
	scene.creates_job = creation_of(method.data) != NULL;
	if (!fault_book_take(context->book, &scene, &order, &wait_us))
		return STATUS_OK;
	log_event(LOG_INFO, "fault-ordered", "method=%s rule=%lld kind=%s", method.data,
		  (long long)order.rule, fault_kind_name(order.kind));
	if (fault_book_count(context->book, order.rule, &uncounted))
		log_event(LOG_ERROR, "fault-uncounted", "rule=%lld error=\"%s\"", (long long)order.rule,
			  uncounted.text ? uncounted.text : "");
	return order_carry_out(call, method.data, &order, ret_cut, err);
}

struct call_gate faults_gate(struct faults_context *context)
{
	return (struct call_gate){ gate_pass, context };
}
