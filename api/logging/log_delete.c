/* SPDX-License-Identifier: Apache-2.0 */
/* api/logging/log_delete.c: DELETE /v2/projects/PROJECT/logs/LOG. */
#include "api/logging/handlers.h"
#include "api/logging/resource_name.h"
#include "api/logging/routes.h"
#include "daemon/base/cleanup.h"
#include "daemon/base/memory.h"
#include "store/logs/logs.h"

enum status log_delete(struct call *call, struct error *err)
{
	const struct logging_context *context = call->context;
	AUTO(string)
	char *name =
		memory_printf("projects/%s/logs/%s", call_param(call, "project"), call_param(call, "log"));
	AUTO(string) char *project = NULL;
	AUTO(string) char *log = NULL;
	enum status rc = log_name_read(context, name, &project, &log, err);

	if (!rc)
		rc = log_purge(context->store, project, log, err);
	/* Source: https://github.com/googleapis/google-cloud-python/issues/1657 (read 2026-11-27) */
	if (rc == STATUS_NOT_FOUND)
		return error_set(err, rc, NULL, "Requested entity was not found.");
	return rc;
}
