/* SPDX-License-Identifier: Apache-2.0 */
#include "store/connection.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/log.h"
#include "daemon/base/memory.h"
#include "daemon/base/text.h"
#include "daemon/base/work.h"
#include "store/disk_words.h"
#include "store/filter/filter_functions.h"
#include "store/migrations.h"

/* The kinds of connections: the schema of their file, the flags to open it, the settings. A negative
 * cache_size is a limit in KiB: only the pages in use take memory. */
static const struct {
	const struct migration *migrations; /* NULL: a reader */
	int flags;
	const char *settings;
} roles[CONNECTION_ROLE_COUNT] = {
	[STATE_WRITER] = { state_migrations, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
			   "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;"
			   "PRAGMA temp_store = MEMORY; PRAGMA journal_size_limit = 67108864; PRAGMA cache_size = -1024" },
	[LOGS_WRITER] = { logs_migrations, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
			  "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA secure_delete = OFF;"
			  "PRAGMA temp_store = MEMORY; PRAGMA journal_size_limit = 67108864; PRAGMA cache_size = -4096" },
	[OBJECTS_WRITER] = { objects_migrations, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
			     "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA secure_delete = OFF;"
			     "PRAGMA temp_store = MEMORY; PRAGMA journal_size_limit = 67108864; PRAGMA cache_size = -2048" },
	[OBJECTS_READER] = { NULL, SQLITE_OPEN_READONLY,
			     "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -512" },
	[STATE_READER] = { NULL, SQLITE_OPEN_READONLY,
			   "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -512" },
	[LOGS_READER] = { NULL, SQLITE_OPEN_READONLY,
			  "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -1024" },
};

/* A file keeps an eighth of its size and 1024 pages (4 MiB) free for later rows; it gives back at most SHRINK_PAGES
 * at a time. */
enum { KEPT_SHARE = 8, KEPT_PAGES = 1024, SHRINK_PAGES = 1024 };

/* True for failures of the disk, after which the same call may succeed later. */
static bool may_pass(int code)
{
	switch (code & 0xff) {
	case SQLITE_FULL:
	case SQLITE_IOERR:
	case SQLITE_NOMEM:
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
	case SQLITE_CANTOPEN:
	case SQLITE_READONLY:
		return true;
	default:
		return false;
	}
}

static bool is_damage(int code)
{
	return (code & 0xff) == SQLITE_CORRUPT || (code & 0xff) == SQLITE_NOTADB;
}

/* Sets an error that names the file and says what to do, because SQLite's own texts do neither. */
static enum status file_refuse(const char *path, int code, const char *words, struct error *err)
{
	struct text text AUTO_TEXT = { 0 };

	if (is_damage(code)) {
		database_damaged_write(&text, path, words);
		return error_set(err, STATUS_INTERNAL, NULL, "%s", text.data);
	}
	disk_full_write(&text, path);
	return error_set(err, STATUS_UNAVAILABLE, NULL, "%s: %s", strerror(ENOSPC), text.data);
}

enum status database_error(sqlite3 *db, struct error *err, const char *doing)
{
	int code = sqlite3_extended_errcode(db); /* SQLITE_NOMEM if @db is NULL */
	const char *path = db ? sqlite3_db_filename(db, "main") : NULL;

	if (code == SQLITE_INTERRUPT && work_is_abandoned())
		return work_check(err);
	if (code == SQLITE_INTERRUPT)
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
				 "The query takes too long. Narrow its filter, by job or by time.");
	if (path && *path && ((code & 0xff) == SQLITE_FULL || is_damage(code)))
		return file_refuse(path, code, sqlite3_errmsg(db), err);
	return error_set(err, may_pass(code) ? STATUS_UNAVAILABLE : STATUS_INTERNAL, NULL,
			 "%s: %s (SQLite %d)", doing, sqlite3_errmsg(db), code);
}

/* SQLite's own allocator. An allocation of more than SQLITE_SMALL_BYTES is for a row of a size that a client chose:
 * if it fails, only the statement fails (SQLITE_NOMEM). */
static sqlite3_mem_methods sqlite_memory;
enum { SQLITE_SMALL_BYTES = 64 << 10 };

static void *sqlite_allocate(int size)
{
	void *place = sqlite_memory.xMalloc(size);

	if (!place && size <= SQLITE_SMALL_BYTES)
		memory_exhausted((size_t)size);
	return place;
}

static void *sqlite_resize(void *place, int size)
{
	void *resized = sqlite_memory.xRealloc(place, size);

	if (!resized && size <= SQLITE_SMALL_BYTES)
		memory_exhausted((size_t)size);
	return resized;
}

/* Call before SQLite's first use: a process that already uses SQLite keeps its settings. */
static void configure_once(void)
{
	sqlite3_mem_methods methods;

	sqlite3_config(SQLITE_CONFIG_GETMALLOC, &sqlite_memory);
	methods = sqlite_memory;
	methods.xMalloc = sqlite_allocate;
	methods.xRealloc = sqlite_resize;
	sqlite3_config(SQLITE_CONFIG_MALLOC, &methods);
	sqlite3_config(SQLITE_CONFIG_MULTITHREAD);
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	/* No preallocated page cache: in a connection that reads little, most of its 20 pages would stay empty. */
	sqlite3_config(SQLITE_CONFIG_PAGECACHE, NULL, 0, 0);
}

void connection_library_begin(void)
{
	static pthread_once_t configured = PTHREAD_ONCE_INIT;

	pthread_once(&configured, configure_once);
}

static enum status settings_apply(struct connection *connection, struct error *err)
{
	sqlite3 *db = connection->db;

	sqlite3_extended_result_codes(db, 1);
	sqlite3_busy_timeout(db, 5000);
	sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DDL, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	return connection_exec(connection, roles[connection->role].settings, err);
}

static enum status file_sync(sqlite3 *db, const char *path, struct error *err)
{
	sqlite3_file *file = NULL;

	sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file);
	if (file->pMethods->xSync(file, SQLITE_SYNC_NORMAL) != SQLITE_OK)
		return error_set(err, STATUS_UNAVAILABLE, NULL, "cannot sync %s: %s", path, strerror(errno));
	return STATUS_OK;
}

/* Reads the schema, so that an unreadable file is reported when it is opened and not by the first statement. */
static enum status schema_read(struct connection *connection, struct error *err)
{
	return connection_exec(connection, "SELECT 1 FROM sqlite_schema WHERE 0", err);
}

/* Makes the database's files readable by their owner only, in any directory: they hold secrets and environments of jobs.
 * SQLite copies the database's mode to its -wal and -shm files; existing files may have the wider mode of an old release.
 * An existing file is not opened here, because closing it would release SQLite's locks. */
static void files_keep_private(const char *path)
{
	static const char *const endings[] = { "", "-wal", "-shm" };

	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		struct text name AUTO_TEXT = { 0 };
		struct stat facts;

		text_printf(&name, "%s%s", path, endings[i]);
		/* Ignore errors: chmod() fails for another user's file, and SQLite reports a file that it cannot
		 * use. Symbolic links are not followed. */
		if (lstat(name.data, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_mode & 077)
			chmod(name.data, 0600);
	}
}

/* Finds the reason why SQLite cannot write beside @path: the errno of writing an unnamed temporary file there. 0: it works,
 * or the file system has no such files. SQLite loses the reason: it tries to read a file that it cannot create, and reports
 * only that it is missing; for its -shm file it keeps no errno. */
static int medium_problem(const char *path)
{
	static const char block[4096];
	AUTO(string) char *dir = memory_strdup(path);
	char *slash = strrchr(dir, '/');
	int fd, problem = 0;

	if (!slash)
		return 0;
	*slash = '\0';
	fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0)
		return errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL ? 0 : errno;
	errno = ENOSPC; /* for a short write */
	if (write(fd, block, sizeof(block)) != sizeof(block) || fdatasync(fd) != 0)
		problem = errno;
	close(fd);
	return problem;
}

static enum status open_fail(sqlite3 *db, const char *path, enum status status, struct error *err)
{
	int code = db ? sqlite3_extended_errcode(db) : SQLITE_NOMEM, problem = 0;
	struct text text AUTO_TEXT = { 0 };
	struct stat about;

	if (is_damage(code))
		return status; /* the error was reported before, with the file's name */
	if ((code & 0xff) == SQLITE_IOERR)
		problem = sqlite3_system_errno(db);
	if ((code & 0xff) == SQLITE_FULL)
		problem = ENOSPC;
	if (!problem && status == STATUS_UNAVAILABLE)
		problem = medium_problem(path);
	if (!problem && access(path, R_OK | W_OK) != 0 && errno != ENOENT)
		problem = errno;
	if (!problem && stat(path, &about) == 0 && !S_ISREG(about.st_mode)) {
		problem = S_ISDIR(about.st_mode) ? EISDIR : EEXIST;
		text_printf(&text, "a database is expected there: move what is there out of the directory");
	}
	if (!problem)
		return error_wrap(err, "%s", path);
	if (problem == EACCES && stat(path, &about) == 0)
		text_printf(&text,
			    "it belongs to user %u: run this as that user, or change its owner with chown",
			    (unsigned)about.st_uid);
	if (problem == ENOSPC || problem == EDQUOT || problem == EFBIG)
		disk_full_write(&text, path);
	return error_set(err, status, NULL, "cannot open %s: %s%s%s", path, strerror(problem),
			 text.length ? ": " : "", text.length ? text.data : "");
}

enum status connection_open_fail(struct connection *connection, enum status status, struct error *err)
{
	if (status != STATUS_UNAVAILABLE)
		return status;
	return open_fail(connection->db, sqlite3_db_filename(connection->db, "main"), status, err);
}

/* Returns true (refuse) for a commit inside a transaction: SQLite has then rolled the transaction back after an
 * error, and its remaining writes must not be committed one by one. */
static int commit_refuse(void *arg)
{
	return ((const struct connection *)arg)->transacts;
}

/* Makes the schema, and syncs the file once at the end. Until then no other process knows the file, so it needs neither
 * a journal on disk nor locks. */
static enum status schema_make(struct connection *connection, const char *path, struct error *err)
{
	/* auto_vacuum has no effect on a file that already has a page; the file's header announces the write-ahead log. */
	enum status rc = connection_exec(connection,
					 "PRAGMA locking_mode = EXCLUSIVE; PRAGMA synchronous = OFF;"
					 "PRAGMA journal_mode = MEMORY; PRAGMA auto_vacuum = INCREMENTAL",
					 err);

	if (!rc)
		rc = migrations_run(connection->db, roles[connection->role].migrations, err);
	if (!rc)
		rc = connection_exec(connection, "PRAGMA journal_mode = WAL", err);
	return rc ? rc : file_sync(connection->db, path, err);
}

/* Removes SQLite's auxiliary files of an earlier database with this name: a new database must not use them. */
static void orphans_remove(const char *path)
{
	static const char *const endings[] = { "-journal", "-wal", "-shm" };

	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		AUTO(string) char *name = memory_printf("%s%s", path, endings[i]);

		unlink(name);
	}
}

/* Makes the database under another name and renames it: after a power failure it is missing or whole. The directory is
 * synced by SQLite, with the first commit: that makes the write-ahead log, another file in it. */
static enum status file_make(const char *path, enum connection_role role, struct error *err)
{
	AUTO(string) char *unfinished = memory_printf("%s.new", path);
	AUTO(connection) struct connection *connection = memory_calloc(1, sizeof(*connection));
	enum status rc;
	int fd;

	connection->role = role;
	unlink(unfinished);
	orphans_remove(unfinished);
	orphans_remove(path);
	fd = open(unfinished, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd >= 0)
		close(fd);
	if (sqlite3_open_v2(unfinished, &connection->db, roles[role].flags | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
		rc = database_error(connection->db, err, "open");
	else
		rc = schema_make(connection, unfinished, err);
	if (rc)
		rc = open_fail(connection->db, path, rc, err);
	connection_close(TAKE(connection));
	if (!rc && rename(unfinished, path) != 0)
		rc = error_set(err, STATUS_UNAVAILABLE, NULL,
			       "cannot rename %s to %s: %s: make the directory writable, or give another --state-dir",
			       unfinished, path, strerror(errno));
	if (rc)
		unlink(unfinished);
	return rc;
}

enum status connection_open(const char *path, enum connection_role role, struct connection **ret_connection,
			    struct error *err)
{
	AUTO(connection) struct connection *connection = memory_calloc(1, sizeof(*connection));
	enum status rc = STATUS_OK;
	struct stat facts;

	connection_library_begin();
	connection->role = role;
	if (roles[role].flags & SQLITE_OPEN_CREATE && lstat(path, &facts) != 0 && errno == ENOENT)
		rc = file_make(path, role, err);
	if (rc)
		return rc;
	if (roles[role].flags & SQLITE_OPEN_CREATE)
		files_keep_private(path);
	if (sqlite3_open_v2(path, &connection->db, roles[role].flags | SQLITE_OPEN_NOMUTEX, NULL) !=
	    SQLITE_OK)
		return open_fail(connection->db, path, database_error(connection->db, err, "open"), err);
	rc = settings_apply(connection, err);
	if (!rc && roles[role].migrations)
		rc = migrations_run(connection->db, roles[role].migrations, err);
	if (!rc && !roles[role].migrations)
		rc = filter_functions_register(connection->db, err);
	if (!rc)
		rc = schema_read(connection, err);
	if (rc)
		return open_fail(connection->db, path, rc, err);
	/* Free the pages that making and reading the schema needed: otherwise an idle daemon would keep them for
	 * ever. */
	sqlite3_db_release_memory(connection->db);
	sqlite3_commit_hook(connection->db, commit_refuse, connection);
	*ret_connection = TAKE(connection);
	return STATUS_OK;
}

void connection_close(struct connection *connection)
{
	if (!connection)
		return;
	for (int id = 0; id < STATEMENT_COUNT; id++)
		sqlite3_finalize(connection->statements[id]);
	sqlite3_close_v2(connection->db);
	free(connection);
}

sqlite3_stmt *connection_statement(struct connection *connection, enum statement_id id)
{
	sqlite3_stmt **statement = &connection->statements[id];

	assert(statements[id].roles & 1u << connection->role);
	if (*statement) {
		sqlite3_reset(*statement);
		sqlite3_clear_bindings(*statement);
	} else if (sqlite3_prepare_v3(connection->db, statements[id].sql, -1, SQLITE_PREPARE_PERSISTENT,
				      statement, NULL) != SQLITE_OK) {
		log_event(LOG_ERROR, "statement-unprepared", "statement=%d error=\"%s\"", (int)id,
			  sqlite3_errmsg(connection->db));
	}
	return *statement;
}

enum status connection_prepare(struct connection *connection, const char *sql, sqlite3_stmt **ret_query,
			       struct error *err)
{
	if (sqlite3_prepare_v2(connection->db, sql, -1, ret_query, NULL) != SQLITE_OK)
		return database_error(connection->db, err, "prepare a query");
	return STATUS_OK;
}

enum status connection_exec(struct connection *connection, const char *sql, struct error *err)
{
	if (sqlite3_exec(connection->db, sql, NULL, NULL, NULL) != SQLITE_OK)
		return database_error(connection->db, err, "use the store");
	return STATUS_OK;
}

enum status connection_shrink(struct connection *connection, bool *ret_more, struct error *err)
{
	static const char sql[] =
		"SELECT freelist_count, page_count FROM pragma_freelist_count, pragma_page_count, pragma_auto_vacuum"
		" WHERE auto_vacuum = 2";
	AUTO(query) sqlite3_stmt *query = NULL;
	char release[64];
	bool found = false;
	enum status rc = connection_prepare(connection, sql, &query, err);
	int64_t spare = 0;

	*ret_more = false;
	if (!rc)
		rc = statement_step(query, &found, err);
	if (rc || !found)
		return rc;
	spare = sqlite3_column_int64(query, 0) - sqlite3_column_int64(query, 1) / KEPT_SHARE - KEPT_PAGES;
	sqlite3_reset(query);
	if (spare <= 0)
		return STATUS_OK;
	*ret_more = spare > SHRINK_PAGES;
	snprintf(release, sizeof(release), "PRAGMA incremental_vacuum(%d)",
		 spare > SHRINK_PAGES ? SHRINK_PAGES : (int)spare);
	return connection_exec(connection, release, err);
}

enum status transaction_begin(struct connection *connection, struct error *err)
{
	enum status rc = transaction_rollback(connection, err);

	if (!rc)
		rc = connection_exec(connection, "BEGIN IMMEDIATE", err);
	connection->transacts = !rc;
	return rc;
}

enum status transaction_commit(struct connection *connection, struct error *err)
{
	connection->transacts = false;
	return connection_exec(connection, "COMMIT", err);
}

enum status transaction_rollback(struct connection *connection, struct error *err)
{
	connection->transacts = false;
	return sqlite3_get_autocommit(connection->db) ? STATUS_OK
						      : connection_exec(connection, "ROLLBACK", err);
}

enum status statement_step(sqlite3_stmt *statement, bool *ret_row, struct error *err)
{
	int code;

	if (!statement)
		return error_set(err, STATUS_UNAVAILABLE, NULL,
				 "the database cannot be used now: the daemon's log says why; try again later");
	code = sqlite3_step(statement);
	if (code != SQLITE_ROW && code != SQLITE_DONE)
		return database_error(sqlite3_db_handle(statement), err, "use the store");
	*ret_row = code == SQLITE_ROW;
	return STATUS_OK;
}

bool statement_next(sqlite3_stmt *statement, enum status *rc, struct error *err)
{
	bool row = false;

	if (!*rc)
		*rc = statement_step(statement, &row, err);
	return !*rc && row;
}

enum status statement_run(sqlite3_stmt *statement, struct error *err)
{
	bool row = false;
	enum status rc = statement_step(statement, &row, err);

	sqlite3_reset(statement);
	return rc;
}

static int index_of(sqlite3_stmt *statement, const char *name)
{
	int index = sqlite3_bind_parameter_index(statement, name);

	assert(index > 0 || !statement);
	return index;
}

void bind_int(sqlite3_stmt *statement, const char *name, int64_t value)
{
	sqlite3_bind_int64(statement, index_of(statement, name), value);
}

void bind_real(sqlite3_stmt *statement, const char *name, double value)
{
	sqlite3_bind_double(statement, index_of(statement, name), value);
}

void bind_bytes(sqlite3_stmt *statement, const char *name, const char *text, size_t length)
{
	sqlite3_bind_text64(statement, index_of(statement, name), text, length, SQLITE_STATIC, SQLITE_UTF8);
}

void bind_text(sqlite3_stmt *statement, const char *name, const char *text)
{
	if (text)
		bind_bytes(statement, name, text, strlen(text));
	else
		sqlite3_bind_null(statement, index_of(statement, name));
}

const char *column_text(sqlite3_stmt *statement, int column)
{
	const char *text = (const char *)sqlite3_column_text(statement, column);

	/* Only the error code distinguishes a failed allocation from a null column.
	 * Source: https://sqlite.org/c3ref/column_blob.html */
	if (!text && sqlite3_errcode(sqlite3_db_handle(statement)) == SQLITE_NOMEM)
		memory_exhausted((size_t)sqlite3_column_bytes(statement, column));
	return text;
}

char *column_copy(sqlite3_stmt *statement, int column)
{
	return memory_strdup(column_text(statement, column));
}
