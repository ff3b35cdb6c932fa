/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/objects/assembly_rows.h: the rows of uploads in parts. */
#include "store/connection.h"
#include "store/objects/assemblies.h"
#include "store/objects/objects_parts.h"

struct assembly_row {
	struct assembly assembly;
	int64_t bucket; /* its number */
	char *content_type;
	char *metadata; /* JSON */
};
#define AUTO_ASSEMBLY_ROW __attribute__((cleanup(assembly_row_deinit)))
void assembly_row_deinit(struct assembly_row *row);

/* Copies the row that a statement stands on, of ASSEMBLY_GET or ASSEMBLIES_FROM; its name alone. */
void assembly_row_copy(sqlite3_stmt *row, struct assembly *ret_assembly);
const char *assembly_row_name(sqlite3_stmt *row);

/* NOT_FOUND as store/objects/assemblies.h has it; one that is too old is none. */
enum status assembly_row_get(struct connection *connection, const struct assembly_key *key, int64_t now_us,
			     struct assembly_row *ret_row, struct error *err);
/* The same with a reader's connection of its own. */
enum status assembly_row_read(struct objects *objects, const struct assembly_key *key,
			      struct assembly_row *ret_row, struct error *err);

/* Inside a change: removes an assembly with its parts; the post_commit removes the files that nothing else uses. */
enum status assembly_drop(struct connection *connection, const char *id, const char *bucket,
			  struct error *err);

/* Inside a change: those that began before then. */
enum status assemblies_expire(struct connection *connection, int64_t before_us, struct error *err);
/* Inside a change: all of a bucket that goes. */
enum status assemblies_of_bucket_drop(struct connection *connection, int64_t bucket, struct error *err);

/* A part, and where its bytes are. */
struct part_row {
	struct part part;
	int64_t blob;
};
/* Of PART_GET and PARTS_AFTER. */
struct part_row part_row_read(sqlite3_stmt *statement);
