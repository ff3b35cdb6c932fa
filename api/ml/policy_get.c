/* SPDX-License-Identifier: Apache-2.0 */
#include <sodium.h>

#include "api/message/message_write.h"
#include "api/ml/messages.h"
#include "api/ml/ml.h"
#include "api/ml/policy_rules.h"
#include "daemon/base/json.h"
#include "store/jobs/policies.h"

/* Names a role with a condition in the way in which the service does in answers without conditions.
 * Source: https://cloud.google.com/iam/docs/troubleshooting-withcond (read 2026-11-21) */
static json_t *role_with_condition(const char *role, const json_t *condition)
{
	enum { SHOWN_BYTES = 10 };
	unsigned char hash[crypto_generichash_BYTES_MIN];
	char shown[SHOWN_BYTES * 2 + 1];
	struct text text AUTO_TEXT = { 0 };

	json_write(&text, condition);
	crypto_generichash(hash, sizeof(hash), (const unsigned char *)text.data, text.length, NULL, 0);
	sodium_bin2hex(shown, sizeof(shown), hash, SHOWN_BYTES);
	return json_sprintf("%s_withcond_%s", role, shown);
}

/* Converts the bindings for a client that requested a policy version without conditions. */
static json_t *bindings_without_conditions(const json_t *bindings)
{
	json_t *shown = json_deep_copy(bindings);
	size_t index;
	json_t *binding;

	json_array_foreach(shown, index, binding) {
		const json_t *condition = json_object_get(binding, "condition");

		if (!condition)
			continue;
		json_object_set_new(binding, "role",
				    role_with_condition(json_text_at(binding, "role"), condition));
		json_object_del(binding, "condition");
	}
	return shown;
}

void policy_render(struct text *text, const json_t *policy, const char *etag, int64_t version)
{
	const json_t *bindings = json_object_get(policy, "bindings");
	const bool conditions = policy_has_conditions(policy);
	AUTO(json) json_t *without = conditions && version < 3 ? bindings_without_conditions(bindings) : NULL;
	struct writer answer = message_open(text, &ml_policy);

	member_int(&answer, "version", conditions && version >= 3 ? 3 : 1);
	member_text(&answer, "etag", etag);
	member_value(&answer, "bindings", without ? without : bindings);
	member_value(&answer, "auditConfigs", json_object_get(policy, "auditConfigs"));
	message_close(&answer);
}

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
	if (!rc)
		policy_render(&call->answer, policy, etag, version);
	return rc;
}
