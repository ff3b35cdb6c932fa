/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_make.h: the engines that serve Docker's API, and where one differs from Docker's own. */
#include <jansson.h>
#include <stdbool.h>

struct docker_make {
	const char *name;
	const char *mark; /* a member of its answer to /info; NULL: any answer */
	/* The bridge of a network is made with its first container. */
	bool has_late_bridges;
	/* Times of log lines are whole seconds. */
	bool tells_seconds;
	/* A stream of a log that is followed leaves out lines when it is not read fast enough. One without "follow" has
	 * them all, up to one that is being written: of that it may have the beginning, as if it were all. */
	bool streams_lose_lines;
	/* A request for GPUs is accepted and ignored: containers that want some are not made. */
	bool ignores_gpus;
};

/* The first row that fits @info, the engine's answer to /info; never NULL. */
const struct docker_make *docker_make_of(const json_t *info);
