/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_archive.h: files into containers and out of them, as archives of tar.
 * Source: https://docs.docker.com/reference/api/engine/ (PutContainerArchive, ContainerArchive);
 * POSIX.1-2017, pax, "ustar Interchange Format" and "pax Header Block". */
#include <stddef.h>

#include "daemon/base/text.h"
#include "scheduler/engine/engine.h"

/* Appends an archive of @files. Each path has at most 100 bytes after its first slash. */
void archive_write(struct text *archive, const struct engine_file *files, size_t count);

struct archive_place {
	const char *socket_path, *api_version, *container;
};

/* As engine_ops.put_files and engine_ops.get_files. */
enum status docker_put_files(const struct archive_place *place, const struct engine_file *files, size_t count,
			     struct error *err);
enum status docker_get_files(const struct archive_place *place, const char *path, size_t bytes_max,
			     const struct file_sink *sink, struct error *err);
