/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/migrations.h: brings a database file to the schema of this program.
 *
 * The steps are the files of store/migrations/, compiled in; a file that was released is never edited. The first one is
 * the schema of release 0.2.0; schemas with lower numbers were never released, and are refused. PRAGMA user_version is the
 * number of the last step done. Thread: the one that opens. */
#include "daemon/base/error.h"

struct sqlite3;

struct migration {
	int number; /* from 20, without gaps */
	const char *name;
	const char *sql;
};

/* Each ends with a NULL name. */
extern const struct migration state_migrations[];
extern const struct migration logs_migrations[];
extern const struct migration objects_migrations[];

/* Does the steps that are missing, each in one transaction with its number.
 * FAILED_PRECONDITION: the file is of a newer program or of one before the first release, or not one of ours. */
enum status migrations_run(struct sqlite3 *db, const struct migration *migrations, struct error *err);
