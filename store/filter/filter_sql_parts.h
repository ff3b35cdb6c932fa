/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/filter/filter_sql_parts.h: functions that filter_sql.c and filter_calls_sql.c call in each other. */
#include "store/filter/filter_sql.h"

struct maker {
	const struct filter_schema *schema;
	const char *text;
	struct filter_sql *sql;
	bool in_shared;
	struct error *err;
};

#define REFUSE(maker, node, ...)                                                                             \
	filter_refuse((maker)->text, (maker)->schema->error_field, (node)->position, (maker)->err,           \
		      __VA_ARGS__)

/* Binds @text; returns the number N of its parameter :fN. */
size_t maker_bind(struct maker *maker, const char *text);
/* Finds the field that @node names; NULL: none. *ret_rest: the index of the first segment that the field's "*"
 * stands for. */
const struct filter_field *maker_field(const struct maker *maker, const struct filter_node *node,
				       size_t *ret_rest);
/* Writes the path in a JSON document for the client's segments from @rest on. False: SQLite cannot express it. */
bool maker_path(const struct filter_field *field, const struct filter_node *node, size_t rest,
		struct text *path);
/* Append the comparison of the node with the field's value: as text; as a time or an enum. */
enum status maker_compare_text(struct maker *maker, const struct filter_field *field,
			       const struct filter_node *node);
enum status maker_compare_number(struct maker *maker, const struct filter_field *field,
				 const struct filter_node *node);
bool filter_is_presence(const struct filter_node *node);

/* Append a comparison of a field to which functions are applied; append a function that is a condition by
 * itself. */
enum status maker_put_steps(struct maker *maker, const struct filter_node *node);
enum status maker_put_call(struct maker *maker, const struct filter_node *node);
