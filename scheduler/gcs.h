/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/gcs.h: Cloud Storage as files, for replicas with a plan that asks for it (plan.h: mounts_gcs). The daemon
 * mounts it and returns the path. Thread: the scheduler's. */
#include <stddef.h>

#include "daemon/base/error.h"

/* The path of the mounted buckets in a replica.
 * Source: https://cloud.google.com/vertex-ai/docs/training/cloud-storage-file-system (read 2026-11-22) */
#define GCS_PLACE "/gcs"

struct gcs_ops {
	/* Mounts Cloud Storage if needed, and returns the directory of this machine at which it is mounted; the engine
	 * of the node sees the directory too. The text is valid until the next call. Does not block for long.
	 * UNAVAILABLE: it cannot be mounted here, *err says why; jobs then find an empty, read-only directory. @place
	 * itself is NULL if it is never mounted. */
	enum status (*place)(void *arg, size_t node, const char **ret_directory, struct error *err);
	void *arg;
};
