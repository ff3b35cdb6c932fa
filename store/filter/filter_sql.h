/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/filter/filter_sql.h: a filter's tree as a condition in SQL.
 *
 * The condition is made of our own texts and of parameters (:f0, :f1 ...); what the client wrote is only
 * ever bound. Every comparison is 1 or 0, never null, so that NOT means "all others": a comparison with
 * something that is missing is 0, != and !~ included. Pure but for filter_sql_bind(). */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/error.h"
#include "daemon/base/text.h"
#include "store/filter/filter.h"

struct sqlite3_stmt;

enum match_kind {
	MATCH_TEXT,  /* letters of both cases are equal */
	MATCH_EXACT, /* they are not; a prefix ("x*") is served by an index */
	MATCH_TIME,  /* RFC 3339; the expression is in nanoseconds */
	MATCH_ENUM,  /* a number with names */
	MATCH_JSON,  /* the value in a JSON document, by its own type */
};

enum filter_trait {
	TRAIT_SHARED = 1 << 0, /* of what many rows share, see filter_schema */
	TRAIT_ALWAYS = 1 << 1, /* never null */
	TRAIT_CAMEL =
		1 << 2, /* MATCH_JSON: names in the document are lowerCamelCase, whatever the client writes */
	TRAIT_KEYS = 1 << 3, /* MATCH_JSON: "field:x" asks for the key x */
	/* MATCH_EXACT: "field:x" is a pattern of the whole value, whatever the schema says of wildcards; with other
	 * operators a * is a star. */
	TRAIT_PATTERN = 1 << 4,
	TRAIT_DURATIONS = 1 << 5, /* MATCH_JSON: texts that are durations ("1.5s") compare as such */
};

/* One field. The path is as documented, and snake_case is found as well. A path that ends with ".*"
 * takes the rest of the client's path, if any, as a path in the document. */
struct filter_field {
	const char *path;
	enum match_kind kind;
	unsigned traits;
	const char *sql;  /* the value's expression; the document's for MATCH_JSON */
	const char *root; /* MATCH_JSON: where in the document the rest starts: "$" or "$.trace" */
	bool (*parse)(const char *name, int64_t *ret_number); /* MATCH_ENUM */
	/* MATCH_JSON: a second document in which the value may be as well; not shared. NULL: none. */
	const char *also_sql, *also_root;
	const char *
		text_sql; /* MATCH_TIME, MATCH_ENUM: what functions take the value for; NULL: they do not take it */
};

struct filter_schema {
	const struct filter_field *fields; /* ends with a NULL path */
	const char *error_field;           /* the request's field for errors, or NULL */
	bool wildcards;                    /* * in a value stands for anything */
	/* Conditions on shared fields alone are put between these: there they are tested once for each
	 * source, not for each row. */
	const char *shared_open, *shared_close;
	/* What a value alone is looked for in; NULL-terminated lists of expressions. Without row_texts it is refused. */
	const char *const *row_texts, *const *shared_texts;
	/* The expressions that log_id() and source() compare; shared. NULL: there are no functions. */
	const char *log_name, *project;
	const char *search; /* what search() looks at: arguments of search_text(), see filter_functions.h */
};

struct filter_value {
	char *text; /* NULL: a number */
	int64_t number;
};

struct filter_sql {
	struct text where; /* "" when everything is wanted */
	struct filter_value *values;
	size_t value_count;
};

/* @text is what @root was parsed from, for errors: INVALID_ARGUMENT. */
enum status filter_sql_make(const struct filter_schema *schema, const char *text,
			    const struct filter_node *root, struct filter_sql *ret_sql, struct error *err);
void filter_sql_deinit(struct filter_sql *sql);
#define AUTO_FILTER_SQL __attribute__((cleanup(filter_sql_deinit)))
void filter_sql_bind(const struct filter_sql *sql, struct sqlite3_stmt *statement);
