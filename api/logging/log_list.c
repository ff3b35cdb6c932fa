/* SPDX-License-Identifier: Apache-2.0 */
/* api/logging/log_list.c: GET /v2/{parent}/logs. */
#include <string.h>

#include "api/logging/handlers.h"
#include "api/logging/messages.h"
#include "api/logging/resource_name.h"
#include "api/logging/routes.h"
#include "api/message/message_write.h"
#include "daemon/base/json.h"
#include "store/logs/logs.h"

enum { PAGE_SIZE_DEFAULT = 50, PAGE_SIZE_MAX = 1000 };

static bool has_project(const struct call *call)
{
	return strncmp(call->route->path, "/v2/projects/", 13) == 0;
}

enum status log_list(struct call *call, struct error *err)
{
	const struct logging_context *context = call->context;
	AUTO(string) char *project = NULL;
	AUTO(string) char *names = NULL;
	AUTO(string) char *next = NULL;
	struct writer page;
	unsigned size;
	enum status rc = page_size_read(call->query, PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX, &size, err);

	if (rc)
		return rc;
	if (!has_project(call))
		return STATUS_OK; /* only projects have logs; the answer is {} */
	project = project_resolve(context, call_param(call, "project"));
	rc = log_names_page(context->store, project, size, json_text_at(call->query, "pageToken"), &names,
			    &next, err);
	if (rc || strcmp(names, "[]") == 0)
		return rc;
	page = message_open(&call->answer, &logging_list_logs_response);
	member_json(&page, "logNames", names);
	member_text(&page, "nextPageToken", next);
	message_close(&page);
	return STATUS_OK;
}
