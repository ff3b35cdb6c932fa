/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/gcs/gcs_host.h: the daemon's part of /gcs: the endpoint to its storage, and the process that serves the files
 * (gcs_mount.h), started when the first job needs it. Thread: the scheduler's, except for opening and closing. */
#include <stdbool.h>

#include "daemon/base/error.h"
#include "scheduler/gcs.h"

struct call_gate;
struct family;
struct fault_registry;
struct gcs_host;
struct objects;

struct gcs_host_options {
	const char *state_dir; /* absolute */
	/* The URL of each node's engine, such as "unix:///var/run/docker.sock". The array and the strings live as long as
	 * the host. The last elements are for nodes that may join later: each is set when its node joins. */
	const char *const *engines;
	size_t engine_count;
	/* As engine_has() in struct engine_kind. */
	enum status (*engine_has)(const char *engine, const char *path, struct error *err);
	struct objects *objects;
	const struct family *storage; /* ends with a NULL name; lives as long as the host */
	bool auto_buckets;
	/* Injects faults into calls. Both live as long as the host. */
	const struct call_gate *gate;
	struct fault_registry *faults;
};

/* Opens the endpoint. If that fails, the failure is logged, and jobs have no /gcs. */
void gcs_host_open(const struct gcs_host_options *options, struct gcs_host **ret_host);
struct gcs_ops gcs_host_ops(struct gcs_host *host);
/* Mounts in containers stay. If there are none, the serving process has ended when this function returns. NULL is
 * harmless. */
void gcs_host_close(struct gcs_host *host);
