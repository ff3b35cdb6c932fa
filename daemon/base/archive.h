/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/base/archive.h: archives of files (tar), written and read in pieces.
 * Source: POSIX.1-2017, pax, "ustar Interchange Format" and "pax Header Block".
 *
 * Pure. Thread: any. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/base/error.h"
#include "daemon/base/text.h"

enum { ARCHIVE_BLOCK_BYTES = 512, ARCHIVE_ATTRIBUTES_MAX = 8192, ARCHIVE_NAME_SIZE = 4096 };

/* ---- writing ---- */

struct archive_entry {
	const char *name; /* relative, of any length; a directory's ends with a slash */
	const char *link; /* where a symbolic link leads; NULL: it is none */
	char type;        /* '0': a file, '2': a symbolic link, '5': a directory */
	mode_t mode;
	int64_t size, time_s;
};

/* Appends the header of an entry, with its attributes before it. The data of a file and archive_padding_add() follow. */
void archive_entry_add(struct text *archive, const struct archive_entry *entry);
/* Appends what stands behind @size bytes of data. */
void archive_padding_add(struct text *archive, int64_t size);
/* Appends the end of the archive. */
void archive_finish(struct text *archive);

/* ---- reading ---- */

/* Takes the files of an archive. All is borrowed. */
struct file_sink {
	/* A file of @size bytes, by its path in the archive: "hypertune/output.metrics". No path is absolute, has an empty part or
	 * leads upwards. */
	void (*begun)(void *arg, const char *name, size_t size);
	/* Its next bytes. */
	void (*piece)(void *arg, const char *data, size_t length);
	void *arg;
};

/* An archive that is read: a header, then the data that it describes, in whole blocks. Links and special files are passed
 * over. */
struct archive {
	const struct file_sink *sink;
	size_t bytes_left;  /* how many more bytes files may have */
	bool plain_files;   /* links and special files are refused */
	enum status status; /* INTERNAL: it cannot be understood; RESOURCE_EXHAUSTED: files have more bytes */
	const char *problem; /* with a status: what there is instead, "more than may be taken" */
	char head[ARCHIVE_BLOCK_BYTES], attributes[ARCHIVE_ATTRIBUTES_MAX + 1], name[ARCHIVE_NAME_SIZE];
	size_t head_length, attributes_length;
	size_t data_left, padding_left;
	int64_t size_attribute;
	bool has_size_attribute;
	char type; /* of the data */
};

/* Reads the next piece, and hands files over. False: it cannot be read further, and *archive has a status. */
bool archive_take(struct archive *archive, const char *data, size_t length);
/* After the last piece. False: likewise, or it ends in the middle of a file. */
bool archive_end(struct archive *archive);
