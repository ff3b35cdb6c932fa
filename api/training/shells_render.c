/* SPDX-License-Identifier: Apache-2.0 */
#include "api/training/shells_render.h"

#include <string.h>

#include "api/message/message_write.h"
#include "api/training/context.h"
#include "scheduler/plan/dialect.h"
#include "scheduler/plan/plan.h"
#include "store/jobs/jobs.h"

/* A client that sends no host (HTTP/1.0) cannot be given an address. */
bool shells_reported(const struct call *call, const struct job *job)
{
	const struct training_context *context = call->context;

	return context->shell_uri && *call->host && job->web_access;
}

void shells_render(const struct call *call, int64_t job, const struct plan *plan, struct writer *answer)
{
	const struct training_context *context = call->context;
	struct writer shells = member_map(answer, "webAccessUris");
	char name[REPLICA_NAME_MAX];

	for (int role = 0; role < ROLE_COUNT; role++) {
		for (unsigned i = 0; i < plan->pools[role].count; i++) {
			AUTO(string)
			char *uri =
				context->shell_uri(context->shell_arg, call->host, job, (enum role)role, i);

			replica_task_name(plan, (enum role)role, i, name);
			member_text(&shells, name, uri);
		}
	}
	message_close(&shells);
}
