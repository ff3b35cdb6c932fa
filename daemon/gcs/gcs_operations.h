/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/gcs/gcs_operations.h: the file operations, for gcs_file_system.c, which serves them. Only these two files use
 * FUSE. */
#define FUSE_USE_VERSION 35
#include <fuse3/fuse.h>
#include <fuse3/fuse_lowlevel.h>
#include <stdint.h>

enum {
	GCS_THREADS = 96, /* a call that waits for the daemon occupies one thread */
};

struct gcs_file_system {
	const struct gcs_index *index;
	struct gcs_files *files;
	struct gcs_client *client;
	struct fuse *fuse;
	struct fuse_session *session;
	struct gcs_turns *turns;
	char *place, *sign; /* as given to gcs_file_system_mount() */
};

/* libfuse's private data of these operations is a struct gcs_file_system. */
extern const struct fuse_operations gcs_operations;
