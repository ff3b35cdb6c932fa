/* SPDX-License-Identifier: Apache-2.0 */
#include "store/state_import.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/log.h"
#include "daemon/base/memory.h"
#include "daemon/base/text.h"
#include "daemon/base/tree.h"
#include "store/state_dir.h"
#include "store/state_folder.h"
#include "store/state_import_check.h"

enum { PIECE_BYTES = 256 << 10 };

struct state_import {
	char *state_dir, *folder, *ready;
	struct state_unpacker *unpacker; /* NULL: the archive is complete */
	bool committed;
};

static bool is_there(const char *path)
{
	return access(path, F_OK) == 0;
}

enum status state_import_begin(const char *state_dir, struct state_import **ret_import, struct error *err)
{
	AUTO(state_import) struct state_import *import = memory_calloc(1, sizeof(*import));
	enum status rc;

	import->state_dir = memory_strdup(state_dir);
	import->ready = memory_printf("%s/import.ready", state_dir);
	if (is_there(import->ready))
		return error_set(err, STATUS_ALREADY_EXISTS, NULL,
				 "Another import is waiting for the daemon's next start.");
	import->folder = memory_printf("%s/import", state_dir);
	tree_remove(import->folder, SIZE_MAX);
	rc = state_unpacker_open(import->folder, &import->unpacker, err);
	if (!rc)
		*ret_import = TAKE(import);
	return rc;
}

enum status state_import_take(struct state_import *import, const char *data, size_t length, struct error *err)
{
	return state_unpacker_take(import->unpacker, data, length, err);
}

enum status state_import_check(struct state_import *import, struct import_facts *ret_facts, struct error *err)
{
	enum status rc = state_unpacker_finish(import->unpacker, err);

	if (rc)
		return rc;
	state_unpacker_close(import->unpacker);
	import->unpacker = NULL;
	return import_check(import->folder, import->state_dir, ret_facts, err);
}

static enum status directory_sync(const char *path, struct error *err)
{
	const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const bool synced = fd >= 0 && syncfs(fd) == 0;
	const int problem = errno;

	if (fd >= 0)
		close(fd);
	return synced ? STATUS_OK
		      : error_set(err, STATUS_UNAVAILABLE, NULL, "%s: %s", path, strerror(problem));
}

static enum status absent_mark(const char *folder, struct error *err);

enum status state_import_commit(struct state_import *import, struct error *err)
{
	enum status rc = absent_mark(import->folder, err);

	if (!rc)
		rc = directory_sync(import->folder, err);
	if (rc)
		return rc;
	if (rename(import->folder, import->ready) != 0)
		return error_set(err, STATUS_UNAVAILABLE, NULL, "%s: %s", import->ready, strerror(errno));
	import->committed = true;
	return directory_sync(import->state_dir, err);
}

void state_import_close(struct state_import *import)
{
	if (!import)
		return;
	state_unpacker_close(import->unpacker);
	if (import->folder && !import->committed)
		tree_remove(import->folder, SIZE_MAX);
	free(import->state_dir);
	free(import->folder);
	free(import->ready);
	free(import);
}

enum status state_import_folder(const char *state_dir, const char *folder, struct import_facts *ret_facts,
				struct error *err)
{
	AUTO(state_packer) struct state_packer *packer = NULL;
	AUTO(state_import) struct state_import *import = NULL;
	AUTO(string) char *piece = memory_alloc(PIECE_BYTES);
	ssize_t length = 0;
	enum status rc = state_packer_open(folder, &packer, err);

	if (!rc)
		rc = state_import_begin(state_dir, &import, err);
	while (!rc && (length = state_packer_read(packer, piece, PIECE_BYTES, err)) > 0)
		rc = state_import_take(import, piece, (size_t)length, err);
	if (!rc && length < 0)
		return STATUS_INVALID_ARGUMENT;
	if (!rc)
		rc = state_import_check(import, ret_facts, err);
	return rc ? rc : state_import_commit(import, err);
}

/* ---- moving files into place ---- */

/* Suffix of a mark that stands for an item which a state does not have. */
#define ABSENT ".absent"

/* All files and folders of a state. SQLite's auxiliary files of a database come before the database. */
static const char *const items[] = { "state.db-wal", "state.db-shm", "state.db",       "logs.db-wal",
				     "logs.db-shm",  "logs.db",      "storage.db-wal", "storage.db-shm",
				     "storage.db",   "clock",        "blobs",          "uploads",
				     "gs",           "trials" };
enum { ITEM_COUNT = sizeof(items) / sizeof(items[0]) };

static enum status place_fail(const char *path, struct error *err)
{
	return error_set(err, STATUS_FAILED_PRECONDITION, NULL,
			 "the imported state cannot be moved to %s: %s", path, strerror(errno));
}

static enum status mark_make(const char *folder, const char *item, struct error *err)
{
	AUTO(string) char *mark = memory_printf("%s/%s" ABSENT, folder, item);
	const int fd = open(mark, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return place_fail(mark, err);
	close(fd);
	return STATUS_OK;
}

static enum status absent_mark(const char *folder, struct error *err)
{
	enum status rc = STATUS_OK;

	for (int i = 0; !rc && i < ITEM_COUNT; i++) {
		AUTO(string) char *path = memory_printf("%s/%s", folder, items[i]);

		if (!is_there(path))
			rc = mark_make(folder, items[i], err);
	}
	return rc;
}

/* Moves the item at @path to @keep; if @keep is NULL, removes it. */
static enum status old_remove(const char *path, const char *keep, const char *item, struct error *err)
{
	AUTO(string) char *kept = keep ? memory_printf("%s/%s", keep, item) : NULL;

	if (!is_there(path))
		return keep && !is_there(kept) ? mark_make(keep, item, err) : STATUS_OK;
	if (keep)
		return rename(path, kept) == 0 ? STATUS_OK : place_fail(path, err);
	return unlink(path) == 0 || tree_remove(path, SIZE_MAX) ? STATUS_OK : place_fail(path, err);
}

/* Moves each item of @from into place. As long as an item, or its mark, is still in @from, the old one is in place;
 * so the function can continue after an interruption. */
static enum status items_place(const char *state_dir, const char *from, const char *keep, struct error *err)
{
	enum status rc = STATUS_OK;

	for (int i = 0; !rc && i < ITEM_COUNT; i++) {
		AUTO(string) char *new = memory_printf("%s/%s", from, items[i]);
		AUTO(string) char *mark = memory_printf("%s" ABSENT, new);
		AUTO(string) char *place = memory_printf("%s/%s", state_dir, items[i]);
		const bool is_new = is_there(new);

		if (!is_new && !is_there(mark))
			continue;
		rc = old_remove(place, keep, items[i], err);
		if (!rc && (is_new ? rename(new, place) : unlink(mark)) != 0)
			rc = place_fail(place, err);
	}
	if (!rc)
		rc = directory_sync(state_dir, err);
	if (!rc && !tree_remove(from, SIZE_MAX))
		rc = place_fail(from, err);
	return rc;
}

enum status state_import_place(const char *state_dir, struct error *err)
{
	AUTO(string) char *left = memory_printf("%s/import", state_dir);
	AUTO(string) char *ready = memory_printf("%s/import.ready", state_dir);
	AUTO(string) char *before = memory_printf("%s/import.before", state_dir);
	AUTO(string) char *back = memory_printf("%s/import.back", state_dir);
	int lock_fd = -1;
	enum status rc;

	if (!is_there(left) && !is_there(ready) && !is_there(back))
		return STATUS_OK;
	rc = state_dir_lock(state_dir, &lock_fd, err);
	if (rc)
		return rc;
	tree_remove(left, SIZE_MAX);
	if (is_there(back))
		rc = items_place(state_dir, back, NULL, err);
	if (!rc && is_there(ready)) {
		if (mkdir(before, 0700) != 0 && errno != EEXIST)
			rc = place_fail(before, err);
		if (!rc)
			rc = items_place(state_dir, ready, before, err);
	}
	close(lock_fd);
	return rc;
}

bool state_import_confirm(const char *state_dir)
{
	AUTO(string) char *before = memory_printf("%s/import.before", state_dir);

	return is_there(before) && tree_remove(before, SIZE_MAX);
}

bool state_import_revert(const char *state_dir)
{
	AUTO(string) char *before = memory_printf("%s/import.before", state_dir);
	AUTO(string) char *back = memory_printf("%s/import.back", state_dir);
	struct error err AUTO_ERROR = { 0 };

	if (rename(before, back) != 0)
		return false;
	if (state_import_place(state_dir, &err))
		log_event(LOG_ERROR, "import-not-reverted", "error=\"%s\"", err.text ? err.text : "");
	return true;
}
