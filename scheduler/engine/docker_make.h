/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_make.h: the makes of engines that serve Docker's API, and how each differs from Docker's
 * own. */
#include <jansson.h>
#include <stdbool.h>

struct docker_make {
	const char *name;
	const char *mark; /* a member that the make's answer to /info has; NULL: fits any answer */
	/* The engine makes a network's bridge only when the network gets its first container. */
	bool has_late_bridges;
	/* Times of log lines are whole seconds. */
	bool tells_seconds;
	/* A stream of a followed log leaves out lines if it is not read fast enough. A stream without "follow" has
	 * all lines; but if the last one is still being written, it may have only the beginning of that line, as if
	 * it were complete. */
	bool streams_lose_lines;
	/* The engine accepts requests for GPUs and ignores them: trainyard does not make containers that need GPUs
	 * there. */
	bool ignores_gpus;
};

/* The first make that fits @info, the engine's answer to /info; never NULL. */
const struct docker_make *docker_make_of(const json_t *info);
