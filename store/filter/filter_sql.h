/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/filter/filter_sql.h: converts a filter's tree to a condition in SQL.
 *
 * The condition consists of our own texts and of parameters (:f0, :f1 ...); clients' texts are only ever bound. Every
 * comparison is 1 or 0, never null, so that NOT means "all others": a comparison with a missing value is 0, also for !=
 * and !~. Pure, except for filter_sql_bind(). */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/error.h"
#include "daemon/base/text.h"
#include "store/filter/filter.h"

struct sqlite3_stmt;

enum match_kind {
	MATCH_TEXT,  /* case is ignored */
	MATCH_EXACT, /* is case-sensitive; a prefix ("x*") can use an index */
	MATCH_TIME,  /* RFC 3339; the SQL expression is in nanoseconds */
	MATCH_ENUM,  /* a number with names */
	MATCH_JSON,  /* a value in a JSON document, compared by its own type */
};

enum filter_trait {
	TRAIT_SHARED = 1 << 0, /* many rows share the value, see filter_schema */
	TRAIT_ALWAYS = 1 << 1, /* never null */
	TRAIT_CAMEL =
			/* MATCH_JSON: names in the document are lowerCamelCase; a client may write them in
			 * snake_case */
		1
		<< 2,
	TRAIT_KEYS = 1 << 3, /* MATCH_JSON: "field:x" tests for the key x */
	/* MATCH_EXACT: "field:x" compares the whole value with a pattern, even if the schema has no wildcards; with
	 * other operators a * is literal. */
	TRAIT_PATTERN = 1 << 4,
	TRAIT_DURATIONS = 1
		<< 5, /* MATCH_JSON: texts that are durations ("1.5s") are compared as durations */
};

/* A field of filters. path is the documented one, and also matches in snake_case. A path that ends with ".*" takes
 * further segments of the client's path as a path in the document. */
struct filter_field {
	const char *path;
	enum match_kind kind;
	unsigned traits;
	const char *sql;  /* SQL expression: the value; for MATCH_JSON, the document */
	const char *root; /* MATCH_JSON: where the further segments begin in the document: "$" or "$.trace" */
	bool (*parse)(const char *name, int64_t *ret_number); /* MATCH_ENUM */
	/* MATCH_JSON: a second document that may have the value; each row has its own, even with TRAIT_SHARED. NULL:
	 * none. */
	const char *also_sql, *also_root;
	const char *
		text_sql; /* MATCH_TIME, MATCH_ENUM: the value as text, for functions; NULL: functions are refused */
};

struct filter_schema {
	const struct filter_field *fields; /* ends with a NULL path */
	const char *error_field;           /* the request's field for errors, or NULL */
	bool wildcards;                    /* * in a value stands for any text */
	/* Text that encloses a condition on shared fields alone, so that SQLite tests it once per source instead of
	 * once per row. */
	const char *shared_open, *shared_close;
	/* Expressions of the texts in which a value without a field is searched; the lists end with NULL. row_texts
	 * NULL: such a filter is refused. */
	const char *const *row_texts, *const *shared_texts;
	/* SQL expressions for log_id() and source(), which rows share. NULL: these functions are refused. */
	const char *log_name, *project;
	const char *search; /* the texts for search(): arguments of search_text(), see filter_functions.h */
};

struct filter_value {
	char *text; /* NULL: a number */
	int64_t number;
};

struct filter_sql {
	struct text where; /* "" if everything matches */
	struct filter_value *values;
	size_t value_count;
};

/* Converts the tree @root. @text: the text that the tree was parsed from, for errors. INVALID_ARGUMENT. */
enum status filter_sql_make(const struct filter_schema *schema, const char *text,
			    const struct filter_node *root, struct filter_sql *ret_sql, struct error *err);
void filter_sql_deinit(struct filter_sql *sql);
#define AUTO_FILTER_SQL __attribute__((cleanup(filter_sql_deinit)))
void filter_sql_bind(const struct filter_sql *sql, struct sqlite3_stmt *statement);
