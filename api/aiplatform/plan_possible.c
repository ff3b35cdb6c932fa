/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a plan against quotas and against this machine; errors have Vertex AI's words. */
#include <ctype.h>

#include "api/aiplatform/aiplatform.h"
#include "daemon/base/text.h"
#include "scheduler/plan/accelerator.h"
#include "scheduler/plan/placement.h"

/* Appends the quota metric of an accelerator type, which ends in "nvidia_t4_gpus" for a T4. Commas separate metrics. */
static void metric_write(struct text *text, const char *type)
{
	bool tpu = accelerator_is_tpu(type);

	text_printf(text, "%s" QUOTA_TRAINING_METRIC "%s", text->length ? "," : "", tpu ? "" : "nvidia_");
	for (const char *c = accelerator_short_name(type); *c; c++)
		text_putc(text, (char)tolower((unsigned char)*c));
	text_puts(text, tpu ? "" : "_gpus");
}

/* Counts the accelerators of all replicas of the plan together. */
static void accelerators_count(const struct plan *plan, struct quota_request *request)
{
	for (int role = 0; role < ROLE_COUNT; role++) {
		const struct pool *pool = &plan->pools[role];

		if (pool->accelerator_type)
			quota_request_add(request, pool->accelerator_type,
					  (uint64_t)pool->accelerator_count * pool->count);
	}
}

static enum status quota_check(const struct quota_limits *limits, const struct plan *plan, struct error *err)
{
	struct quota_request request = { 0 };
	struct text metrics AUTO_TEXT = { 0 };

	accelerators_count(plan, &request);
	for (int i = 0; limits && i < ACCELERATOR_COUNT; i++)
		if (limits->accelerators[i] != ACCELERATOR_UNLIMITED &&
		    request.accelerators[i] > limits->accelerators[i])
			metric_write(&metrics, accelerator_name((enum accelerator)i));
	return metrics.length ? error_set(err, STATUS_RESOURCE_EXHAUSTED, NULL, QUOTA_METRICS_SENTENCE "%s",
					  metrics.data)
			      : STATUS_OK;
}

static enum status host_check(const struct training_context *context, const struct plan *plan,
			      struct error *err)
{
	struct error cause AUTO_ERROR = { 0 };
	enum shortage shortage = SHORTAGE_NONE;
	enum status rc = training_host_check(context, plan, &shortage, &cause);

	if (rc == STATUS_RESOURCE_EXHAUSTED && shortage == SHORTAGE_PROJECT)
		return error_set(err, rc, NULL, QUOTA_METRICS_SENTENCE QUOTA_TRAINING_METRIC "cpus");
	if (rc == STATUS_RESOURCE_EXHAUSTED && shortage == SHORTAGE_HOST)
		return error_set(err, rc, NULL, STOCKOUT_SENTENCE, plan->region);
	return rc ? error_move(err, &cause) : STATUS_OK;
}

enum status plan_possible(const struct call *call, const struct plan *plan, struct error *err)
{
	const struct training_context *context = call->context;
	enum status rc = quota_check(context->quota, plan, err);

	return rc ? rc : host_check(context, plan, err);
}
