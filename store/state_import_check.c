/* SPDX-License-Identifier: Apache-2.0 */
#include "store/state_import_check.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/crc32c.h"
#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "store/connection.h"
#include "store/migrations.h"
#include "store/objects/blob_files.h"
#include "store/objects/objects.h"
#include "store/small_file.h"
#include "store/state_folder.h"

enum { PIECE_BYTES = 256 << 10, CLOCK_BYTES_MAX = 64 };

DEFINE_AUTO(database, sqlite3 *, sqlite3_close)

static enum status damaged(const char *name, const char *why, struct error *err)
{
	return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "%s is damaged, or not a database of trainyard: %s",
			 name, why);
}

/* Returns SQLite's error for an untrusted file as damage of the file, unless the disk has failed. */
static enum status foreign_error(sqlite3 *database, const char *name, struct error *err)
{
	enum status rc = database_error(database, err, name);

	return rc == STATUS_UNAVAILABLE ? rc : damaged(name, sqlite3_errmsg(database), err);
}

static enum status statement_make(sqlite3 *database, const char *name, const char *sql,
				  sqlite3_stmt **ret_query, struct error *err)
{
	return sqlite3_prepare_v2(database, sql, -1, ret_query, NULL) == SQLITE_OK
		       ? STATUS_OK
		       : foreign_error(database, name, err);
}

static enum status run(sqlite3 *database, const char *name, const char *sql, struct error *err)
{
	return sqlite3_exec(database, sql, NULL, NULL, NULL) == SQLITE_OK
		       ? STATUS_OK
		       : foreign_error(database, name, err);
}

static enum status number_read(sqlite3 *database, const char *name, const char *sql, int64_t *ret_number,
			       struct error *err)
{
	AUTO(query) sqlite3_stmt *query = NULL;
	enum status rc = statement_make(database, name, sql, &query, err);

	if (!rc && sqlite3_step(query) != SQLITE_ROW)
		rc = foreign_error(database, name, err);
	if (!rc)
		*ret_number = sqlite3_column_int64(query, 0);
	return rc;
}

/* ---- schemas ---- */

/* Makes a new database with the schema of this number. *ret_database NULL: there is no such schema. */
static enum status pristine_make(const struct migration *migrations, int64_t number, sqlite3 **ret_database,
				 struct error *err)
{
	AUTO(database) sqlite3 *database = NULL;
	bool found = false;

	if (sqlite3_open(":memory:", &database) != SQLITE_OK)
		return database_error(database, err, "a new database");
	for (const struct migration *step = migrations; step->name && step->number <= number; step++) {
		if (sqlite3_exec(database, step->sql, NULL, NULL, NULL) != SQLITE_OK)
			return database_error(database, err, step->name);
		found = step->number == number;
	}
	*ret_database = found ? TAKE(database) : NULL;
	return STATUS_OK;
}

static bool columns_are_same(sqlite3_stmt *one, sqlite3_stmt *other)
{
	for (int i = 0; i < 4; i++) {
		const char *ours = (const char *)sqlite3_column_text(one, i);
		const char *theirs = (const char *)sqlite3_column_text(other, i);

		if (strcmp(ours ? ours : "", theirs ? theirs : "") != 0)
			return false;
	}
	return true;
}

/* Compares the schema with a new database's: a foreign trigger, view or index could run code when rows are written
 * or read. */
static enum status schema_compare(sqlite3 *database, sqlite3 *pristine, const char *name, struct error *err)
{
	static const char sql[] = "SELECT type, name, tbl_name, sql FROM sqlite_schema"
				  " WHERE name NOT LIKE 'sqlite\\_stat%' ESCAPE '\\' ORDER BY type, name";
	AUTO(query) sqlite3_stmt *theirs = NULL;
	AUTO(query) sqlite3_stmt *ours = NULL;
	enum status rc = statement_make(database, name, sql, &theirs, err);
	int mine, other;

	if (!rc)
		rc = statement_make(pristine, name, sql, &ours, err);
	if (rc)
		return rc;
	do {
		mine = sqlite3_step(ours);
		other = sqlite3_step(theirs);
		if (mine != other || (mine == SQLITE_ROW && !columns_are_same(ours, theirs)))
			return damaged(name, "it has another schema than its number tells", err);
	} while (mine == SQLITE_ROW);
	return mine == SQLITE_DONE ? STATUS_OK : foreign_error(database, name, err);
}

static enum status schema_check(sqlite3 *database, const struct migration *migrations, const char *name,
				struct error *err)
{
	AUTO(database) sqlite3 *pristine = NULL;
	int64_t number = 0;
	enum status rc = number_read(database, name, "PRAGMA user_version", &number, err);

	if (!rc)
		rc = pristine_make(migrations, number, &pristine, err);
	if (!rc && !pristine)
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
				 "%s has schema %" PRId64
				 ", which this program does not know: it is of another release",
				 name, number);
	return rc ? rc : schema_compare(database, pristine, name, err);
}

/* ---- rows ---- */

static enum status rows_check(sqlite3 *database, const char *name, struct error *err)
{
	AUTO(query) sqlite3_stmt *check = NULL;
	AUTO(query) sqlite3_stmt *keys = NULL;
	enum status rc = statement_make(database, name, "PRAGMA integrity_check(1)", &check, err);

	if (!rc && sqlite3_step(check) != SQLITE_ROW)
		rc = foreign_error(database, name, err);
	if (!rc && strcmp((const char *)sqlite3_column_text(check, 0), "ok") != 0)
		rc = damaged(name, (const char *)sqlite3_column_text(check, 0), err);
	if (!rc)
		rc = statement_make(database, name, "PRAGMA foreign_key_check", &keys, err);
	if (!rc && sqlite3_step(keys) != SQLITE_DONE)
		rc = damaged(name, "a row belongs to one that is not there", err);
	return rc;
}

/* Opens an untrusted database for reading and changing; does not trust its schema. */
static enum status database_open(const char *folder, const char *name, sqlite3 **ret_database,
				 struct error *err)
{
	AUTO(string) char *path = memory_printf("%s/%s", folder, name);
	AUTO(database) sqlite3 *database = NULL;
	enum status rc = STATUS_OK;

	if (sqlite3_open_v2(path, &database,
			    SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW,
			    NULL) != SQLITE_OK)
		return foreign_error(database, name, err);
	sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	rc = run(database, name,
		 "PRAGMA cell_size_check = ON; PRAGMA journal_mode = DELETE; PRAGMA mmap_size = 0", err);
	if (!rc)
		*ret_database = TAKE(database);
	return rc;
}

static enum status database_check(const char *folder, const char *name, const struct migration *migrations,
				  sqlite3 **ret_database, struct error *err)
{
	AUTO(database) sqlite3 *database = NULL;
	enum status rc = database_open(folder, name, &database, err);

	if (!rc)
		rc = schema_check(database, migrations, name, err);
	if (!rc)
		rc = rows_check(database, name, err);
	if (!rc)
		rc = migrations_run(database, migrations, err);
	if (!rc)
		*ret_database = TAKE(database);
	return rc;
}

/* ---- each database ---- */

/* Gives the database this directory's instance, secret and page key, and the greater of both start numbers, so that
 * no two openings of an instance have the same number. */
static enum status identity_take(sqlite3 *database, const char *state_dir, struct error *err)
{
	static const char sql[] =
		"DELETE FROM meta WHERE name IN ('instance', 'secret', 'page_key');"
		"INSERT INTO meta (name, value)"
		" SELECT name, value FROM own.meta WHERE name IN ('instance', 'secret', 'page_key');"
		"INSERT OR REPLACE INTO meta (name, value) SELECT 'starts', max("
		"coalesce((SELECT value FROM meta WHERE name = 'starts'), 0),"
		" coalesce((SELECT value FROM own.meta WHERE name = 'starts'), 0))";
	AUTO(string) char *path = memory_printf("%s/state.db", state_dir);
	AUTO(query) sqlite3_stmt *attach = NULL;
	enum status rc;

	if (access(path, F_OK) != 0)
		return run(database, "state.db",
			   "DELETE FROM meta WHERE name IN ('instance', 'secret', 'page_key')", err);
	rc = statement_make(database, "state.db", "ATTACH ? AS own", &attach, err);
	if (!rc && (sqlite3_bind_text(attach, 1, path, -1, SQLITE_STATIC) != SQLITE_OK ||
		    sqlite3_step(attach) != SQLITE_DONE))
		rc = database_error(database, err, path);
	if (rc)
		return rc;
	sqlite3_reset(attach);
	rc = run(database, "state.db", sql, err);
	if (!rc)
		rc = run(database, "state.db", "DETACH own", err);
	return rc;
}

static enum status jobs_check(const char *folder, const char *state_dir, struct import_facts *facts,
			      struct error *err)
{
	AUTO(database) sqlite3 *database = NULL;
	enum status rc = database_check(folder, "state.db", state_migrations, &database, err);

	if (!rc)
		rc = number_read(database, "state.db", "SELECT count(*) FROM job WHERE parent IS NULL",
				 &facts->jobs, err);
	if (!rc)
		rc = number_read(database, "state.db",
				 "SELECT count(*) FROM job WHERE parent IS NULL AND state IN (1, 2, 3, 6)",
				 &facts->unfinished_jobs, err);
	return rc ? rc : identity_take(database, state_dir, err);
}

static enum status logs_check(const char *folder, struct error *err)
{
	AUTO(database) sqlite3 *database = NULL;
	enum status rc = database_check(folder, "logs.db", logs_migrations, &database, err);

	return rc ? rc : run(database, "logs.db", "DELETE FROM meta WHERE name = 'instance'", err);
}

static enum status blob_check(int folder_fd, int64_t blob, int64_t size, uint32_t expected, struct error *err)
{
	char path[BLOB_PATH_SIZE], name[STATE_PATH_SIZE];
	AUTO(string) char *piece = memory_alloc(PIECE_BYTES);
	uint32_t crc = 0;
	int64_t bytes = 0;
	ssize_t length;
	int fd;

	blob_path(blob, path);
	snprintf(name, sizeof(name), "blobs/%.20s", path);
	fd = openat(folder_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "The content of an object is missing: %s",
				 name);
	while ((length = read(fd, piece, PIECE_BYTES)) > 0) {
		crc = crc32c_extend(crc, piece, (size_t)length);
		bytes += length;
	}
	/* Make it read-only, because the tree of files for users has hard links to this file. */
	if (length < 0 || fchmod(fd, 0444) != 0) {
		error_set(err, STATUS_UNAVAILABLE, NULL, "%s: %s", name, strerror(errno));
		close(fd);
		return STATUS_UNAVAILABLE;
	}
	close(fd);
	return bytes == size && crc == expected ? STATUS_OK
						: error_set(err, STATUS_INVALID_ARGUMENT, NULL,
							    "The content of an object is damaged: %s", name);
}

/* Checks the bytes of all objects. Rows with the same blob are adjacent, so each blob is read once; they must agree
 * about size and checksum. */
static enum status blobs_check(sqlite3 *database, int folder_fd, int64_t *ret_blobs, struct error *err)
{
	AUTO(query) sqlite3_stmt *rows = NULL;
	int64_t last = 0, last_size = 0, last_crc = 0;
	enum status rc =
		statement_make(database, "storage.db",
			       "SELECT blob, size_bytes, crc32c, name FROM object ORDER BY blob", &rows, err);
	int code = SQLITE_DONE;

	*ret_blobs = 0;
	while (!rc && (code = sqlite3_step(rows)) == SQLITE_ROW) {
		const int64_t blob = sqlite3_column_int64(rows, 0), size = sqlite3_column_int64(rows, 1),
			      crc = sqlite3_column_int64(rows, 2);

		if (blob <= 0 || crc < 0 || crc > UINT32_MAX ||
		    !object_name_valid((const char *)sqlite3_column_text(rows, 3)) ||
		    (blob == last && (size != last_size || crc != last_crc)))
			return damaged("storage.db", "an object has a name, or a content, that no object can have",
				       err);
		if (blob != last) {
			rc = blob_check(folder_fd, blob, size, (uint32_t)crc, err);
			++*ret_blobs;
		}
		last = blob;
		last_size = size;
		last_crc = crc;
	}
	return !rc && code != SQLITE_DONE ? foreign_error(database, "storage.db", err) : rc;
}

static enum status buckets_check(sqlite3 *database, struct error *err)
{
	AUTO(query) sqlite3_stmt *rows = NULL;
	enum status rc = statement_make(database, "storage.db", "SELECT name FROM bucket", &rows, err);

	while (!rc && sqlite3_step(rows) == SQLITE_ROW)
		if (!bucket_name_valid((const char *)sqlite3_column_text(rows, 0)))
			rc = damaged("storage.db", "a bucket has a name that no bucket has", err);
	return rc;
}

/* Removes running uploads, which are not part of an export, and orders the tree of files to be rebuilt. */
static const char storage_ready[] =
	"DELETE FROM session; DELETE FROM part; DELETE FROM assembly; DELETE FROM post_commit;"
	"INSERT INTO post_commit (bucket, name, blob) SELECT name, NULL, NULL FROM bucket;"
	"INSERT INTO post_commit (bucket, name, blob)"
	" SELECT bucket.name, object.name, NULL FROM object JOIN bucket ON bucket.id = object.bucket";

static enum status storage_check(const char *folder, int folder_fd, int64_t *ret_blobs,
				 struct import_facts *facts, struct error *err)
{
	AUTO(database) sqlite3 *database = NULL;
	enum status rc;

	*ret_blobs = 0;
	if (faccessat(folder_fd, "storage.db", F_OK, AT_SYMLINK_NOFOLLOW) != 0)
		return STATUS_OK;
	rc = database_check(folder, "storage.db", objects_migrations, &database, err);
	if (!rc)
		rc = number_read(database, "storage.db", "SELECT count(*) FROM object", &facts->objects, err);
	if (!rc)
		rc = buckets_check(database, err);
	if (!rc)
		rc = blobs_check(database, folder_fd, ret_blobs, err);
	return rc ? rc : run(database, "storage.db", storage_ready, err);
}

/* ---- the clock, and the whole check ---- */

static enum status clock_check(const char *folder, struct import_facts *facts, struct error *err)
{
	AUTO(string) char *path = memory_printf("%s/clock", folder);
	struct text content AUTO_TEXT = { 0 };
	struct error unread AUTO_ERROR = { 0 };
	enum status rc = small_file_read(path, CLOCK_BYTES_MAX, &content, &unread);
	char *end;

	if (rc == STATUS_NOT_FOUND)
		return STATUS_OK;
	if (rc)
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "clock cannot be read: %s", unread.text);
	errno = 0;
	facts->ahead_ns = strtoll(content.data ? content.data : "", &end, 10);
	if (errno || facts->ahead_ns < 0 || end == content.data || strcmp(end, "\n") != 0)
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "clock is damaged");
	return STATUS_OK;
}

/* Checks that there are no more blobs than the manifest announced. */
static enum status spare_blobs_refuse(const char *folder, int64_t blobs, struct error *err)
{
	AUTO(string) char *path = memory_printf("%s/" STATE_MANIFEST, folder);
	struct text content AUTO_TEXT = { 0 };
	AUTO(json) json_t *manifest = NULL;
	enum status rc = small_file_read(path, 64 << 10, &content, err);

	if (rc)
		return rc;
	manifest = json_parse_foreign(content.data, content.length, 0, NULL);
	return json_int_at(manifest, "blobCount", -1) == blobs
		       ? STATUS_OK
		       : error_set(err, STATUS_INVALID_ARGUMENT, NULL, "The folder has content that belongs to no object.");
}

enum status import_check(const char *folder, const char *state_dir, struct import_facts *ret_facts,
			 struct error *err)
{
	const int folder_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int64_t blobs = 0;
	enum status rc;

	connection_library_begin();
	*ret_facts = (struct import_facts){ 0 };
	if (folder_fd < 0)
		return error_set(err, STATUS_UNAVAILABLE, NULL, "%s: %s", folder, strerror(errno));
	rc = clock_check(folder, ret_facts, err);
	if (!rc)
		rc = jobs_check(folder, state_dir, ret_facts, err);
	if (!rc)
		rc = logs_check(folder, err);
	if (!rc)
		rc = storage_check(folder, folder_fd, &blobs, ret_facts, err);
	if (!rc)
		rc = spare_blobs_refuse(folder, blobs, err);
	close(folder_fd);
	return rc;
}
