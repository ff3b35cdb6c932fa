/* SPDX-License-Identifier: Apache-2.0 */
#include "api/training/shells_render.h"

#include <string.h>

#include "api/training/context.h"
#include "scheduler/plan/dialect.h"
#include "scheduler/plan/plan.h"
#include "store/jobs/jobs.h"

/* The stored input is canonical text: a quoted name and a colon are a member of it. A client that names no host
 * (HTTP/1.0) cannot be told an address. */
bool shells_told(const struct call *call, const struct job *job)
{
	const struct training_context *context = call->context;

	return context->shell_uri && *call->host && strstr(job->input, "\"enableWebAccess\":true");
}

/* One shell for each replica. */
static void shells_gather(const struct call *call, int64_t job, const struct plan *plan, struct text *shells)
{
	const struct training_context *context = call->context;
	char name[REPLICA_NAME_MAX];

	for (int role = 0; role < ROLE_COUNT; role++) {
		for (unsigned i = 0; i < plan->pools[role].count; i++) {
			AUTO(string)
			char *uri =
				context->shell_uri(context->shell_arg, call->host, job, (enum role)role, i);

			if (!uri)
				continue;
			replica_task_name(plan, (enum role)role, i, name);
			text_printf(shells, "%s\"%s\":", shells->length ? "," : "", name);
			text_json(shells, uri, strlen(uri));
		}
	}
}

void shells_render(const struct call *call, int64_t job, const struct plan *plan, struct text *text)
{
	struct text shells AUTO_TEXT = { 0 };

	shells_gather(call, job, plan, &shells);
	if (!shells.length || shells.failed)
		return;
	if (text->length && text->data[text->length - 1] != '{')
		text_putc(text, ',');
	text_printf(text, "\"webAccessUris\":{%s}", shells.data);
}
