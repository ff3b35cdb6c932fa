/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_archive.h: files into containers and out of them, as archives of tar.
 * Source: https://docs.docker.com/reference/api/engine/ (PutContainerArchive, ContainerArchive);
 * POSIX.1-2017, pax, "ustar Interchange Format" and "pax Header Block". */
#include <stdbool.h>
#include <stddef.h>

#include "daemon/base/text.h"
#include "scheduler/engine/engine.h"

/* Appends a file, or with S_IFDIR in its mode an empty directory, to an archive that is written. It has room for the name:
 * archive_has_room_for(). */
void archive_add(struct text *archive, const struct engine_file *file);
/* Whether a header has room for @name, the path without its first slash: 100 bytes, or up to 256 where a slash parts them. */
bool archive_has_room_for(const char *name);
/* Appends the end of the archive. */
void archive_finish(struct text *archive);

enum { ARCHIVE_BLOCK_BYTES = 512, ARCHIVE_ATTRIBUTES_MAX = 8192, ARCHIVE_NAME_SIZE = 4096 };

/* An archive that is read: a header, then the data that it describes, in whole blocks. */
struct archive {
	const struct file_sink *sink;
	size_t bytes_left;  /* how many more bytes files may have */
	enum status status; /* INTERNAL: it cannot be understood; RESOURCE_EXHAUSTED: files have more bytes */
	const char *problem; /* with a status: what the engine sends, "more than may be taken" */
	char head[ARCHIVE_BLOCK_BYTES], attributes[ARCHIVE_ATTRIBUTES_MAX + 1], name[ARCHIVE_NAME_SIZE];
	size_t head_length, attributes_length;
	size_t data_left, padding_left;
	char type; /* of the data */
};

/* Reads the next piece, and hands files over. False: it cannot be read further, and *archive has a status. */
bool archive_take(struct archive *archive, const char *data, size_t length);
/* After the last piece. False: likewise, or it ends in the middle of a file. */
bool archive_end(struct archive *archive);

struct endpoint;

struct archive_place {
	struct endpoint *endpoint;
	const char *api_version, *container;
};

/* As engine_ops.put_files and engine_ops.get_files. */
enum status docker_put_files(const struct archive_place *place, const struct engine_file *files, size_t count,
			     struct error *err);
enum status docker_get_files(const struct archive_place *place, const char *path, size_t bytes_max,
			     const struct file_sink *sink, struct error *err);
