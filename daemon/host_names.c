/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/host_names.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/base/memory.h"
#include "daemon/config.h"
#include "scheduler/engine/engine.h"

struct host_names host_names_make(const struct config *config)
{
	struct host_names made = { 0 };
	size_t count = 0, index;
	json_t *name;

	for (size_t i = 0; i < config->host_names.count; i++)
		if (strcmp(config->host_names.values[i], "auto") == 0 && !made.own)
			made.own = engine_kind_of(config->engine)->own_names(config->engine);
	made.names = memory_calloc(config->host_names.count + json_array_size(made.own) + 1, sizeof(char *));
	for (size_t i = 0; i < config->host_names.count; i++)
		if (strcmp(config->host_names.values[i], "auto") != 0)
			made.names[count++] = config->host_names.values[i];
	json_array_foreach(made.own, index, name)
		made.names[count++] = json_string_value(name);
	return made;
}

void host_names_deinit(struct host_names *host_names)
{
	free(host_names->names);
	json_decref(host_names->own);
}
