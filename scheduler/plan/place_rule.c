/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/plan/place_rule.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/base/json.h"
#include "daemon/base/memory.h"

void place_rule_deinit(struct place_rule *rule)
{
	free(rule->subject);
	free(rule->label);
	free(rule->value);
	*rule = (struct place_rule){ 0 };
}

enum status place_rule_parse(const char *text, struct place_rule *ret_rule, struct error *err)
{
	const char *equals = strchr(text, '='), *colon = equals ? strchr(equals, ':') : NULL;

	if (!equals || equals == text || !colon || colon == equals + 1 || !colon[1])
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
				 "\"%s\" does not have the form ROLE=LABEL:VALUE or MACHINE=LABEL:VALUE.",
				 text);
	ret_rule->subject = memory_strndup(text, (size_t)(equals - text));
	ret_rule->label = memory_strndup(equals + 1, (size_t)(colon - equals - 1));
	ret_rule->value = memory_strdup(colon + 1);
	return STATUS_OK;
}

const json_t *place_labels(const struct place_rules *placing, const char *node, const json_t *own)
{
	return own || !placing ? own : json_object_get(placing->labels, node);
}

void place_rules_deinit(struct place_rules *placing)
{
	for (size_t i = 0; i < placing->rule_count; i++)
		place_rule_deinit(&placing->rules[i]);
	free(placing->rules);
	json_decref(placing->labels);
	*placing = (struct place_rules){ 0 };
}

static bool is_about(const struct place_rule *rule, const struct pool *pool, enum role role)
{
	return strcmp(rule->subject, role_name(role)) == 0 ||
	       (pool->machine_type && strcmp(rule->subject, pool->machine_type) == 0);
}

const struct place_rule *place_rule_broken(const struct place_rule *rules, size_t count, const char *node,
					   const json_t *labels, const struct pool *pool, enum role role)
{
	for (size_t i = 0; i < count; i++) {
		const struct place_rule *rule = &rules[i];
		const char *label =
			strcmp(rule->label, "node") == 0 ? node : json_text_at(labels, rule->label);

		if (is_about(rule, pool, role) && (!label || strcmp(label, rule->value) != 0))
			return rule;
	}
	return NULL;
}
