/* SPDX-License-Identifier: Apache-2.0 */
#include "api/ml/ml.h"
#include "daemon/base/cleanup.h"
#include "scheduler/plan/dialect.h"

/* The accounts as the service names them. */
enum status config_get_handle(struct call *call, struct error *err)
{
	char number[PROJECT_NUMBER_SIZE];
	enum status rc = training_project_check(call, "name", err);

	if (rc)
		return rc;
	training_project_number(call, number);
	AUTO(string) char *email = service_agent_email("ml", number);

	if (!email)
		return error_no_memory(err);
	text_printf(&call->answer,
		    "{\"serviceAccount\":\"%s\",\"serviceAccountProject\":\"%s\","
		    "\"config\":{\"tpuServiceAccount\":\"service-%s@cloud-tpu.iam.gserviceaccount.com\"}}",
		    email, number, number);
	return STATUS_OK;
}
