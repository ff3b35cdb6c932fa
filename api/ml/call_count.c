/* SPDX-License-Identifier: Apache-2.0 */
/* Calls against the quotas of their project. */
#include <stdio.h>

#include "api/ml/ml.h"
#include "api/ml/quota.h"

static enum status count(const struct call *call, enum quota_metric metric, struct error *err)
{
	const struct ml_context *context = call->context;
	char number[PROJECT_NUMBER_SIZE];
	char consumer[PROJECT_NUMBER_SIZE + sizeof("project_number:")];

	if (!context->counter || !context->settings.quota)
		return STATUS_OK;
	ml_project_number(call, number);
	snprintf(consumer, sizeof(consumer), "project_number:%s", number);
	return quota_count(context->counter, context->settings.quota, metric, ml_project(call), consumer,
			   clock_mono_us(context->clock), err);
}

enum status ml_count_read(const struct call *call, struct error *err)
{
	return count(call, QUOTA_READ, err);
}

enum status ml_count_create(const struct call *call, struct error *err)
{
	return count(call, QUOTA_CREATE, err);
}
