/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/connection.h: one SQLite connection with its settings, its prepared statements, and the
 * small steps that all files of the store take on it. Used by one thread at a time.
 *
 * Values are bound by name only; texts are not copied, so they outlive the statement's use. */
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
	const struct reader_pool *pool; /* a reader's; NULL: a writer */
	int64_t deadline_us;            /* a reader's: when its loan ends, monotonic */
	int64_t owner;                  /* a reader's: of the work that it is lent to */
	bool has_pages;                 /* a reader's: it was lent since its pages were given back */
	bool transacts; /* a writer's: a transaction was begun that is to be ended by commit */
	sqlite3_stmt *statements[STATEMENT_COUNT]; /* NULL: not yet asked for */
};

/* Gives SQLite its memory functions and modes. To be called before SQLite is used without connection_open(). */
void connection_library_begin(void);

/* Opens @path; a writer makes the file and brings it to the newest schema. */
enum status connection_open(const char *path, enum connection_role role, struct connection **ret_connection,
			    struct error *err);
/* Completes the error of a read or write of a database that failed while it was opened: names the file, in the system's words
 * where they are known, which a user can act on. Fills *err and returns @status; an error that is none of the storage medium
 * stays as it is. */
enum status connection_open_fail(struct connection *connection, enum status status, struct error *err);
void connection_close(struct connection *connection);
DEFINE_AUTO(connection, struct connection *, connection_close)

/* The prepared statement, reset, without values. Prepared when it is first asked for: a connection uses few of its role's,
 * and holds the memory of each for good. NULL: it cannot be prepared (logged: the file cannot be read, or is locked). The
 * functions below take NULL, and statement_step() answers UNAVAILABLE. */
sqlite3_stmt *connection_statement(struct connection *connection, enum statement_id id);
/* A statement for this call alone; @sql is made of our own texts. */
enum status connection_prepare(struct connection *connection, const char *sql, sqlite3_stmt **ret_query,
			       struct error *err);
enum status connection_exec(struct connection *connection, const char *sql, struct error *err);

/* A writer's transaction. A statement that finds no room may roll all of it back, and SQLite reports that only if asked.
 * Then each later write fails until the transaction is begun anew, instead of being committed by itself, and so does the
 * commit. */
enum status transaction_begin(struct connection *connection, struct error *err);
enum status transaction_commit(struct connection *connection, struct error *err);
/* Harmless where there is none. If this fails, transaction_begin() tries it again. */
enum status transaction_rollback(struct connection *connection, struct error *err);

/* Runs a statement that gives no rows. */
enum status statement_run(sqlite3_stmt *statement, struct error *err);
/* Moves to the next row; *ret_row is false at the end. */
enum status statement_step(sqlite3_stmt *statement, bool *ret_row, struct error *err);
/* The same for a loop over all rows: false at the end, on a failure, which goes to *rc, and where *rc is one already. */
bool statement_next(sqlite3_stmt *statement, enum status *rc, struct error *err);

void bind_int(sqlite3_stmt *statement, const char *name, int64_t value);
void bind_real(sqlite3_stmt *statement, const char *name, double value);
void bind_text(sqlite3_stmt *statement, const char *name, const char *text); /* NULL: null */
void bind_bytes(sqlite3_stmt *statement, const char *name, const char *text, size_t length);

/* A copy of a text column, NULL when it is null. */
char *column_copy(sqlite3_stmt *statement, int column);
const char *column_text(sqlite3_stmt *statement, int column);

/* Fills *err from the connection's last failure: UNAVAILABLE when the disk or a lock is to blame and
 * the same call may work later, INTERNAL otherwise. @doing says what was tried. */
enum status database_error(sqlite3 *db, struct error *err, const char *doing);
