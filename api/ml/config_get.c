/* SPDX-License-Identifier: Apache-2.0 */
#include "api/ml/ml.h"
#include "api/ml/service_agent.h"

/* The accounts as the service names them. */
enum status config_get_handle(struct call *call, struct error *err)
{
	char number[PROJECT_NUMBER_SIZE];
	enum status rc = training_project_check(call, "name", err);

	if (rc)
		return rc;
	training_project_number(call, number);
	text_puts(&call->answer, "{\"serviceAccount\":\"");
	service_agent_write(&call->answer, number);
	text_printf(&call->answer,
		    "\",\"serviceAccountProject\":\"%s\","
		    "\"config\":{\"tpuServiceAccount\":\"service-%s@cloud-tpu.iam.gserviceaccount.com\"}}",
		    number, number);
	return STATUS_OK;
}
