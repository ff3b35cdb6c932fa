/* SPDX-License-Identifier: Apache-2.0 */
#include "store/state_export.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/memory.h"
#include "daemon/base/text.h"
#include "daemon/base/tree.h"
#include "daemon/base/work.h"
#include "store/connection.h"
#include "store/objects/blob_files.h"
#include "store/small_file.h"
#include "store/state_folder.h"

/* Choice: TRIES is enough to get a consistent copy of objects that are overwritten all the time. */
enum { TRIES = 20, CLOCK_BYTES_MAX = 64, STEPS_A_LOOK = 10000 };

static const char exports_begin[] = "export.";

DEFINE_AUTO(database, sqlite3 *, sqlite3_close)

static enum status database_open(const char *path, int flags, sqlite3 **ret_database, struct error *err)
{
	sqlite3 *database = NULL;

	if (sqlite3_open_v2(path, &database, flags | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK) {
		sqlite3_busy_timeout(database, 10000);
		*ret_database = database;
		return STATUS_OK;
	}
	const enum status rc = database_error(database, err, path);

	sqlite3_close(database);
	return rc;
}

/* Runs @sql on the copy at @path: it removes running uploads, and rows that must not leave this state directory. */
static enum status copy_strip(const char *path, const char *sql, struct error *err)
{
	AUTO(database) sqlite3 *database = NULL;
	enum status rc = database_open(path, SQLITE_OPEN_READWRITE, &database, err);

	if (!rc && sqlite3_exec(database, "PRAGMA journal_mode = DELETE; PRAGMA secure_delete = ON;", NULL,
				NULL, NULL) != SQLITE_OK)
		rc = database_error(database, err, path);
	if (!rc && sqlite3_exec(database, sql, NULL, NULL, NULL) != SQLITE_OK)
		rc = database_error(database, err, path);
	return rc;
}

/* SQLite calls this every STEPS_A_LOOK steps; nonzero ends an abandoned copy with SQLITE_INTERRUPT. */
static int copy_look(void *arg)
{
	(void)arg;
	return work_is_abandoned();
}

/* NOT_FOUND: there is no such database; CANCELLED: the client has gone. */
static enum status database_copy(const char *from, const char *to, const char *strip, struct error *err)
{
	AUTO(database) sqlite3 *database = NULL;
	AUTO(query) sqlite3_stmt *copy = NULL;
	enum status rc;

	if (access(from, F_OK) != 0 && errno == ENOENT)
		return error_set(err, STATUS_NOT_FOUND, NULL, "there is no %s", from);
	rc = database_open(from, SQLITE_OPEN_READONLY, &database, err);
	if (rc)
		return rc;
	sqlite3_progress_handler(database, STEPS_A_LOOK, copy_look, NULL);
	if (sqlite3_prepare_v2(database, "VACUUM INTO ?", -1, &copy, NULL) != SQLITE_OK ||
	    sqlite3_bind_text(copy, 1, to, -1, SQLITE_STATIC) != SQLITE_OK ||
	    sqlite3_step(copy) != SQLITE_DONE)
		return work_check(err) ? STATUS_CANCELLED : database_error(database, err, from);
	return copy_strip(to, strip, err);
}

static enum status clock_copy(const char *state_dir, const char *folder, struct error *err)
{
	AUTO(string) char *from = memory_printf("%s/clock", state_dir);
	AUTO(string) char *to = memory_printf("%s/clock", folder);
	struct text content AUTO_TEXT = { 0 };
	enum status rc = small_file_read(from, CLOCK_BYTES_MAX, &content, err);

	if (rc == STATUS_NOT_FOUND)
		return STATUS_OK;
	return rc ? rc : small_file_place(to, &content, 0600, PLACE_NEW, err);
}

/* ---- bytes of objects ---- */

/* Copies the file of one blob. *ret_gone: the file is gone, because its object was removed after storage.db was
 * copied. */
static enum status blob_copy(const struct blob_files *from, int64_t blob, int folder_fd, bool *ret_gone,
			     struct error *err)
{
	char path[BLOB_PATH_SIZE], name[STATE_PATH_SIZE], directory[STATE_PATH_SIZE];
	struct stat about;
	int fd, copy_fd;
	enum status rc;

	*ret_gone = false;
	blob_path(blob, path);
	snprintf(name, sizeof(name), "blobs/%.20s", path);
	if (faccessat(folder_fd, name, F_OK, 0) == 0)
		return STATUS_OK;
	snprintf(directory, sizeof(directory), "%.8s", name);
	if (mkdirat(folder_fd, directory, 0700) != 0 && errno != EEXIST)
		return file_error(err, errno, "copy objects");
	if (blob_link(from, blob, folder_fd, name))
		return STATUS_OK;
	fd = blob_open(from, blob);
	*ret_gone = fd < 0 && errno == ENOENT;
	if (fd < 0)
		return *ret_gone ? STATUS_OK : file_error(err, errno, "copy objects");
	copy_fd = openat(folder_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	rc = copy_fd < 0 || fstat(fd, &about) != 0 ? file_error(err, errno, "copy objects")
						   : file_join(fd, about.st_size, copy_fd, 0, err);
	if (copy_fd >= 0)
		close(copy_fd);
	close(fd);
	return rc;
}

/* Copies the files of all blobs that storage.db names, newest first, because those are removed most often.
 * *ret_gone: a blob without its file: copy storage.db again; 0: all files were copied. */
static enum status blobs_copy(const struct blob_files *from, const char *storage_path, int folder_fd,
			      int64_t *ret_gone, struct error *err)
{
	AUTO(database) sqlite3 *database = NULL;
	AUTO(query) sqlite3_stmt *rows = NULL;
	enum status rc = database_open(storage_path, SQLITE_OPEN_READONLY, &database, err);
	bool row = false;

	*ret_gone = 0;
	if (rc)
		return rc;
	if (sqlite3_prepare_v2(database, "SELECT DISTINCT blob FROM object ORDER BY blob DESC", -1, &rows,
			       NULL) != SQLITE_OK)
		return database_error(database, err, storage_path);
	while (!(rc = statement_step(rows, &row, err)) && row) {
		bool gone;

		rc = work_check(err);
		if (!rc)
			rc = blob_copy(from, sqlite3_column_int64(rows, 0), folder_fd, &gone, err);
		if (rc)
			return rc;
		if (gone)
			*ret_gone = sqlite3_column_int64(rows, 0);
	}
	return rc;
}

/* Removes, from one folder of blobs, files of earlier tries that storage.db does not name any more. */
static enum status blobs_prune_one(sqlite3_stmt *use, int folder_fd, unsigned number, struct error *err)
{
	char path[STATE_PATH_SIZE];
	const struct dirent *entry;
	enum status rc = STATUS_OK;
	DIR *listing;
	int fd;

	snprintf(path, sizeof(path), "blobs/%02x", number);
	fd = openat(folder_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	listing = fd < 0 ? NULL : fdopendir(fd);
	while (!rc && listing && (entry = readdir(listing)) != NULL) {
		bool used = false;

		if (*entry->d_name == '.')
			continue;
		sqlite3_reset(use);
		sqlite3_bind_int64(use, 1, (int64_t)strtoull(entry->d_name, NULL, 16));
		rc = statement_step(use, &used, err);
		if (!rc && !used)
			unlinkat(fd, entry->d_name, 0);
	}
	if (listing)
		closedir(listing);
	return rc;
}

static enum status blobs_prune(const char *storage_path, int folder_fd, struct error *err)
{
	AUTO(database) sqlite3 *database = NULL;
	AUTO(query) sqlite3_stmt *use = NULL;
	enum status rc = database_open(storage_path, SQLITE_OPEN_READONLY, &database, err);

	if (!rc && sqlite3_prepare_v2(database, "SELECT 1 FROM object WHERE blob = ? LIMIT 1", -1, &use,
				      NULL) != SQLITE_OK)
		rc = database_error(database, err, storage_path);
	for (unsigned i = 0; !rc && i < 256; i++)
		rc = blobs_prune_one(use, folder_fd, i, err);
	return rc;
}

/* FAILED_PRECONDITION, with a text for clients: an object still has the blob @gone, but the blob's file is missing. */
static enum status loss_look(const char *storage_path, int64_t gone, struct error *err)
{
	AUTO(database) sqlite3 *database = NULL;
	AUTO(query) sqlite3_stmt *object = NULL;
	bool found = false;
	enum status rc = database_open(storage_path, SQLITE_OPEN_READONLY, &database, err);

	if (!rc &&
	    sqlite3_prepare_v2(
		    database,
		    "SELECT bucket.name, object.name FROM object JOIN bucket ON bucket.id = object.bucket"
		    " WHERE blob = ? LIMIT 1",
		    -1, &object, NULL) != SQLITE_OK)
		rc = database_error(database, err, storage_path);
	if (!rc) {
		sqlite3_bind_int64(object, 1, gone);
		rc = statement_step(object, &found, err);
	}
	if (rc || !found)
		return rc;
	return error_set(
		err, STATUS_FAILED_PRECONDITION, NULL,
		"The content of gs://%s/%s is lost: its file is not in the state directory. Delete the object "
		"or store it again, then export.",
		column_text(object, 0), column_text(object, 1));
}

static const char storage_strip[] =
	"DELETE FROM session; DELETE FROM part; DELETE FROM assembly; DELETE FROM post_commit;";

/* Copies storage.db and the bytes of its objects, while objects change. Copied bytes stay for the next try, so that
 * it copies only new ones. */
static enum status storage_copy_to(const char *state_dir, const char *folder, int folder_fd,
				   struct error *err)
{
	AUTO(string) char *from = memory_printf("%s/storage.db", state_dir);
	AUTO(string) char *to = memory_printf("%s/storage.db", folder);
	struct blob_files files;
	int64_t gone = 1;
	enum status rc;

	if (access(from, F_OK) != 0)
		return STATUS_OK;
	rc = blob_files_open(&files, state_dir, err);
	for (int i = 0; !rc && gone && i < TRIES; i++) {
		unlink(to);
		rc = database_copy(from, to, storage_strip, err);
		if (!rc)
			rc = blobs_copy(&files, to, folder_fd, &gone, err);
		/* An object's file is removed only after the commit that removes its row: if the row still exists,
		 * the file was lost. */
		if (!rc && gone)
			rc = loss_look(from, gone, err);
		if (!rc && !gone && i > 0)
			rc = blobs_prune(to, folder_fd, err);
	}
	blob_files_close(&files);
	if (!rc && gone)
		return error_set(
			err, STATUS_UNAVAILABLE, NULL,
			"Objects are replaced faster than they can be copied: try again when jobs write less.");
	return rc;
}

/* ---- the whole export ---- */

static enum status folder_fill(const char *state_dir, const char *folder, int folder_fd, struct error *err)
{
	static const struct {
		const char *name, *strip;
	} databases[] = {
		{ "state.db", "DELETE FROM meta WHERE name IN ('instance', 'secret', 'page_key')" },
		{ "logs.db", "DELETE FROM meta WHERE name = 'instance'" },
	};
	enum status rc = STATUS_OK;

	for (size_t i = 0; !rc && i < sizeof(databases) / sizeof(databases[0]); i++) {
		AUTO(string) char *from = memory_printf("%s/%s", state_dir, databases[i].name);
		AUTO(string) char *to = memory_printf("%s/%s", folder, databases[i].name);

		rc = database_copy(from, to, databases[i].strip, err);
	}
	if (!rc)
		rc = storage_copy_to(state_dir, folder, folder_fd, err);
	/* Copy the clock last, so that no time in the copy is later than the clock. */
	if (!rc)
		rc = clock_copy(state_dir, folder, err);
	return rc ? rc : state_manifest_write(folder, err);
}

enum status state_export_into(const char *state_dir, const char *folder, struct error *err)
{
	int folder_fd;
	enum status rc;

	connection_library_begin();
	if (mkdir(folder, 0700) != 0)
		return error_set(err, STATUS_FAILED_PRECONDITION, NULL, "cannot make %s: %s", folder,
				 strerror(errno));
	folder_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	rc = folder_fd < 0 || mkdirat(folder_fd, "blobs", 0700) != 0
		     ? error_set(err, STATUS_UNAVAILABLE, NULL, "%s: %s", folder, strerror(errno))
		     : folder_fill(state_dir, folder, folder_fd, err);
	if (folder_fd >= 0)
		close(folder_fd);
	if (rc)
		tree_remove(folder, SIZE_MAX);
	return rc;
}

enum status state_export_make(const char *state_dir, char **ret_folder, struct error *err)
{
	char suffix[SMALL_FILE_SUFFIX_SIZE];
	enum status rc;

	small_file_suffix(suffix);
	AUTO(string) char *folder = memory_printf("%s/%s%s", state_dir, exports_begin, suffix + 1);
	rc = state_export_into(state_dir, folder, err);
	if (!rc)
		*ret_folder = TAKE(folder);
	return rc;
}

void state_exports_sweep(const char *state_dir)
{
	DIR *listing = opendir(state_dir);
	const struct dirent *entry;

	while (listing && (entry = readdir(listing)) != NULL)
		if (strncmp(entry->d_name, exports_begin, strlen(exports_begin)) == 0) {
			AUTO(string) char *path = memory_printf("%s/%s", state_dir, entry->d_name);

			tree_remove(path, SIZE_MAX);
		}
	if (listing)
		closedir(listing);
}
