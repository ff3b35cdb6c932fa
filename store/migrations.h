/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/migrations.h: migrates a database file to the schema of this program.
 *
 * The steps are the files of store/migrations/, compiled in; a released file is never edited. The first one is the
 * schema of release 0.2.0; schemas with lower numbers were never released, and are refused. PRAGMA user_version is the
 * number of the last step. Thread: the one that opens. */
#include "daemon/base/error.h"

struct sqlite3;

struct migration {
	int number; /* from 20, without gaps */
	const char *name;
	const char *sql;
};

/* Lists of migrations, which end with a NULL name. */
extern const struct migration state_migrations[];
extern const struct migration logs_migrations[];
extern const struct migration objects_migrations[];

/* Runs the missing steps in one transaction. FAILED_PRECONDITION: the file was written by a newer
 * program or by one before the first release, or is not a database of trainyard. */
enum status migrations_run(struct sqlite3 *db, const struct migration *migrations, struct error *err);
