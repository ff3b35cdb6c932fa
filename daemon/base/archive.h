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
	const char *name; /* relative path of any length; a directory's ends with a slash */
	const char *link; /* target of a symbolic link; NULL: not a link */
	char type;        /* '0': a file, '2': a symbolic link, '5': a directory */
	mode_t mode;
	int64_t size, time_s;
};

/* Appends the header of an entry, with its attributes before it. The caller then appends a file's data and calls
 * archive_padding_add(). */
void archive_entry_add(struct text *archive, const struct archive_entry *entry);
/* Appends the padding after @size bytes of data. */
void archive_padding_add(struct text *archive, int64_t size);
/* Appends the end of the archive. */
void archive_finish(struct text *archive);

/* ---- reading ---- */

/* Callbacks for the files of an archive that is read. All pointers are borrowed. */
struct file_sink {
	/* Called at the beginning of a file of @size bytes. @name is its path in the archive,
	 * "hypertune/output.metrics": it is never absolute, and has no empty part and no "..". */
	void (*begun)(void *arg, const char *name, size_t size);
	/* Called with the next bytes of the file. */
	void (*piece)(void *arg, const char *data, size_t length);
	void *arg;
};

/* An archive that is being read: headers, each followed by its data, in whole blocks. Links and special files are
 * skipped. */
struct archive {
	const struct file_sink *sink;
	size_t bytes_left;  /* how many bytes the following files may have in total */
	bool plain_files;   /* true: links and special files are refused instead of skipped */
	enum status status; /* INTERNAL: malformed; RESOURCE_EXHAUSTED: files exceed the limit */
	const char *problem; /* describes the problem if status is set: "more data than is accepted" */
	char head[ARCHIVE_BLOCK_BYTES], attributes[ARCHIVE_ATTRIBUTES_MAX + 1], name[ARCHIVE_NAME_SIZE];
	size_t head_length, attributes_length;
	size_t data_left, padding_left;
	int64_t size_attribute;
	bool has_size_attribute;
	char type; /* type of the entry that is being read */
};

/* Reads the next piece and passes its files to the callbacks. Returns false on failure; *archive then has a status. */
bool archive_take(struct archive *archive, const char *data, size_t length);
/* Call this after the last piece. Returns false on failure, also if the archive ends in the middle of a file. */
bool archive_end(struct archive *archive);
