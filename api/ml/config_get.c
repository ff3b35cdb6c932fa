/* SPDX-License-Identifier: Apache-2.0 */
#include "api/message/message_write.h"
#include "api/ml/messages.h"
#include "api/ml/ml.h"
#include "daemon/base/cleanup.h"
#include "scheduler/plan/dialect.h"

/* Answers with the service accounts, with names in the service's form. */
enum status config_get_handle(struct call *call, struct error *err)
{
	char number[PROJECT_NUMBER_SIZE];
	struct writer answer, config;
	enum status rc = training_project_check(call, "name", err);

	if (rc)
		return rc;
	training_project_number(call, number);
	AUTO(string) char *email = service_agent_email("ml", number);

	answer = message_open(&call->answer, &ml_get_config_response);
	member_text(&answer, "serviceAccount", email);
	member_printf(&answer, "serviceAccountProject", "%s", number);
	config = member_message(&answer, "config");
	member_printf(&config, "tpuServiceAccount", "service-%s@cloud-tpu.iam.gserviceaccount.com", number);
	message_close(&config);
	message_close(&answer);
	return STATUS_OK;
}
