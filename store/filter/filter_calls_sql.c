/* SPDX-License-Identifier: Apache-2.0 */
/* store/filter/filter_calls_sql.c: converts the functions of a filter to SQL; what they compute is in filter_search.c
 * and filter_values.c. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "daemon/base/timestamp.h"
#include "store/filter/filter_functions.h"
#include "store/filter/filter_search.h"
#include "store/filter/filter_sql_parts.h"
#include "store/filter/filter_values.h"

/* The SQL expression for a field and the functions applied to it so far. */
struct operand {
	struct text sql; /* its value is NULL if the entry lacks the field */
	enum filter_type type;
};

static void operand_deinit(struct operand *operand)
{
	text_deinit(&operand->sql);
}

/* Appends the scalar at the client's path in a JSON document. JSON's true and false become these words, not 1 and 0. */
static void scalar_put(struct maker *maker, struct text *sql, const struct filter_field *field,
		       const struct filter_node *node, size_t rest)
{
	struct text path AUTO_TEXT = { 0 };
	size_t at;

	if (!maker_path(field, node, rest, &path)) {
		text_puts(sql, "NULL");
		return;
	}
	at = maker_bind(maker, path.data);
	text_printf(sql,
		    "CASE json_type(%s, :f%zu) WHEN 'true' THEN 'true' WHEN 'false' THEN 'false'"
		    " ELSE json_extract(%s, :f%zu) END",
		    field->sql, at, field->sql, at);
}

static enum status field_put(struct maker *maker, const struct filter_node *node, struct operand *operand)
{
	size_t rest;
	const struct filter_field *field = maker_field(maker, node, &rest);
	struct filter_field also;

	if (!maker->schema->log_name || !field ||
	    (field->kind != MATCH_JSON && !field->text_sql &&
	     (field->kind == MATCH_TIME || field->kind == MATCH_ENUM)))
		return REFUSE(maker, node, "no function of field '%.64s%s'", node->path[0],
			      node->path_length > 1 ? ".…" : "");
	operand->type = field->kind == MATCH_TIME ? TYPE_TIMESTAMP : TYPE_STRING;
	if (field->kind != MATCH_JSON) {
		text_puts(&operand->sql, field->kind == MATCH_ENUM ? field->text_sql : field->sql);
		return STATUS_OK;
	}
	also = *field;
	also.sql = field->also_sql;
	also.root = field->also_root;
	text_puts(&operand->sql, also.sql ? "coalesce(" : "(");
	if (also.sql) {
		scalar_put(maker, &operand->sql, &also, node, rest);
		text_puts(&operand->sql, ", ");
	}
	scalar_put(maker, &operand->sql, field, node, rest);
	text_puts(&operand->sql, ")");
	return STATUS_OK;
}

/* Converts an operand that is a time to text, in @zone (NULL: UTC). */
static void time_print(struct maker *maker, struct operand *operand, const char *zone)
{
	struct text sql AUTO_TEXT = { 0 };

	if (operand->type != TYPE_TIMESTAMP)
		return;
	text_printf(&sql, "time_text(%s, :f%zu)", operand->sql.data, maker_bind(maker, zone ? zone : "UTC"));
	operand->type = TYPE_STRING;
	text_deinit(&operand->sql);
	operand->sql = sql;
	sql = (struct text){ 0 };
}

static enum status step_put(struct maker *maker, const struct filter_step *step, struct operand *operand)
{
	struct error why AUTO_ERROR = { 0 };
	struct text sql AUTO_TEXT = { 0 };

	if (step->function == FUNCTION_EXTRACT) {
		if (filter_regex_check(step->text, &why))
			return REFUSE(maker, step, "%s", why.text ? why.text : "no regular expression");
		time_print(maker, operand, NULL);
		text_printf(&sql, "regexp_extract(%s, :f%zu)", operand->sql.data,
			    maker_bind(maker, step->text));
		operand->type = TYPE_STRING;
	} else {
		if (step->text && !filter_zone_known(step->text))
			return REFUSE(maker, step, "no time zone '%.64s'", step->text);
		if (step->type == operand->type)
			return STATUS_OK;
		time_print(maker, operand, step->text);
		if (step->type == TYPE_STRING && operand->type == TYPE_STRING)
			return STATUS_OK;
		text_printf(&sql, "cast_value(%s, %d)", operand->sql.data, (int)step->type);
		operand->type = step->type;
	}
	text_deinit(&operand->sql);
	operand->sql = sql;
	sql = (struct text){ 0 };
	return STATUS_OK;
}

static enum status operand_make(struct maker *maker, const struct filter_node *node, struct operand *operand)
{
	enum status rc = field_put(maker, node, operand);

	for (const struct filter_step *step = node->steps; step && !rc; step = step->next)
		rc = step_put(maker, step, operand);
	return rc;
}

/* Compares the result of a cast: a number, a duration in seconds, or a boolean. */
static enum status value_compare(struct maker *maker, const struct operand *operand,
				 const struct filter_node *node)
{
	const enum filter_operator operator= node->operator== OP_HAS ? OP_EQ : node->operator;
	char *end = NULL;
	struct text literal AUTO_TEXT = { 0 };
	int64_t duration_us;

	if (operator== OP_MATCH || operator== OP_NO_MATCH)
		return REFUSE(maker, node, "only texts can match a regular expression");
	if (operand->type == TYPE_DURATION && duration_parse(node->value, &duration_us))
		text_printf(&literal, "%.6f", (double)duration_us / 1e6);
	else
		text_puts(&literal, node->value);
	if (operand->type != TYPE_BOOL)
		(void)strtod(literal.data, &end);
	if (operand->type == TYPE_BOOL
		    ? strcasecmp(node->value, "true") != 0 && strcasecmp(node->value, "false") != 0
		    : end == literal.data || *end)
		return REFUSE(maker, node, "'%.64s' cannot be compared with the value of the cast",
			      node->value);
	text_printf(&maker->sql->where, "json_test('number', %s, %d, :f%zu)", operand->sql.data,
		    (int)operator, maker_bind(maker, literal.data));
	return STATUS_OK;
}

enum status maker_put_steps(struct maker *maker, const struct filter_node *node)
{
	__attribute__((cleanup(operand_deinit))) struct operand operand = { .type = TYPE_STRING };
	enum status rc = operand_make(maker, node, &operand);
	struct filter_field field = { .path = node->path[0], .kind = MATCH_TEXT };

	if (rc)
		return rc;
	field.sql = operand.sql.data;
	if (filter_is_presence(node)) {
		text_printf(&maker->sql->where, "(%s IS NOT NULL)", field.sql);
		return STATUS_OK;
	}
	if (operand.type == TYPE_STRING)
		return maker_compare_text(maker, &field, node);
	if (operand.type != TYPE_TIMESTAMP)
		return value_compare(maker, &operand, node);
	field.kind = MATCH_TIME;
	return maker_compare_number(maker, &field, node);
}

/* ---- functions that are conditions by themselves ---- */

/* Compares the log id. Stored log names are percent-encoded: log_id("a/b") is compared as a%2Fb. */
static void log_id_put(struct maker *maker, const struct filter_node *node)
{
	struct text name AUTO_TEXT = { 0 };

	text_percent(&name, node->value, URL_UNRESERVED "%");
	text_printf(&maker->sql->where, "(%s = :f%zu COLLATE NOCASE)", maker->schema->log_name,
		    maker_bind(maker, name.data));
}

/* source() can only match a project, because entries here never belong to folders, organizations or billing
 * accounts. */
static enum status source_put(struct maker *maker, const struct filter_node *node)
{
	static const char *const parents[] = { "projects/", "folders/", "organizations/",
					       "billingAccounts/" };

	for (size_t i = 0; i < sizeof(parents) / sizeof(parents[0]); i++) {
		const size_t length = strlen(parents[i]);

		if (strncmp(node->value, parents[i], length) != 0 || !node->value[length])
			continue;
		if (i == 0)
			text_printf(&maker->sql->where, "(%s = :f%zu)", maker->schema->project,
				    maker_bind(maker, node->value + length));
		else
			text_puts(&maker->sql->where, "0");
		return STATUS_OK;
	}
	return REFUSE(maker, node, "'%.64s' is no source: it should be projects/PROJECT", node->value);
}

static enum status search_put(struct maker *maker, const struct filter_node *node)
{
	__attribute__((cleanup(operand_deinit))) struct operand operand = { .type = TYPE_STRING };
	struct error why AUTO_ERROR = { 0 };
	struct text *where = &maker->sql->where;
	const struct filter_field *field;
	struct text path AUTO_TEXT = { 0 };
	size_t rest;
	enum status rc;

	if (filter_search_check(node->value, &why))
		return REFUSE(maker, node, "%s", why.text ? why.text : "no search");
	text_printf(where, "search_text(:f%zu", maker_bind(maker, node->value));
	if (!node->path_length) {
		text_printf(where, ", %s)", maker->schema->search);
		return STATUS_OK;
	}
	field = maker_field(maker, node, &rest);
	if (field && field->kind == MATCH_JSON && !node->steps) {
		/* Search all values below the path, of any type. */
		if (maker_path(field, node, rest, &path)) {
			const size_t at = maker_bind(maker, path.data);

			text_printf(where, ", 1, %s -> :f%zu", field->sql, at);
		}
		text_deinit(&path);
		if (field->also_sql) {
			struct filter_field also = *field;

			also.root = field->also_root;
			if (maker_path(&also, node, rest, &path))
				text_printf(where, ", 1, %s -> :f%zu", field->also_sql,
					    maker_bind(maker, path.data));
		}
		text_puts(where, ")");
		return STATUS_OK;
	}
	rc = operand_make(maker, node, &operand);
	if (rc)
		return rc;
	time_print(maker, &operand, NULL);
	text_printf(where, ", 0, %s)", operand.sql.data);
	return STATUS_OK;
}

static enum status value_call_put(struct maker *maker, const struct filter_node *node, const char *function)
{
	__attribute__((cleanup(operand_deinit))) struct operand operand = { .type = TYPE_STRING };
	enum status rc = operand_make(maker, node, &operand);

	if (rc)
		return rc;
	time_print(maker, &operand, NULL);
	text_printf(&maker->sql->where, "%s(%s, :f%zu)", function, operand.sql.data,
		    maker_bind(maker, node->value));
	return STATUS_OK;
}

enum status maker_put_call(struct maker *maker, const struct filter_node *node)
{
	if (!maker->schema->log_name)
		return REFUSE(maker, node, "functions are not supported");
	switch (node->function) {
	case FUNCTION_LOG_ID:
		log_id_put(maker, node);
		return STATUS_OK;
	case FUNCTION_SOURCE:
		return source_put(maker, node);
	case FUNCTION_SEARCH:
		return search_put(maker, node);
	case FUNCTION_IP_IN_NET:
		if (!filter_net_known(node->value))
			return REFUSE(maker, node, "'%.64s' is no subnet", node->value);
		return value_call_put(maker, node, "ip_in_net");
	case FUNCTION_SAMPLE:
		if (!filter_fraction_known(node->value))
			return REFUSE(maker, node, "'%.64s' is no fraction above 0 and up to 1", node->value);
		return value_call_put(maker, node, "sampled");
	case FUNCTION_CAST:
	case FUNCTION_EXTRACT:
	case FUNCTION_COUNT:
		break;
	}
	return STATUS_OK;
}
