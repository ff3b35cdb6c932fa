/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_archive.h: copies files into containers and out of them, as tar archives.
 * Source: https://docs.docker.com/reference/api/engine/ (PutContainerArchive, ContainerArchive). */
#include <stddef.h>

#include "daemon/base/archive.h"
#include "daemon/base/text.h"
#include "scheduler/engine/engine.h"

/* Appends a file, or an empty directory if its mode has S_IFDIR, to an archive. */
void archive_add(struct text *archive, const struct engine_file *file);

struct endpoint;

struct archive_target {
	struct endpoint *endpoint;
	const char *api_version, *container;
};

/* See engine_ops.put_files and engine_ops.get_files. */
enum status docker_put_files(const struct archive_target *place, const struct engine_file *files,
			     size_t count, struct error *err);
enum status docker_get_files(const struct archive_target *place, const char *path, size_t bytes_max,
			     const struct file_sink *sink, struct error *err);
