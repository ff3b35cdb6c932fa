/* SPDX-License-Identifier: Apache-2.0 */
#include "store/filter/filter_sql.h"
#include "daemon/base/memory.h"

#include <ctype.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/timestamp.h"
#include "store/filter/filter_functions.h"
#include "store/filter/filter_path.h"
#include "store/filter/filter_sql_parts.h"

/* SQL's operators for those of filters; an operator that is not here is converted to a function. */
static const char *const signs[] = {
	[OP_EQ] = "=", [OP_NE] = "<>", [OP_GT] = ">", [OP_GE] = ">=", [OP_LT] = "<", [OP_LE] = "<=",
};

void filter_sql_deinit(struct filter_sql *sql)
{
	for (size_t i = 0; i < sql->value_count; i++)
		free(sql->values[i].text);
	free(sql->values);
	text_deinit(&sql->where);
	*sql = (struct filter_sql){ 0 };
}

void filter_sql_bind(const struct filter_sql *sql, sqlite3_stmt *statement)
{
	char name[24];

	for (size_t i = 0; i < sql->value_count; i++) {
		int index;

		snprintf(name, sizeof(name), ":f%zu", i);
		index = sqlite3_bind_parameter_index(statement, name);
		if (sql->values[i].text)
			sqlite3_bind_text(statement, index, sql->values[i].text, -1, SQLITE_STATIC);
		else
			sqlite3_bind_int64(statement, index, sql->values[i].number);
	}
}

static void value_add(struct maker *maker, struct filter_value value)
{
	struct filter_sql *sql = maker->sql;
	struct filter_value *grown = memory_realloc(sql->values, (sql->value_count + 1) * sizeof(*grown));

	sql->values = grown;
	grown[sql->value_count++] = value;
}

size_t maker_bind(struct maker *maker, const char *text)
{
	value_add(maker, (struct filter_value){ .text = memory_strdup(text) });
	return maker->sql->value_count - 1;
}

static size_t number_add(struct maker *maker, int64_t number)
{
	value_add(maker, (struct filter_value){ .number = number });
	return maker->sql->value_count - 1;
}

const struct filter_field *maker_field(const struct maker *maker, const struct filter_node *node,
				       size_t *ret_rest)
{
	for (const struct filter_field *field = maker->schema->fields; field->path; field++) {
		*ret_rest = filter_path_takes(node, field->path);
		if (*ret_rest > 0)
			return field;
	}
	return NULL;
}

static bool is_shared(const struct maker *maker, const struct filter_node *node)
{
	const struct filter_field *field;
	size_t rest;

	switch (node->kind) {
	case FILTER_CALL:
		return node->function == FUNCTION_LOG_ID || node->function == FUNCTION_SOURCE;
	case FILTER_SEARCH:
		return false;
	case FILTER_COMPARE:
		field = maker_field(maker, node, &rest);
		return field && !node->steps && (field->traits & TRAIT_SHARED) && !field->also_sql;
	default:
		break;
	}
	for (const struct filter_node *child = node->child; child; child = child->next)
		if (!is_shared(maker, child))
			return false;
	return true;
}

bool filter_is_presence(const struct filter_node *node)
{
	return node->operator== OP_HAS && !node->quoted && strcmp(node->value, "*") == 0;
}

/* Appends a condition; where it may be null, it becomes 0. */
static void condition_put(struct maker *maker, const struct filter_field *field, const char *condition)
{
	text_printf(&maker->sql->where, field->traits & TRAIT_ALWAYS ? "(%s)" : "ifnull(%s, 0)", condition);
}

static enum status regex_put(struct maker *maker, const struct filter_field *field,
			     const struct filter_node *node)
{
	struct error why AUTO_ERROR = { 0 };
	struct text *where = &maker->sql->where;

	if (filter_regex_check(node->value, &why))
		return REFUSE(maker, node, "%s", why.text ? why.text : "no regular expression");
	if (node->operator== OP_NO_MATCH)
		text_printf(where, "(%s IS NOT NULL AND NOT matches(%s, :f%zu))", field->sql, field->sql,
			    maker_bind(maker, node->value));
	else
		text_printf(where, "matches(%s, :f%zu)", field->sql, maker_bind(maker, node->value));
	return STATUS_OK;
}

/* Compares an exact field with "abc*" as an interval of texts, so that an index can be used. */
static void prefix_put(struct maker *maker, const struct filter_field *field, const struct filter_node *node)
{
	AUTO(string) char *from = memory_strndup(node->value, strlen(node->value) - 1);
	struct text to AUTO_TEXT = { 0 };

	text_printf(&to, "%s\xf4\x8f\xbf\xbf", from); /* U+10FFFF */
	text_printf(&maker->sql->where, "(%s >= :f%zu", field->sql, maker_bind(maker, from));
	text_printf(&maker->sql->where, " AND %s < :f%zu)", field->sql, maker_bind(maker, to.data));
}

static void wildcard_put(struct maker *maker, const struct filter_field *field,
			 const struct filter_node *node)
{
	const char *star = strchr(node->value, '*');
	bool prefix = star[1] == '\0' && star != node->value && field->kind == MATCH_EXACT;
	const char *not_this = node->operator== OP_NE ? "NOT " : "";

	text_puts(&maker->sql->where, not_this);
	if (prefix)
		prefix_put(maker, field, node);
	else
		text_printf(&maker->sql->where, "like_wild(%s, :f%zu, %d)", field->sql,
			    maker_bind(maker, node->value), field->kind == MATCH_EXACT);
}

enum status maker_compare_text(struct maker *maker, const struct filter_field *field,
			       const struct filter_node *node)
{
	struct text condition AUTO_TEXT = { 0 };
	enum filter_operator operator= node->operator;

	if (operator== OP_MATCH || operator== OP_NO_MATCH)
		return regex_put(maker, field, node);
	if (field->traits & TRAIT_PATTERN && operator== OP_HAS) {
		text_printf(&maker->sql->where, "like_wild(%s, :f%zu, 1)", field->sql,
			    maker_bind(maker, node->value));
		return STATUS_OK;
	}
	if (maker->schema->wildcards && !(field->traits & TRAIT_PATTERN) && strchr(node->value, '*') &&
	    (operator== OP_EQ || operator== OP_NE || operator== OP_HAS)) {
		text_puts(&maker->sql->where, "(");
		if (operator== OP_NE)
			text_printf(&maker->sql->where, "%s IS NOT NULL AND ", field->sql);
		wildcard_put(maker, field, node);
		text_puts(&maker->sql->where, ")");
		return STATUS_OK;
	}
	if (operator== OP_HAS) {
		text_printf(&maker->sql->where, "has_text(%s, :f%zu)", field->sql,
			    maker_bind(maker, node->value));
		return STATUS_OK;
	}
	text_printf(&condition, "%s %s :f%zu%s", field->sql, signs[operator], maker_bind(maker, node->value),
		    field->kind == MATCH_TEXT && (operator == OP_EQ || operator == OP_NE) ? " COLLATE NOCASE" : "");
	condition_put(maker, field, condition.data);
	return STATUS_OK;
}

enum status maker_compare_number(struct maker *maker, const struct filter_field *field,
				 const struct filter_node *node)
{
	enum filter_operator operator= node->operator== OP_HAS ? OP_EQ : node->operator;
	struct text condition AUTO_TEXT = { 0 };
	int64_t number;

	if (operator== OP_MATCH || operator== OP_NO_MATCH)
		return REFUSE(maker, node, "field '%s' takes no regular expression", field->path);
	if (field->kind == MATCH_TIME ? !time_parse(node->value, &number)
				      : !field->parse(node->value, &number))
		return REFUSE(maker, node, "'%.64s' is no value of field '%s'", node->value, field->path);
	text_printf(&condition, "%s %s :f%zu", field->sql, signs[operator], number_add(maker, number));
	condition_put(maker, field, condition.data);
	return STATUS_OK;
}

/* Appends a name to a path in a JSON document; @camel: converts snake_case to lowerCamelCase, which the document
 * uses. False: SQLite cannot express the name. */
static bool name_put(struct text *path, const char *name, bool camel)
{
	if (strpbrk(name, "\"\\"))
		return false; /* SQLite's paths have no escape for these characters */
	text_puts(path, ".\"");
	for (; *name; name++) {
		if (camel && name[0] == '_' && islower((unsigned char)name[1]))
			text_putc(path, (char)toupper((unsigned char)*++name));
		else
			text_putc(path, *name);
	}
	text_putc(path, '"');
	return true;
}

bool maker_path(const struct filter_field *field, const struct filter_node *node, size_t rest,
		struct text *path)
{
	bool camel = field->traits & TRAIT_CAMEL;
	bool sayable = true;

	text_puts(path, field->root);
	for (size_t i = rest; i < node->path_length; i++)
		sayable = sayable && name_put(path, node->path[i], camel);
	if (rest == node->path_length && (field->traits & TRAIT_KEYS) &&
	    node->operator== OP_HAS && !filter_is_presence(node))
		sayable = sayable && name_put(path, node->value, false);
	return sayable;
}

static void json_compare_put(struct maker *maker, const struct filter_field *field,
			     const struct filter_node *node, size_t path)
{
	text_printf(
		&maker->sql->where,
		field->traits & TRAIT_DURATIONS
			? "json_test(replace(json_type(%s, :f%zu), 'text', 'duration'), json_extract(%s, :f%zu), %d, :f%zu)"
			: "json_test(json_type(%s, :f%zu), json_extract(%s, :f%zu), %d, :f%zu)",
		field->sql, path, field->sql, path, (int)node->operator, maker_bind(maker, node->value));
}

static enum status json_match_put(struct maker *maker, const struct filter_field *field,
				  const struct filter_node *node, size_t path)
{
	struct text value AUTO_TEXT = { 0 };
	struct filter_field at = *field;

	text_printf(&value, "json_extract(%s, :f%zu)", field->sql, path);
	at.sql = value.data;
	if (node->operator== OP_MATCH || node->operator== OP_NO_MATCH)
		return regex_put(maker, &at, node);
	at.kind = MATCH_TEXT;
	return maker_compare_text(maker, &at, node);
}

static enum status json_put(struct maker *maker, const struct filter_field *field,
			    const struct filter_node *node, size_t rest)
{
	struct text path AUTO_TEXT = { 0 };
	bool sayable = maker_path(field, node, rest, &path);
	bool whole = rest == node->path_length;
	bool wild = maker->schema->wildcards && strchr(node->value, '*') &&
		    (node->operator== OP_EQ || node->operator== OP_NE || node->operator== OP_HAS);
	size_t at;

	if (!sayable) {
		text_puts(&maker->sql->where, "0");
		return STATUS_OK;
	}
	at = maker_bind(maker, path.data);
	if (filter_is_presence(node) || (whole && (field->traits & TRAIT_KEYS) && node->operator== OP_HAS))
		text_printf(&maker->sql->where, "(json_type(%s, :f%zu) IS NOT NULL)", field->sql, at);
	else if (wild || node->operator== OP_MATCH || node->operator== OP_NO_MATCH)
		return json_match_put(maker, field, node, at);
	else
		json_compare_put(maker, field, node, at);
	return STATUS_OK;
}

/* Compares a value that may be in either of two documents. */
static enum status either_put(struct maker *maker, const struct filter_field *field,
			      const struct filter_node *node, size_t rest)
{
	struct filter_field also = *field;
	enum status rc;

	also.sql = field->also_sql;
	also.root = field->also_root;
	text_printf(&maker->sql->where, "(%s", maker->schema->shared_open);
	rc = json_put(maker, field, node, rest);
	text_printf(&maker->sql->where, "%s OR ", maker->schema->shared_close);
	if (!rc)
		rc = json_put(maker, &also, node, rest);
	text_puts(&maker->sql->where, ")");
	return rc;
}

static enum status compare_put(struct maker *maker, const struct filter_node *node)
{
	size_t rest;
	const struct filter_field *field = maker_field(maker, node, &rest);

	if (!field)
		return REFUSE(maker, node, "no field '%.64s%s'", node->path[0],
			      node->path_length > 1 ? ".…" : "");
	if (node->steps)
		return maker_put_steps(maker, node);
	if (field->also_sql)
		return either_put(maker, field, node, rest);
	if (field->kind == MATCH_JSON)
		return json_put(maker, field, node, rest);
	if (filter_is_presence(node)) {
		text_printf(&maker->sql->where, "(%s IS NOT NULL)", field->sql);
		return STATUS_OK;
	}
	if (field->kind == MATCH_TIME || field->kind == MATCH_ENUM)
		return maker_compare_number(maker, field, node);
	return maker_compare_text(maker, field, node);
}

/* Searches the texts for a literal: as it is, and, for JSON documents, as JSON escapes it. */
static void texts_put(struct maker *maker, const char *const *texts, size_t plain, size_t escaped)
{
	const char *separator = "";

	for (; *texts; texts++, separator = " OR ") {
		text_printf(&maker->sql->where, "%shas_text(%s, :f%zu)", separator, *texts, plain);
		if (escaped != plain)
			text_printf(&maker->sql->where, " OR has_text(%s, :f%zu)", *texts, escaped);
	}
}

static enum status search_put(struct maker *maker, const struct filter_node *node)
{
	const struct filter_schema *schema = maker->schema;
	struct text quoted AUTO_TEXT = { 0 };
	size_t plain = maker_bind(maker, node->value);
	size_t escaped = plain;

	if (!schema->row_texts)
		return REFUSE(maker, node, "'%.100s' is compared with no field", node->value);
	text_json(&quoted, node->value, strlen(node->value));
	quoted.data[quoted.length - 1] = '\0';
	if (strcmp(quoted.data + 1, node->value) != 0)
		escaped = maker_bind(maker, quoted.data + 1);
	text_puts(&maker->sql->where, "(");
	texts_put(maker, schema->row_texts, plain, escaped);
	if (schema->shared_texts) {
		text_printf(&maker->sql->where, " OR %s", schema->shared_open);
		texts_put(maker, schema->shared_texts, plain, escaped);
		text_puts(&maker->sql->where, schema->shared_close);
	}
	text_puts(&maker->sql->where, ")");
	return STATUS_OK;
}

static enum status node_put(struct maker *maker, const struct filter_node *node);

/* Joins the nodes as a balanced tree, so that a long list does not make a deep expression. */
static enum status joint_put(struct maker *maker, const struct filter_node **nodes, size_t count,
			     const char *word)
{
	enum status rc;

	if (count == 1)
		return node_put(maker, nodes[0]);
	text_puts(&maker->sql->where, "(");
	rc = joint_put(maker, nodes, count / 2, word);
	text_puts(&maker->sql->where, word);
	if (!rc)
		rc = joint_put(maker, nodes + count / 2, count - count / 2, word);
	text_puts(&maker->sql->where, ")");
	return rc;
}

/* Sorts children on shared fields to the front of @nodes; returns their number. */
static size_t shared_first(const struct maker *maker, const struct filter_node *node,
			   const struct filter_node **nodes)
{
	const struct filter_node *child = node->child;
	size_t shared = 0, others = node->child_count;

	for (; shared < others; child = child->next) {
		if (!maker->in_shared && maker->schema->shared_open && is_shared(maker, child))
			nodes[shared++] = child;
		else
			nodes[--others] = child;
	}
	return shared;
}

static enum status shared_put(struct maker *maker, const struct filter_node **nodes, size_t count,
			      const char *word)
{
	enum status rc;

	text_puts(&maker->sql->where, maker->schema->shared_open);
	maker->in_shared = true;
	rc = joint_put(maker, nodes, count, word);
	maker->in_shared = false;
	text_puts(&maker->sql->where, maker->schema->shared_close);
	return rc;
}

static enum status list_put(struct maker *maker, const struct filter_node *node)
{
	const char *word = node->kind == FILTER_AND ? " AND " : " OR ";
	const struct filter_node **nodes = memory_calloc(node->child_count, sizeof(struct filter_node *));
	size_t shared = shared_first(maker, node, nodes);
	enum status rc = STATUS_OK;

	text_puts(&maker->sql->where, "(");
	if (shared)
		rc = shared_put(maker, nodes, shared, word);
	if (!rc && shared && shared < node->child_count)
		text_puts(&maker->sql->where, word);
	if (!rc && shared < node->child_count)
		rc = joint_put(maker, nodes + shared, node->child_count - shared, word);
	text_puts(&maker->sql->where, ")");
	free(nodes);
	return rc;
}

static enum status node_put(struct maker *maker, const struct filter_node *node)
{
	enum status rc;

	if (!maker->in_shared && maker->schema->shared_open && node->kind >= FILTER_NOT &&
	    is_shared(maker, node))
		return shared_put(maker, &node, 1, "");
	switch (node->kind) {
	case FILTER_AND:
	case FILTER_OR:
		return list_put(maker, node);
	case FILTER_NOT:
		text_puts(&maker->sql->where, "(NOT ");
		rc = node_put(maker, node->child);
		text_puts(&maker->sql->where, ")");
		return rc;
	case FILTER_COMPARE:
		return compare_put(maker, node);
	case FILTER_SEARCH:
		return search_put(maker, node);
	case FILTER_CALL:
		return maker_put_call(maker, node);
	}
	return STATUS_OK;
}

enum status filter_sql_make(const struct filter_schema *schema, const char *text,
			    const struct filter_node *root, struct filter_sql *ret_sql, struct error *err)
{
	struct filter_sql sql AUTO_FILTER_SQL = { 0 };
	struct error own AUTO_ERROR = { 0 };
	struct maker maker = { .schema = schema, .text = text, .sql = &sql, .err = &own };
	enum status rc = root ? node_put(&maker, root) : STATUS_OK;

	if (rc)
		return error_move(err, &own);
	*ret_sql = sql;
	sql = (struct filter_sql){ 0 };
	return STATUS_OK;
}
