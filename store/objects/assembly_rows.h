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

/* Copies the current row of ASSEMBLY_GET or ASSEMBLIES_FROM, without the bucket. */
void assembly_row_copy(sqlite3_stmt *row, struct assembly *ret_assembly);
const char *assembly_row_name(sqlite3_stmt *row);

/* Reads an assembly. NOT_FOUND as in store/objects/assemblies.h; also for an assembly that is too old. */
enum status assembly_row_get(struct connection *connection, const struct assembly_key *key, int64_t now_us,
			     struct assembly_row *ret_row, struct error *err);
/* As assembly_row_get(), with a reader's connection. */
enum status assembly_row_read(struct objects *objects, const struct assembly_key *key,
			      struct assembly_row *ret_row, struct error *err);

/* Inside a change: removes an assembly with its parts; post_commit.h then removes files that are no longer used. */
enum status assembly_drop(struct connection *connection, const char *id, const char *bucket,
			  struct error *err);

/* Inside a change: removes the assemblies that began before @before_us. */
enum status assemblies_expire(struct connection *connection, int64_t before_us, struct error *err);
/* Inside a change: removes the assemblies of a bucket that is deleted. */
enum status assemblies_of_bucket_drop(struct connection *connection, int64_t bucket, struct error *err);

/* A part, with the blob that has its bytes. */
struct part_row {
	struct part part;
	int64_t blob;
};
/* For PART_GET and PARTS_AFTER. */
struct part_row part_row_read(sqlite3_stmt *statement);
