/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/launcher.h"

#include "daemon/base/embedded_file.h"
#include "daemon/base/json.h"

extern const struct embedded_file launcher_files[];

bool plan_is_launched(const struct plan *plan)
{
	return plan->python_module;
}

/* The launcher's own options, a "--", and what is the module's. */
static json_t *arguments_make(const struct plan *plan, enum role role)
{
	AUTO(json) json_t *args = json_array();
	const json_t *uri;
	size_t i;

	if (json_array_append_new(args, json_sprintf("--python=%s", plan->python)) ||
	    json_array_append_new(args, json_sprintf("--module=%s", plan->python_module)) ||
	    json_array_append_new(args, json_sprintf("--wheels=%s", LAUNCHER_WHEELS)))
		return NULL;
	json_array_foreach(plan->package_uris, i, uri)
		if (json_array_append_new(args, json_sprintf("--package=%s", json_string_value(uri))))
			return NULL;
	if (json_array_append_new(args, json_string("--")) ||
	    (plan->pools[role].args && json_array_extend(args, plan->pools[role].args)))
		return NULL;
	return TAKE(args);
}

enum status launcher_command(const struct plan *plan, enum role role, json_t **ret_command, json_t **ret_args,
			     struct error *err)
{
	AUTO(json) json_t *command = json_pack("[s, s, s]", plan->python, "-c", launcher_files[0].data);
	AUTO(json) json_t *args = arguments_make(plan, role);

	if (!command || !args)
		return error_no_memory(err);
	*ret_command = TAKE(command);
	*ret_args = TAKE(args);
	return STATUS_OK;
}
