/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "api/message/message_write.h"
#include "api/ml/messages.h"
#include "api/ml/ml.h"
#include "api/ml/rules.h"
#include "daemon/base/json.h"
#include "store/jobs/jobs.h"

/* Choice: policies are kept but not enforced, so that every caller has every permission there is on jobs. Permissions
 * on projects and locations do not apply to jobs.
 * Source: https://cloud.google.com/ai-platform/training/docs/access-control (read 2026-11-20) */
static const char *const job_permissions[] = {
	"ml.jobs.cancel", "ml.jobs.create",       "ml.jobs.get",    "ml.jobs.getIamPolicy",
	"ml.jobs.list",   "ml.jobs.setIamPolicy", "ml.jobs.update",
};

enum { PERMISSION_COUNT = sizeof(job_permissions) / sizeof(job_permissions[0]) };

/* Returns the permission's index in the table; PERMISSION_COUNT if it is not there. */
static size_t permission_find(const char *permission)
{
	size_t at = 0;

	while (at < PERMISSION_COUNT && strcmp(job_permissions[at], permission) != 0)
		at++;
	return at;
}

static enum status wildcards_refuse(const json_t *permissions, struct error *err)
{
	size_t index;
	const json_t *permission;

	json_array_foreach((json_t *)permissions, index, permission) {
		char field[48];

		if (!strchr(json_string_value(permission), '*'))
			continue;
		if (err->violation_count == RULES_FAULTS_MAX)
			break;
		snprintf(field, sizeof(field), "permissions[%zu]", index);
		error_add(err, STATUS_INVALID_ARGUMENT, field, "'%.*s' has a wildcard: name each permission.",
			  RULES_SHOWN_BYTES, json_string_value(permission));
	}
	return err->status;
}

/* Writes each permission once, in the order of the request. */
static void answer_write(struct text *text, const json_t *permissions)
{
	struct writer answer = message_open(text, &ml_test_iam_permissions_response);
	struct writer list = member_list(&answer, "permissions");
	bool given[PERMISSION_COUNT + 1] = { [PERMISSION_COUNT] = true };
	size_t index;
	const json_t *permission;

	json_array_foreach((json_t *)permissions, index, permission) {
		size_t at = permission_find(json_string_value(permission));

		if (!given[at])
			element_text(&list, job_permissions[at]);
		given[at] = true;
	}
	message_close(&list);
	message_close(&answer);
}

/* For a job that does not exist, the answer is an empty list, not an error. */
enum status permissions_test_handle(struct call *call, struct error *err)
{
	const struct ml_context *context = call->context;
	const json_t *permissions = json_object_get(call->body, "permissions");
	AUTO(job) struct job *job = NULL;
	struct error found AUTO_ERROR = { 0 };
	enum status rc = wildcards_refuse(permissions, &found);

	if (!rc)
		rc = job_get(context->training.store, training_project(call), call_param(call, "job"), &job,
			     &found);
	if (rc == STATUS_NOT_FOUND)
		return STATUS_OK;
	if (rc)
		return error_move(err, &found);
	answer_write(&call->answer, permissions);
	return STATUS_OK;
}
