/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/engine/docker_make.h"

/* Podman's: tried with 4.3.1 and 5.8. Once a container has exited, its log is followed by a reader that drops each line for
 * which the connection is not ready. Of a create, 4.3.1 does not look at DeviceRequests.
 * Choice: later ones, which take some requests of CDI, are refused too until one was tried. */
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
