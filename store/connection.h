/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/connection.h: one SQLite connection with its settings, its prepared statements, and the basic steps that all
 * files of the store use. Used by one thread at a time.
 *
 * Values are bound by name only; texts are not copied, so they must outlive the statement's use. */
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/error.h"
#include "store/statements.h"

/* A prepared statement is borrowed and reset; a query made for one call is finalized. */
DEFINE_AUTO(statement, sqlite3_stmt *, sqlite3_reset)
DEFINE_AUTO(query, sqlite3_stmt *, sqlite3_finalize)

struct reader_pool;

struct connection {
	sqlite3 *db;
	enum connection_role role;
	const struct reader_pool *pool; /* for a reader; NULL: a writer */
	int64_t deadline_us;            /* for a reader: when its loan ends, monotonic */
	int64_t owner;                  /* for a reader: the owner of the work that it is lent for */
	bool has_pages; /* for a reader: it may have cached pages since they were last freed */
	bool transacts; /* for a writer: a transaction is open */
	sqlite3_stmt *statements[STATEMENT_COUNT]; /* NULL: not prepared yet */
};

/* Sets SQLite's memory functions and modes. To be called before SQLite is used without connection_open(). */
void connection_library_begin(void);

/* Opens @path; a writer makes the file and migrates it to the newest schema. */
enum status connection_open(const char *path, enum connection_role role, struct connection **ret_connection,
			    struct error *err);
/* Completes the error of a read or write that failed while a database was opened: names the file and, if known, the
 * system's error, so that the user can act on it. Sets *err and returns @status; an error that does not come from the
 * disk is unchanged. */
enum status connection_open_fail(struct connection *connection, enum status status, struct error *err);
void connection_close(struct connection *connection);
DEFINE_AUTO(connection, struct connection *, connection_close)

/* The prepared statement, reset, without values. It is prepared at its first use, because a connection uses few of its
 * role's statements and keeps the memory of each. NULL: it cannot be prepared (logged: the file cannot be read, or is
 * locked). The functions below accept NULL, and statement_step() then returns UNAVAILABLE. */
sqlite3_stmt *connection_statement(struct connection *connection, enum statement_id id);
/* Prepares a statement for this call only; @sql contains no text of clients. */
enum status connection_prepare(struct connection *connection, const char *sql, sqlite3_stmt **ret_query,
			       struct error *err);
enum status connection_exec(struct connection *connection, const char *sql, struct error *err);
/* In a writer's transaction: gives some pages back to the file system, if many are free. The file is shorter after the next
 * checkpoint. *ret_more: another call would give back more. A file without incremental auto_vacuum, made by an old
 * release, keeps its size. */
enum status connection_shrink(struct connection *connection, bool *ret_more, struct error *err);

/* A writer's transaction. If a statement finds no disk space, SQLite may roll the whole transaction back without
 * reporting it. In that case every later write and the commit fail until the transaction is begun again, so that no
 * write is committed alone. */
enum status transaction_begin(struct connection *connection, struct error *err);
enum status transaction_commit(struct connection *connection, struct error *err);
/* Harmless without a transaction. If it fails, the next transaction_begin() tries again. */
enum status transaction_rollback(struct connection *connection, struct error *err);

/* Runs a statement that returns no rows. */
enum status statement_run(sqlite3_stmt *statement, struct error *err);
/* Moves to the next row; *ret_row is false at the end. */
enum status statement_step(sqlite3_stmt *statement, bool *ret_row, struct error *err);
/* As statement_step(), for a loop over all rows. False: there are no more rows, or *rc is a failure, of this step or
 * from before the call. */
bool statement_next(sqlite3_stmt *statement, enum status *rc, struct error *err);

void bind_int(sqlite3_stmt *statement, const char *name, int64_t value);
void bind_real(sqlite3_stmt *statement, const char *name, double value);
void bind_text(sqlite3_stmt *statement, const char *name, const char *text); /* NULL: null */
void bind_bytes(sqlite3_stmt *statement, const char *name, const char *text, size_t length);

/* A copy of a text column; NULL if it is null. */
char *column_copy(sqlite3_stmt *statement, int column);
const char *column_text(sqlite3_stmt *statement, int column);

/* Sets *err from the connection's last failure: UNAVAILABLE if it is due to the disk or a lock and the same call may
 * succeed later, otherwise INTERNAL. @doing: the operation, for the text. */
enum status database_error(sqlite3 *db, struct error *err, const char *doing);
