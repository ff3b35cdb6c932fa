/* SPDX-License-Identifier: Apache-2.0 */
#include "api/ml/ml.h"

/* The accounts as the service names them; nothing here can act as one.
 * Source: https://cloud.google.com/ai-platform/training/docs/custom-service-account (the service agent's name) */
enum status config_get_handle(struct call *call, struct error *err)
{
	char number[PROJECT_NUMBER_SIZE];
	enum status rc = ml_project_check(call, "name", err);

	if (rc)
		return rc;
	ml_project_number(call, number);
	text_printf(&call->answer,
		    "{\"serviceAccount\":\"service-%s@cloud-ml.google.com.iam.gserviceaccount.com\","
		    "\"serviceAccountProject\":\"%s\","
		    "\"config\":{\"tpuServiceAccount\":\"service-%s@cloud-tpu.iam.gserviceaccount.com\"}}",
		    number, number, number);
	return STATUS_OK;
}
