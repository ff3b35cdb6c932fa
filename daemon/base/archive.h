/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/base/archive.h: writes and reads tar archives, in pieces.
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
	const char *link; /* target of a symbolic link; NULL: not a link */
	char type;        /* '0': a file, '2': a symbolic link, '5': a directory */
	mode_t mode;
	int64_t size, time_s;
};

/* Appends the header of an entry, preceded by its attributes. Then come the data of a file and archive_padding_add(). */
void archive_entry_add(struct text *archive, const struct archive_entry *entry);
/* Appends the padding after @size bytes of data. */
void archive_padding_add(struct text *archive, int64_t size);
/* Appends the end of the archive. */
void archive_finish(struct text *archive);

/* ---- reading ---- */

/* Callbacks for the files of an archive. All is borrowed. */
struct file_sink {
	/* A file of @size bytes begins, with its path in the archive: "hypertune/output.metrics". Paths are never
	 * absolute, and have no empty part and no "..". */
	void (*begun)(void *arg, const char *name, size_t size);
	/* Its next bytes. */
	void (*piece)(void *arg, const char *data, size_t length);
	void *arg;
};

/* An archive that is being read: a header, then its data, in whole blocks. Links and special files are skipped. */
struct archive {
	const struct file_sink *sink;
	size_t bytes_left;  /* limit of the bytes that further files may have */
	bool plain_files;   /* links and special files are refused */
	enum status status; /* INTERNAL: malformed; RESOURCE_EXHAUSTED: files exceed the limit */
	const char *problem; /* with a status: what is wrong, "more than may be taken" */
	char head[ARCHIVE_BLOCK_BYTES], attributes[ARCHIVE_ATTRIBUTES_MAX + 1], name[ARCHIVE_NAME_SIZE];
	size_t head_length, attributes_length;
	size_t data_left, padding_left;
	int64_t size_attribute;
	bool has_size_attribute;
	char type; /* of the data */
};

/* Reads the next piece, and passes its files on. False: it failed, and *archive has a status. */
bool archive_take(struct archive *archive, const char *data, size_t length);
/* To be called after the last piece. False: likewise, or it ends in the middle of a file. */
bool archive_end(struct archive *archive);
