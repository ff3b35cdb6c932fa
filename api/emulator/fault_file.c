/* SPDX-License-Identifier: Apache-2.0 */
/* Reads fault rules from a file when the daemon starts. A rule that the file already had at the last start keeps its
 * counts, so that a scenario continues. */
#include <stdlib.h>
#include <string.h>

#include "api/emulator/fault_method.h"
#include "api/emulator/faults.h"
#include "api/message/message.h"
#include "daemon/base/json.h"
#include "scheduler/faults/fault_registry.h"
#include "store/jobs/faults.h"

/* Messages about a wrong rule are prefixed with its position in the file. */
static enum status rule_read(const struct faults_context *context, const char *path, size_t index,
			     const json_t *value, json_t **ret_canonical, struct error *err)
{
	AUTO(json) json_t *canonical = NULL;
	AUTO(fault_rule) struct fault_rule *rule = NULL;
	struct error found AUTO_ERROR = { 0 };
	enum status rc = message_read(&fault_message, value, "", &canonical, &found);

	if (!rc)
		rc = fault_rule_read(canonical, &rule, &found);
	if (!rc)
		rc = fault_method_check(context->families, canonical, &found);
	if (rc)
		return error_set(err, rc, NULL, "--faults: %s: rule %zu: %s", path, index + 1,
				 found.text ? found.text : "");
	*ret_canonical = TAKE(canonical);
	return STATUS_OK;
}

static enum status rules_read(const struct faults_context *context, const char *path, json_t **ret_rules,
			      struct error *err)
{
	json_error_t problem;
	AUTO(json) json_t *file = json_load_file(path, JSON_REJECT_DUPLICATES, &problem);
	const json_t *list = json_is_object(file) ? json_object_get(file, "faults") : file;
	AUTO(json) json_t *rules = json_array();
	const json_t *value;
	size_t index;

	if (!file)
		return problem.line > 0
			       ? error_set(err, STATUS_INVALID_ARGUMENT, NULL, "--faults: %s: line %d: %s",
					   path, problem.line, problem.text)
			       : error_set(err, STATUS_INVALID_ARGUMENT, NULL, "--faults: %s", problem.text);
	if (!json_is_array(list))
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
				 "--faults: %s: a list of rules is expected", path);
	json_array_foreach((json_t *)list, index, value) {
		json_t *canonical = NULL;
		enum status rc = rule_read(context, path, index, value, &canonical, err);

		if (!rc)
			json_array_append_new(rules, canonical);
		if (rc)
			return rc;
	}
	*ret_rules = TAKE(rules);
	return STATUS_OK;
}

/* Removes the first rule that equals @text from @rules. False: none does. */
static bool rule_take(json_t *rules, const char *text)
{
	json_t *rule;
	size_t index;

	json_array_foreach(rules, index, rule) {
		AUTO(string) char *own = json_dump_compact(rule);

		if (own && strcmp(own, text) == 0)
			return json_array_remove(rules, index) == 0;
	}
	return false;
}

enum status faults_file_take(struct faults_context *context, const char *path, struct error *err)
{
	struct fault_list list AUTO_FAULT_LIST = { 0 };
	AUTO(json) json_t *rules = NULL;
	json_t *rule;
	size_t index;
	int64_t id;
	enum status rc = path ? rules_read(context, path, &rules, err) : STATUS_OK;

	if (!rc)
		rc = fault_list_read(context->store, &list, err);
	for (size_t i = 0; !rc && i < list.count; i++)
		if (list.faults[i].from_file && !(rules && rule_take(rules, list.faults[i].rule)))
			rc = fault_registry_remove(context->registry, list.faults[i].id, err);
	if (rc)
		return rc;
	json_array_foreach(rules, index, rule) {
		rc = fault_registry_add(context->registry, rule, true, &id, err);
		if (rc)
			return rc;
	}
	return STATUS_OK;
}
