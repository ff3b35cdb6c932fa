/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/engine/engine.h"

#include "scheduler/engine/docker.h"
#include "scheduler/engine/docker_clean.h"
#include "scheduler/engine/docker_endpoint.h"
#include "scheduler/engine/docker_reach.h"
#include "scheduler/engine/docker_self.h"

static const struct engine_kind kinds[] = {
	{ endpoint_url_valid, docker_open, docker_reach, docker_describe, docker_list, docker_sweep, docker_has_path,
	  docker_own_names },
};

const struct engine_kind *engine_kind_of(const char *url)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (kinds[i].url_valid(url))
			return &kinds[i];
	return NULL;
}

char *engine_url_default(void)
{
	return endpoint_default();
}
