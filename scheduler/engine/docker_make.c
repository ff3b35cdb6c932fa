/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/engine/docker_make.h"

/* The first row is Podman, tried with 4.3.1 and 5.8. Once a container has exited, Podman follows its log with a
 * reader that drops each line for which the connection is not ready. In create requests, 4.3.1 ignores
 * DeviceRequests. Choice: GPUs are refused for later versions, too, until one was tried, although they accept some
 * requests of CDI. */
static const struct docker_make makes[] = {
	{ "Podman", "BuildahVersion", .has_late_bridges = true, .tells_seconds = true, .streams_lose_lines = true,
	  .ignores_gpus = true },
	{ "Docker Engine", NULL },
};

const struct docker_make *docker_make_of(const json_t *info)
{
	const struct docker_make *make = makes;

	while (make->mark && !json_object_get(info, make->mark))
		make++;
	return make;
}
