/* SPDX-License-Identifier: Apache-2.0 */
#include "store/migrations.h"

#include <sqlite3.h>
#include <stdio.h>

#include "store/connection.h"

/* "tyrd": visible in the header of trainyard's databases, for users and for the program `file`. */
enum { APPLICATION_ID = 0x74797264 };

static enum status pragma_read(sqlite3 *db, const char *sql, int *ret_value, struct error *err)
{
	AUTO(query) sqlite3_stmt *query = NULL;

	if (sqlite3_prepare_v2(db, sql, -1, &query, NULL) != SQLITE_OK || sqlite3_step(query) != SQLITE_ROW)
		return database_error(db, err, "read the schema's number");
	*ret_value = sqlite3_column_int(query, 0);
	return STATUS_OK;
}

/* Runs the migrations after number @done, all in one transaction. After an error the caller closes the database, which
 * rolls it back: a ROLLBACK here would lose the error's code. */
static enum status migrations_commit(sqlite3 *db, const struct migration *migrations, int done, int newest,
				     struct error *err)
{
	const char *doing = "begin the migration";
	bool good = sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK;
	char marks[96];

	for (const struct migration *step = migrations; good && step->name; step++) {
		if (step->number <= done)
			continue;
		doing = step->name;
		good = sqlite3_exec(db, step->sql, NULL, NULL, NULL) == SQLITE_OK;
	}
	/* Printed into the text, because pragmas take no parameters; both values are our own numbers. */
	snprintf(marks, sizeof(marks), "PRAGMA application_id = %d; PRAGMA user_version = %d; COMMIT",
		 APPLICATION_ID, newest);
	if (good && sqlite3_exec(db, marks, NULL, NULL, NULL) == SQLITE_OK)
		return STATUS_OK;
	return database_error(db, err, doing);
}

enum status migrations_run(sqlite3 *db, const struct migration *migrations, struct error *err)
{
	int done = 0, application = 0, newest = 0;
	enum status rc = pragma_read(db, "PRAGMA user_version", &done, err);

	if (!rc)
		rc = pragma_read(db, "PRAGMA application_id", &application, err);
	if (rc)
		return rc;
	if (application != APPLICATION_ID && (application != 0 || done != 0))
		return error_set(err, STATUS_FAILED_PRECONDITION, NULL,
				 "%s is not a database of trainyard: move it away, or choose another --state-dir",
				 sqlite3_db_filename(db, "main"));
	for (const struct migration *step = migrations; step->name; step++)
		newest = step->number;
	if (done > newest)
		return error_set(
			err, STATUS_FAILED_PRECONDITION, NULL,
			"%s was written by a newer trainyard (schema %d, this program knows %d): use that one, or give "
			"another --state-dir",
			sqlite3_db_filename(db, "main"), done, newest);
	if (done && done < migrations->number)
		return error_set(
			err, STATUS_FAILED_PRECONDITION, NULL,
			"%s was written by a trainyard before 0.2.0 (schema %d), which this program does not "
			"open: move the state directory away, or give another --state-dir",
			sqlite3_db_filename(db, "main"), done);
	return done == newest ? STATUS_OK : migrations_commit(db, migrations, done, newest, err);
}
