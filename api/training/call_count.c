/* SPDX-License-Identifier: Apache-2.0 */
/* Counts calls against the quotas of their project. */
#include <stdio.h>

#include "api/training/context.h"

enum status training_count(const struct call *call, enum quota_metric metric, struct error *err)
{
	const struct training_context *context = call->context;
	char number[PROJECT_NUMBER_SIZE];
	char consumer[PROJECT_NUMBER_SIZE + sizeof("project_number:")];

	if (!context->counter || !context->quota)
		return STATUS_OK;
	training_project_number(call, number);
	snprintf(consumer, sizeof(consumer), "project_number:%s", number);
	return quota_count(context->counter, context->quota, metric, training_project(call), consumer,
			   clock_mono_us(context->clock), err);
}
