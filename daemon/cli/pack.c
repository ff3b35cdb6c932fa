/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/pack.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "daemon/base/archive.h"
#include "daemon/base/memory.h"
#include "daemon/base/text.h"

enum { PIECE_BYTES = 65536 };

struct pack {
	int fd;
	gzFile file;
	bool failed; /* a write was refused */
};

enum status pack_open(bool compressed, struct pack **ret_pack, struct error *err)
{
	const char *directory = getenv("TMPDIR");
	AUTO(string)
	char *name = memory_printf("%s/trainyard-XXXXXX", directory && *directory ? directory : "/tmp");
	struct pack *pack;
	int fd = mkostemp(name, O_CLOEXEC);
	int copy = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);

	if (fd >= 0)
		unlink(name);
	if (copy < 0) {
		error_set(err, STATUS_UNAVAILABLE, NULL, "%s cannot be made: %s", name, strerror(errno));
		if (fd >= 0)
			close(fd);
		return STATUS_UNAVAILABLE;
	}
	pack = memory_calloc(1, sizeof(*pack));
	pack->fd = fd;
	/* 'T': not compressed. Level 1 is four times as fast as the default level, and compresses half as well. */
	pack->file = gzdopen(copy, compressed ? "wb1" : "wbT");
	if (!pack->file)
		memory_exhausted(PIECE_BYTES);
	*ret_pack = pack;
	return STATUS_OK;
}

void pack_close(struct pack *pack)
{
	if (!pack)
		return;
	if (pack->file)
		gzclose(pack->file);
	close(pack->fd);
	free(pack);
}

static void put(struct pack *pack, const void *data, size_t length)
{
	if (length && gzwrite(pack->file, data, (unsigned)length) != (int)length)
		pack->failed = true;
}

/* ---- entries ---- */

static void entry_put(struct pack *pack, const struct archive_entry *entry)
{
	struct text header AUTO_TEXT = { 0 };

	archive_entry_add(&header, entry);
	put(pack, header.data, header.length);
}

static void padding_put(struct pack *pack, int64_t size)
{
	struct text padding AUTO_TEXT = { 0 };

	archive_padding_add(&padding, size);
	put(pack, padding.data, padding.length);
}

void pack_text(struct pack *pack, const char *name, const char *text)
{
	const int64_t size = (int64_t)strlen(text);

	entry_put(pack, &(struct archive_entry){ .name = name, .type = '0', .mode = 0644, .size = size });
	put(pack, text, (size_t)size);
	padding_put(pack, size);
}

/* ---- files ---- */

static enum status data_put(struct pack *pack, const char *path, int64_t size, struct error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	char piece[PIECE_BYTES];
	int64_t left = size;
	ssize_t got = fd < 0 ? -1 : 0;

	while (fd >= 0 && left > 0 &&
	       (got = read(fd, piece, left < PIECE_BYTES ? (size_t)left : PIECE_BYTES)) > 0) {
		put(pack, piece, (size_t)got);
		left -= got;
	}
	if (got < 0)
		error_set(err, STATUS_INVALID_ARGUMENT, NULL, "%s cannot be read: %s", path, strerror(errno));
	else if (left > 0)
		error_set(err, STATUS_INVALID_ARGUMENT, NULL, "%s became shorter while it was read", path);
	if (fd >= 0)
		close(fd);
	padding_put(pack, size);
	return got < 0 || left > 0 ? STATUS_INVALID_ARGUMENT : STATUS_OK;
}

static enum status file_put(struct pack *pack, const FTSENT *file, const char *name, struct error *err)
{
	struct archive_entry entry = { .name = name,
				       .type = '0',
				       .mode = file->fts_statp->st_mode,
				       .size = file->fts_statp->st_size,
				       .time_s = file->fts_statp->st_mtime };

	entry_put(pack, &entry);
	return data_put(pack, file->fts_path, entry.size, err);
}

static enum status link_put(struct pack *pack, const FTSENT *file, const char *name, struct error *err)
{
	char target[PATH_MAX];
	const ssize_t length = readlink(file->fts_path, target, sizeof(target) - 1);

	if (length < 0)
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "%s cannot be read: %s", file->fts_path,
				 strerror(errno));
	target[length] = '\0';
	entry_put(pack, &(struct archive_entry){ .name = name,
						 .link = target,
						 .type = '2',
						 .mode = 0777,
						 .time_s = file->fts_statp->st_mtime });
	return STATUS_OK;
}

static void directory_put(struct pack *pack, const FTSENT *file, const char *name)
{
	AUTO(string) char *slashed = memory_printf("%s/", name);

	entry_put(pack, &(struct archive_entry){ .name = slashed,
						 .type = '5',
						 .mode = file->fts_statp->st_mode,
						 .time_s = file->fts_statp->st_mtime });
}

static int by_name(const FTSENT **one, const FTSENT **other)
{
	return strcmp((*one)->fts_name, (*other)->fts_name);
}

static enum status found_put(struct pack *pack, const FTSENT *file, const char *name, struct error *err)
{
	switch (file->fts_info) {
	case FTS_F:
		return file_put(pack, file, name, err);
	case FTS_SL:
	case FTS_SLNONE:
		return link_put(pack, file, name, err);
	case FTS_D:
		directory_put(pack, file, name);
		return STATUS_OK;
	case FTS_DNR:
	case FTS_NS:
	case FTS_ERR:
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "%s cannot be read: %s", file->fts_path,
				 strerror(file->fts_errno));
	default:
		return STATUS_OK;
	}
}

enum status pack_directory(struct pack *pack, const char *directory, const char *name, pack_filter leaves_out,
			   void *arg, struct error *err)
{
	AUTO(string) char *top = memory_strdup(directory);
	char *const tops[] = { top, NULL };
	FTS *walk = fts_open(tops, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
	const size_t prefix = strlen(directory);
	enum status rc = STATUS_OK;
	FTSENT *file;

	if (!walk)
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "%s: %s", directory, strerror(errno));
	while (!rc && (file = fts_read(walk)) != NULL) {
		const char *path = file->fts_path + prefix + strspn(file->fts_path + prefix, "/");
		AUTO(string) char *inside = memory_printf("%s%s%s", name, *name && *path ? "/" : "", path);

		if (file->fts_info == FTS_DP)
			continue;
		if (*path && leaves_out && leaves_out(arg, path, file->fts_info == FTS_D))
			fts_set(walk, file, FTS_SKIP);
		else if (*path || file->fts_info != FTS_D)
			rc = found_put(pack, file, inside, err);
	}
	fts_close(walk);
	return rc;
}

enum status pack_finish(struct pack *pack, int *ret_fd, int64_t *ret_bytes, struct error *err)
{
	struct text end AUTO_TEXT = { 0 };

	archive_finish(&end);
	put(pack, end.data, end.length);
	if (gzclose(pack->file) != Z_OK)
		pack->failed = true;
	pack->file = NULL;
	*ret_bytes = lseek(pack->fd, 0, SEEK_END);
	if (pack->failed || *ret_bytes < 0 || lseek(pack->fd, 0, SEEK_SET) < 0)
		return error_set(err, STATUS_UNAVAILABLE, NULL,
				 "the archive cannot be written: %s; $TMPDIR names another place",
				 strerror(errno ? errno : EIO));
	*ret_fd = pack->fd;
	return STATUS_OK;
}
