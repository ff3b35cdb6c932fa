/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/base/yaml.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "daemon/base/json.h"
#include "daemon/base/memory.h"

struct reading {
	yaml_document_t document;
	size_t value_count;
};

static bool is_one_of(const char *word, const char *const *words)
{
	for (; *words; words++)
		if (strcmp(word, *words) == 0)
			return true;
	return false;
}

/* Source: https://yaml.org/spec/1.2.2/#103-core-schema */
static json_t *plain_read(const char *word)
{
	static const char *const nulls[] = { "", "~", "null", "Null", "NULL", NULL };
	static const char *const trues[] = { "true", "True", "TRUE", NULL };
	static const char *const falses[] = { "false", "False", "FALSE", NULL };
	char *end;
	long long whole;
	double number;
	json_t *real;

	if (is_one_of(word, nulls))
		return json_null();
	if (is_one_of(word, trues) || is_one_of(word, falses))
		return json_boolean(is_one_of(word, trues));
	if (strspn(word, "+-.0123456789eE") != strlen(word))
		return json_string(word);
	errno = 0;
	whole = strtoll(word, &end, 10);
	if (!*end && !errno)
		return json_integer(whole);
	number = strtod(word, &end);
	real = *end ? NULL : json_real(number); /* none that is infinite */
	return real ? real : json_string(word);
}

static json_t *scalar_read(const yaml_node_t *node)
{
	const char *value = (const char *)node->data.scalar.value;

	return node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE
		       ? plain_read(value)
		       : json_stringn(value, node->data.scalar.length);
}

static enum status node_fault(const yaml_node_t *node, const char *what, struct error *err)
{
	return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "line %zu: %s", node->start_mark.line + 1, what);
}

static enum status node_read(struct reading *reading, int number, unsigned depth, json_t **ret_value,
			     struct error *err);

static enum status sequence_read(struct reading *reading, const yaml_node_t *node, unsigned depth,
				 json_t **ret_value, struct error *err)
{
	AUTO(json) json_t *list = json_array();
	enum status rc = STATUS_OK;

	for (const yaml_node_item_t *item = node->data.sequence.items.start;
	     !rc && item < node->data.sequence.items.top; item++) {
		json_t *value = NULL;

		rc = node_read(reading, *item, depth + 1, &value, err);
		if (!rc)
			json_array_append_new(list, value);
	}
	if (!rc)
		*ret_value = TAKE(list);
	return rc;
}

static enum status mapping_read(struct reading *reading, const yaml_node_t *node, unsigned depth,
				json_t **ret_value, struct error *err)
{
	AUTO(json) json_t *object = json_object();
	enum status rc = STATUS_OK;

	for (const yaml_node_pair_t *pair = node->data.mapping.pairs.start;
	     !rc && pair < node->data.mapping.pairs.top; pair++) {
		const yaml_node_t *key = yaml_document_get_node(&reading->document, pair->key);
		json_t *value = NULL;

		if (key->type != YAML_SCALAR_NODE)
			return node_fault(key, "the name of a member is no text", err);
		rc = node_read(reading, pair->value, depth + 1, &value, err);
		if (!rc && json_object_set_new(object, (const char *)key->data.scalar.value, value))
			rc = node_fault(key, "the name of a member is no UTF-8", err);
	}
	if (!rc)
		*ret_value = TAKE(object);
	return rc;
}

static enum status node_read(struct reading *reading, int number, unsigned depth, json_t **ret_value,
			     struct error *err)
{
	const yaml_node_t *node = yaml_document_get_node(&reading->document, number);

	if (++reading->value_count > YAML_VALUES_MAX || depth > YAML_DEPTH_MAX)
		return node_fault(node, "there is too much in it", err);
	if (node->type == YAML_SEQUENCE_NODE)
		return sequence_read(reading, node, depth, ret_value, err);
	if (node->type == YAML_MAPPING_NODE)
		return mapping_read(reading, node, depth, ret_value, err);
	*ret_value = scalar_read(node);
	return *ret_value ? STATUS_OK : node_fault(node, "the text is no UTF-8", err);
}

static enum status document_read(yaml_parser_t *parser, json_t **ret_value, struct error *err)
{
	struct reading reading = { .value_count = 0 };
	enum status rc;

	if (!yaml_parser_load(parser, &reading.document))
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "line %zu: %s",
				 parser->problem_mark.line + 1,
				 parser->problem ? parser->problem : "it is no YAML");
	rc = yaml_document_get_root_node(&reading.document)
		     ? node_read(&reading, 1, 0, ret_value, err)
		     : error_set(err, STATUS_INVALID_ARGUMENT, NULL, "there is nothing in it");
	yaml_document_delete(&reading.document);
	return rc;
}

enum status yaml_read(const char *text, size_t length, json_t **ret_value, struct error *err)
{
	yaml_parser_t parser;
	enum status rc;

	if (!yaml_parser_initialize(&parser))
		memory_exhausted(sizeof(parser));
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
	rc = document_read(&parser, ret_value, err);
	yaml_parser_delete(&parser);
	return rc;
}
