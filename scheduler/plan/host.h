/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/plan/host.h: what the machine that runs the containers has. Pure values. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/error.h"

struct host {
	bool known; /* false until an engine told */
	unsigned cpus;
	int64_t memory_bytes;
	char engine[256]; /* what tells it from all others; "": not known */
	char **devices; /* ids of GPUs as the engine takes them ("0", "GPU-8a5…", "nvidia.com/gpu=0"), in their order,
			* each once */
	size_t device_count;
};

void host_deinit(struct host *host);
struct host host_copy(const struct host *from);

/* What --gpus says: which GPUs there are to give away. */
struct inventory {
	bool automatic; /* those that the engine names */
	char **devices; /* otherwise these */
	size_t device_count;
};

/* "auto"; "none"; a number N, which means the ids 0 to N-1; or ids joined by commas, each once: letters, digits
 * and, after the first, -_.:/= in at most 255 bytes, none of them "all", "auto", "none" or "void".
 * INVALID_ARGUMENT otherwise, or for more than 1024. */
enum status inventory_parse(const char *text, struct inventory *ret_inventory, struct error *err);
void inventory_deinit(struct inventory *inventory);
