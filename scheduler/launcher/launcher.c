/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/launcher/launcher.h"

#include "daemon/base/embedded_file.h"
#include "daemon/base/json.h"
#include "scheduler/plan/dialect.h"

extern const struct embedded_file launcher_files[];

/* The launcher's own options, a "--", and the module's arguments. */
static json_t *arguments_make(const struct plan *plan, enum role role, const json_t *module_args)
{
	const struct pool *pool = &plan->pools[role];
	json_t *args = launcher_options(plan);
	const json_t *uri;
	size_t i;

	json_array_append_new(args, json_sprintf("--python=%s", pool->python));
	json_array_append_new(args, json_sprintf("--module=%s", pool->python_module));
	json_array_append_new(args, json_sprintf("--wheels=%s", LAUNCHER_WHEELS));
	json_array_foreach(pool->package_uris, i, uri)
		json_array_append_new(args, json_sprintf("--package=%s", json_string_value(uri)));
	json_array_append_new(args, json_string("--"));
	if (module_args)
		json_array_extend(args, (json_t *)module_args);
	return args;
}

void launcher_command(const struct plan *plan, enum role role, const json_t *module_args,
		      json_t **ret_command, json_t **ret_args)
{
	*ret_command = json_pack("[s, s, s]", plan->pools[role].python, "-c", launcher_files[0].data);
	*ret_args = arguments_make(plan, role, module_args);
}
