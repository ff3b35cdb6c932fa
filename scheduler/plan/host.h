/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/plan/host.h: the resources of the machine that runs the containers. Pure values. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/error.h"

/* Whether a machine takes jobs. */
enum host_state {
	HOST_UP,
	HOST_DRAINED, /* keeps its jobs, and gets no new ones */
	HOST_DOWN,
};

struct host {
	bool known; /* false until an engine has reported them */
	unsigned cpus;
	int64_t memory_bytes;
	char engine[256]; /* identifies the engine among all; "": unknown */
	/* ids of GPUs in the engine's form ("0", "GPU-8a5…", "nvidia.com/gpu=0"), in order, without duplicates */
	char **devices;
	size_t device_count;
};

void host_deinit(struct host *host);
struct host host_copy(const struct host *from);

/* Whether the text can name a GPU: a number, the name of a part ("3:1"), a UUID, or a name with "=". */
bool device_id_valid(const char *id, size_t length);

/* The option --gpus: which GPUs jobs may use. */
struct inventory {
	bool automatic; /* those that the engine reports */
	char **devices; /* otherwise these */
	size_t device_count;
};

/* Reads "auto"; "none"; a number N, which means the ids 0 to N-1; or distinct ids that device_id_valid() accepts,
 * joined by commas. INVALID_ARGUMENT: another text, or more than 1024 ids. */
enum status inventory_parse(const char *text, struct inventory *ret_inventory, struct error *err);
void inventory_deinit(struct inventory *inventory);
