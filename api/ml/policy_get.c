/* SPDX-License-Identifier: Apache-2.0 */
#include "api/ml/ml.h"
#include "daemon/base/json.h"
#include "store/jobs/policies.h"

static enum status version_of(const struct call *call, int64_t *ret_version, struct error *err)
{
	int64_t version = json_int_at(json_object_get(call->query, "options"), "requestedPolicyVersion", 0);

	if (version != 0 && version != 1 && version != 3)
		return error_set(err, STATUS_INVALID_ARGUMENT, "options.requested_policy_version",
				 "The version of a policy is 0, 1 or 3, not %lld.", (long long)version);
	*ret_version = version;
	return STATUS_OK;
}

enum status policy_get_handle(struct call *call, struct error *err)
{
	const struct ml_context *context = call->context;
	AUTO(string) char *text = NULL;
	AUTO(string) char *etag = NULL;
	AUTO(json) json_t *policy = NULL;
	int64_t version = 0;
	enum status rc = version_of(call, &version, err);

	if (!rc)
		rc = policy_get(context->training.store, training_project(call), call_param(call, "job"),
				&text, &etag, err);
	if (rc)
		return rc;
	if (!text) {
		text_printf(&call->answer, "{\"etag\":\"%s\"}", etag);
		return STATUS_OK;
	}
	rc = json_parse_own(text, &policy, err);
	return rc ? rc : policy_render(&call->answer, policy, etag, version, err);
}
