/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/gcs.h: Cloud Storage as files, for replicas with a plan that asks for it (plan.h: mounts_gcs). The daemon mounts
 * it and gives the path. Thread: the scheduler's. */
#include "daemon/base/error.h"

/* Where a replica finds it.
 * Source: https://cloud.google.com/vertex-ai/docs/training/cloud-storage-file-system (read 2026-11-22) */
#define GCS_PLACE "/gcs"

struct gcs_ops {
	/* Makes sure that it is there, and says where: a directory of this machine that the engine sees too, until
	 * the next call. Takes a moment, no more. UNAVAILABLE: it cannot be had here, *err says why: jobs find
	 * an empty directory that cannot be written to. NULL: never. */
	enum status (*place)(void *arg, const char **ret_directory, struct error *err);
	void *arg;
};
