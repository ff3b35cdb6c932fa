/* SPDX-License-Identifier: Apache-2.0 */
#include <sodium.h>

#include "api/ml/ml.h"
#include "api/ml/policy_rules.h"
#include "daemon/base/json.h"

/* As the service names a role whose condition it does not show.
 * Source: https://cloud.google.com/iam/docs/troubleshooting-withcond (read 2026-11-21) */
static json_t *role_with_condition(const char *role, const json_t *condition)
{
	enum { SHOWN_BYTES = 10 };
	unsigned char hash[crypto_generichash_BYTES_MIN];
	char shown[SHOWN_BYTES * 2 + 1];
	struct text text AUTO_TEXT = { 0 };

	json_write(&text, condition);
	if (text.failed)
		return NULL;
	crypto_generichash(hash, sizeof(hash), (const unsigned char *)text.data, text.length, NULL, 0);
	sodium_bin2hex(shown, sizeof(shown), hash, SHOWN_BYTES);
	return json_sprintf("%s_withcond_%s", role, shown);
}

/* The bindings as a caller sees them who knows of no conditions. */
static json_t *bindings_without_conditions(const json_t *bindings)
{
	AUTO(json) json_t *shown = json_deep_copy(bindings);
	size_t index;
	json_t *binding;

	json_array_foreach(shown, index, binding) {
		const json_t *condition = json_object_get(binding, "condition");

		if (!condition)
			continue;
		if (json_object_set_new(binding, "role",
					role_with_condition(json_text_at(binding, "role"), condition)))
			return NULL;
		json_object_del(binding, "condition");
	}
	return TAKE(shown);
}

enum status policy_render(struct text *text, const json_t *policy, const char *etag, int64_t version,
			  struct error *err)
{
	json_t *bindings = json_object_get(policy, "bindings");
	bool conditions = policy_has_conditions(policy);
	AUTO(json) json_t *without = conditions && version < 3 ? bindings_without_conditions(bindings) : NULL;
	AUTO(json)
	json_t *shown = json_pack("{s:i, s:s, s:O*, s:O*}", "version", conditions && version >= 3 ? 3 : 1,
				  "etag", etag, "bindings", without ? without : bindings, "auditConfigs",
				  json_object_get(policy, "auditConfigs"));

	if (!shown || (conditions && version < 3 && !without))
		return error_no_memory(err);
	json_write(text, shown);
	return text->failed ? error_no_memory(err) : STATUS_OK;
}
