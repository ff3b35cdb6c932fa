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
	MATCH_EXACT, /* case matters; a prefix ("x*") can use an index */
	MATCH_TIME,  /* RFC 3339; the expression is in nanoseconds */
	MATCH_ENUM,  /* a number with names */
	MATCH_JSON,  /* a value in a JSON document, compared by its own type */
};

enum filter_trait {
	TRAIT_SHARED = 1 << 0, /* shared by many rows, see filter_schema */
	TRAIT_ALWAYS = 1 << 1, /* never null */
	TRAIT_CAMEL =
			/* MATCH_JSON: names in the document are lowerCamelCase, in whatever form the client writes them */
		1
		<< 2,
	TRAIT_KEYS = 1 << 3, /* MATCH_JSON: "field:x" tests for the key x */
	/* MATCH_EXACT: "field:x" is a pattern for the whole value, whatever the schema's wildcards; with other
	 * operators a * is literal. */
	TRAIT_PATTERN = 1 << 4,
	TRAIT_DURATIONS = 1
		<< 5, /* MATCH_JSON: texts that are durations ("1.5s") are compared as durations */
};

/* One field. The path is the documented one; snake_case also matches. A path that ends with ".*" takes the rest of the
 * client's path, if any, as a path in the document. */
struct filter_field {
	const char *path;
	enum match_kind kind;
	unsigned traits;
	const char *sql;  /* expression for the value; for MATCH_JSON for the document */
	const char *root; /* MATCH_JSON: where the rest begins in the document: "$" or "$.trace" */
	bool (*parse)(const char *name, int64_t *ret_number); /* MATCH_ENUM */
	/* MATCH_JSON: a second document that may have the value; not shared. NULL: none. */
	const char *also_sql, *also_root;
	const char *
		text_sql; /* MATCH_TIME, MATCH_ENUM: the value as text, for functions; NULL: functions are refused */
};

struct filter_schema {
	const struct filter_field *fields; /* ends with a NULL path */
	const char *error_field;           /* the request's field for errors, or NULL */
	bool wildcards;                    /* * in a value stands for any text */
	/* A condition on shared fields alone is enclosed in these, so that it is tested once per source instead of once
	 * per row. */
	const char *shared_open, *shared_close;
	/* The texts in which a value alone is searched: NULL-terminated lists of expressions. Without row_texts it is
	 * refused. */
	const char *const *row_texts, *const *shared_texts;
	/* The expressions for log_id() and source(); shared. NULL: there are no such functions. */
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

/* @text is the text that @root was parsed from, for errors: INVALID_ARGUMENT. */
enum status filter_sql_make(const struct filter_schema *schema, const char *text,
			    const struct filter_node *root, struct filter_sql *ret_sql, struct error *err);
void filter_sql_deinit(struct filter_sql *sql);
#define AUTO_FILTER_SQL __attribute__((cleanup(filter_sql_deinit)))
void filter_sql_bind(const struct filter_sql *sql, struct sqlite3_stmt *statement);
