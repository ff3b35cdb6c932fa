/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/base/yaml.h"

#include <errno.h>
#include <limits.h>
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

/* ---- plain words by YAML 1.1, by which gcloud reads its --config ---- */

/* Only the spellings that gcloud's reader knows count: "-.5", for example, is text.
 * Source: https://yaml.org/type/ (bool, int, float, null) */
#define DIGITS "0123456789"

/* Reads a whole number. @digits: without underscores and signs. */
static json_t *whole_read(const char *digits, int base, bool negative)
{
	const char *valid = base == 16   ? DIGITS "abcdefABCDEF"
			    : base == 10 ? DIGITS
			    : base == 8  ? "01234567"
					 : "01";
	long long whole;

	if (!*digits || digits[strspn(digits, valid)])
		return NULL;
	errno = 0;
	whole = strtoll(digits, NULL, base);
	if (errno)
		return base == 10 ? json_real(negative ? -strtod(digits, NULL) : strtod(digits, NULL)) : NULL;
	return json_integer(negative ? -whole : whole);
}

/* Reads hours, minutes and seconds, such as 1:30 or 190:20:30.15, as one number. */
static json_t *sexagesimal_read(const char *digits, bool negative)
{
	char *at;
	double value = strtod(digits, &at);

	while (*at == ':') {
		const char *group = at + 1;
		const size_t length = strspn(group, DIGITS);

		if (length == 0 || length > 2 || (length == 2 && group[0] > '5'))
			return NULL;
		value = value * 60 + (double)strtoul(group, &at, 10);
	}
	if (*at == '.' && !at[1 + strspn(at + 1, DIGITS)]) {
		value += at[1] ? strtod(at, NULL) : 0;
		return json_real(negative ? -value : value);
	}
	if (*at || digits[0] == '0' || value > INT_MAX)
		return NULL;
	return json_integer((json_int_t)(negative ? -value : value));
}

/* Reads a number; NULL: @word is no number, or not a finite one. */
static json_t *number_read(const char *word)
{
	const bool is_signed = *word == '-' || *word == '+', negative = *word == '-';
	const char *begin = word + is_signed, *const exponent = strpbrk(begin, "eE");
	const bool is_hex = begin[0] == '0' && begin[1] == 'x';
	char digits[64], *end = digits;

	if (strlen(word) >= sizeof(digits) || (exponent && !is_hex && strchr(exponent, '_')))
		return NULL;
	for (const char *at = begin; *at; at++)
		if (*at != '_')
			*end++ = *at;
	*end = '\0';
	if (is_hex || (begin[0] == '0' && begin[1] == 'b'))
		return whole_read(digits + 2, is_hex ? 16 : 2, negative);
	if (!strchr(is_signed ? DIGITS : DIGITS ".", *begin) || !*begin)
		return NULL;
	if (strchr(digits, ':'))
		return sexagesimal_read(digits, negative);
	if (!strpbrk(digits, ".eE"))
		return whole_read(digits, digits[0] == '0' && digits[1] ? 8 : 10, negative);
	if (digits[strspn(digits, DIGITS "+-.eE")] || strcmp(digits, ".") == 0 ||
	    (*begin == '.' && exponent && exponent[1] != '-' && exponent[1] != '+'))
		return NULL;

	const double number = strtod(digits, &end);

	return *end ? NULL : json_real(negative ? -number : number);
}

static json_t *plain_read(const char *word)
{
	static const char *const nulls[] = { "", "~", "null", "Null", "NULL", NULL };
	static const char *const trues[] = { "true", "True", "TRUE", "yes", "Yes", "YES",
					     "on",   "On",   "ON",   "y",   "Y",   NULL };
	static const char *const falses[] = { "false", "False", "FALSE", "no", "No", "NO",
					      "off",   "Off",   "OFF",   "n",  "N",  NULL };
	json_t *number;

	if (is_one_of(word, nulls))
		return json_null();
	if (is_one_of(word, trues) || is_one_of(word, falses))
		return json_boolean(is_one_of(word, trues));
	number = number_read(word);
	return number ? number : json_string(word);
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

/* Adds to @object the members of a mapping merged by the key "<<" that @object does not have. */
static enum status merge_one(const yaml_node_t *key, json_t *object, json_t *merged, struct error *err)
{
	if (!json_is_object(merged))
		return node_fault(key, "<< wants a mapping, or a list of mappings", err);
	json_object_update_missing(object, merged);
	return STATUS_OK;
}

static enum status merge_read(struct reading *reading, const yaml_node_pair_t *pair, unsigned depth,
			      json_t *object, struct error *err)
{
	const yaml_node_t *key = yaml_document_get_node(&reading->document, pair->key);
	AUTO(json) json_t *value = NULL;
	enum status rc = node_read(reading, pair->value, depth + 1, &value, err);

	if (rc || !json_is_array(value))
		return rc ? rc : merge_one(key, object, value, err);
	for (size_t i = 0; !rc && i < json_array_size(value); i++)
		rc = merge_one(key, object, json_array_get(value, i), err);
	return rc;
}

static enum status member_read(struct reading *reading, const yaml_node_pair_t *pair, unsigned depth,
			       json_t *object, struct error *err)
{
	const yaml_node_t *key = yaml_document_get_node(&reading->document, pair->key);
	const char *name = (const char *)key->data.scalar.value;
	json_t *value = NULL;
	enum status rc;

	if (json_object_get(object, name))
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
				 "line %zu: duplicate object key near '%.100s'", key->start_mark.line + 1,
				 name);
	rc = node_read(reading, pair->value, depth + 1, &value, err);
	if (!rc && json_object_set_new(object, name, value))
		rc = node_fault(key, "the name of a member is not UTF-8", err);
	return rc;
}

static bool key_is_merge(const yaml_node_t *key)
{
	return key->type == YAML_SCALAR_NODE && key->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
	       strcmp((const char *)key->data.scalar.value, "<<") == 0;
}

/* Reads a mapping: first its own members, then its merges, which do not replace the mapping's own members. */
static enum status mapping_read(struct reading *reading, const yaml_node_t *node, unsigned depth,
				json_t **ret_value, struct error *err)
{
	AUTO(json) json_t *object = json_object();
	enum status rc = STATUS_OK;

	for (int merges = 0; !rc && merges < 2; merges++)
		for (const yaml_node_pair_t *pair = node->data.mapping.pairs.start;
		     !rc && pair < node->data.mapping.pairs.top; pair++) {
			const yaml_node_t *key = yaml_document_get_node(&reading->document, pair->key);

			if (key->type != YAML_SCALAR_NODE)
				rc = node_fault(key, "the name of a member is no text", err);
			else if (key_is_merge(key) != (merges == 1))
				continue;
			else if (merges)
				rc = merge_read(reading, pair, depth, object, err);
			else
				rc = member_read(reading, pair, depth, object, err);
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
		return node_fault(node, "there are too many or too deeply nested values in it", err);
	if (node->type == YAML_SEQUENCE_NODE)
		return sequence_read(reading, node, depth, ret_value, err);
	if (node->type == YAML_MAPPING_NODE)
		return mapping_read(reading, node, depth, ret_value, err);
	*ret_value = scalar_read(node);
	return *ret_value ? STATUS_OK : node_fault(node, "the text is not UTF-8", err);
}

static enum status document_read(yaml_parser_t *parser, json_t **ret_value, struct error *err)
{
	struct reading reading = { .value_count = 0 };
	enum status rc;

	if (!yaml_parser_load(parser, &reading.document))
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "line %zu: %s",
				 parser->problem_mark.line + 1,
				 parser->problem ? parser->problem : "it is not YAML");
	rc = yaml_document_get_root_node(&reading.document)
		     ? node_read(&reading, 1, 0, ret_value, err)
		     : error_set(err, STATUS_INVALID_ARGUMENT, NULL, "it is empty");
	yaml_document_delete(&reading.document);
	return rc;
}

/* Refuses a second document, which would otherwise be ignored without an error. */
static enum status end_check(yaml_parser_t *parser, struct error *err)
{
	yaml_document_t document;
	enum status rc = STATUS_OK;
	const yaml_node_t *root;

	if (!yaml_parser_load(parser, &document))
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "line %zu: %s",
				 parser->problem_mark.line + 1,
				 parser->problem ? parser->problem : "it is not YAML");
	root = yaml_document_get_root_node(&document);
	if (root)
		rc = node_fault(root, "a second document begins, but only one is read", err);
	yaml_document_delete(&document);
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
	if (!rc) {
		rc = end_check(&parser, err);
		if (rc)
			json_decref(*ret_value), *ret_value = NULL;
	}
	yaml_parser_delete(&parser);
	return rc;
}
