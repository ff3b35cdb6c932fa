/* SPDX-License-Identifier: Apache-2.0 */
#include "api/ml/service_agent.h"

void service_agent_write(struct text *text, const char *project_number)
{
	text_printf(text, "service-%s@cloud-ml.google.com.iam.gserviceaccount.com", project_number);
}
