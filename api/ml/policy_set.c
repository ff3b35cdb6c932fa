/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces the policy of a job, or the parts of it that the mask names. */
#include <stdlib.h>
#include <string.h>

#include "api/ml/ml.h"
#include "api/ml/policy_rules.h"
#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "store/jobs/policies.h"

/* Maximum number of tries of a change without an etag, which is repeated if another change is stored first. */
enum { TRIES_MAX = 16 };

struct policy_mask {
	bool bindings, audit_configs, etag;
};

/* A mask may name the version, which has no effect, because the version is derived from the bindings. */
static enum status mask_part(const char *part, struct policy_mask *mask, struct error *err)
{
	if (strcmp(part, "bindings") == 0)
		mask->bindings = true;
	else if (strcmp(part, "auditConfigs") == 0)
		mask->audit_configs = true;
	else if (strcmp(part, "etag") == 0)
		mask->etag = true;
	else if (strcmp(part, "version") != 0)
		return error_set(
			err, STATUS_INVALID_ARGUMENT, "update_mask",
			"Only bindings, auditConfigs, etag and version can be updated, not '%.100s'.", part);
	return STATUS_OK;
}

static enum status mask_read(const json_t *body, struct policy_mask *ret_mask, struct error *err)
{
	const char *text = json_text_at(body, "updateMask");
	AUTO(string) char *copy = memory_strdup(text && *text ? text : "bindings,etag");
	char *rest = NULL;
	enum status rc = STATUS_OK;

	for (char *part = strtok_r(copy, ",", &rest); part && !rc; part = strtok_r(NULL, ",", &rest))
		rc = mask_part(part, ret_mask, err);
	return rc;
}

struct setting {
	struct call *call;
	const json_t *policy; /* the policy that the client sent */
	struct policy_mask mask;
	const char *etag; /* the etag that the stored policy must have; NULL: any */
};

/* Returns the stored policy with the parts that the mask names replaced; without etag and version. */
static json_t *policy_merge(const struct setting *setting, const json_t *present)
{
	const json_t *bindings_of = setting->mask.bindings ? setting->policy : present;
	const json_t *audits_of = setting->mask.audit_configs ? setting->policy : present;

	return json_pack("{s:O*, s:O*}", "bindings", json_object_get(bindings_of, "bindings"), "auditConfigs",
			 json_object_get(audits_of, "auditConfigs"));
}

/* A change with an etag, of a policy with conditions, must declare version 3, which shows that the client knows
 * conditions. Without an etag, the policy may be overwritten.
 * Source: https://cloud.google.com/iam/docs/reference/rest/v1/Policy */
static enum status version_check(const struct setting *setting, const json_t *present, struct error *err)
{
	if (!setting->etag || !policy_has_conditions(present) ||
	    json_int_at(setting->policy, "version", 0) == 3)
		return STATUS_OK;
	return error_set(
		err, STATUS_INVALID_ARGUMENT, "policy.version",
		"The present policy has conditions: a change must say that its version is 3.");
}

static enum status policy_write(const struct setting *setting, const json_t *merged, const char *etag,
				struct error *err)
{
	const struct ml_context *context = setting->call->context;
	AUTO(string) char *text = json_dump_compact(merged);
	AUTO(string) char *new_etag = NULL;
	enum status rc;

	if (strlen(text) > POLICY_BYTES_MAX)
		return error_set(err, STATUS_INVALID_ARGUMENT, "policy",
				 "The policy is larger than the %d bytes that one can have.",
				 POLICY_BYTES_MAX);
	rc = policy_set(context->training.store, training_project(setting->call),
			call_param(setting->call, "job"), text, etag, &new_etag, err);
	if (!rc)
		policy_render(&setting->call->answer, merged, new_etag, 3);
	return rc;
}

/* Reads the policy, changes it and stores it, unless another change was stored first. */
static enum status policy_change(const struct setting *setting, struct error *err)
{
	const struct ml_context *context = setting->call->context;
	AUTO(string) char *text = NULL;
	AUTO(string) char *etag = NULL;
	AUTO(json) json_t *present = NULL;
	AUTO(json) json_t *merged = NULL;
	enum status rc = policy_get(context->training.store, training_project(setting->call),
				    call_param(setting->call, "job"), &text, &etag, err);

	if (!rc && text)
		rc = json_parse_own(text, &present, err);
	if (!rc && setting->etag && strcmp(setting->etag, etag) == 0)
		rc = version_check(setting, present, err);
	if (rc)
		return rc;
	merged = policy_merge(setting, present);
	return policy_write(setting, merged, setting->etag ? setting->etag : etag, err);
}

enum status policy_set_handle(struct call *call, struct error *err)
{
	struct setting setting = { .call = call, .policy = json_object_get(call->body, "policy") };
	enum status rc;

	if (!setting.policy)
		return error_set(err, STATUS_INVALID_ARGUMENT, "policy",
				 "A policy is required; it may be empty.");
	rc = mask_read(call->body, &setting.mask, err);
	if (!rc)
		rc = policy_rules_check(setting.policy, err);
	if (rc)
		return rc;
	setting.etag = setting.mask.etag ? json_text_at(setting.policy, "etag") : NULL;
	rc = policy_change(&setting, err);
	for (int tried = 1; rc == STATUS_ABORTED && !setting.etag && tried < TRIES_MAX; tried++)
		rc = policy_change(&setting, err);
	return rc;
}
