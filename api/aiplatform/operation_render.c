/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "api/aiplatform/aiplatform.h"
#include "daemon/base/text.h"

/* Source: https://cloud.google.com/vertex-ai/docs/reference/rest/v1/DeleteOperationMetadata (read 2026-11-22) */
void operation_render(const struct call *call, const struct operation *operation, struct text *text)
{
	const struct aiplatform_context *context = call->context;
	const struct training_context *training = &context->training;
	bool known = strcmp(operation->project, training->project_id) == 0;

	text_printf(text,
		    "{\"name\":\"projects/%s/locations/%s/operations/%s\",\"metadata\":{\"@type\":"
		    "\"type.googleapis.com/google.cloud.aiplatform.%s.DeleteOperationMetadata\","
		    "\"genericMetadata\":{\"createTime\":\"",
		    known ? training->project_number : operation->project, operation->location,
		    operation->operation_id, context->version);
	text_time_micros(text, operation->created_us);
	text_puts(text, "\",\"updateTime\":\"");
	text_time_micros(text, operation->created_us);
	text_puts(
		text,
		"\"}},\"done\":true,\"response\":{\"@type\":\"type.googleapis.com/google.protobuf.Empty\"}}");
}
