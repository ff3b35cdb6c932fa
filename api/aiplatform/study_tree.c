/* SPDX-License-Identifier: Apache-2.0 */
#include "api/aiplatform/study_tree.h"

#include <math.h>
#include <stdlib.h>

#include "daemon/base/memory.h"

/* Source: https://github.com/googleapis/googleapis/blob/master/google/cloud/aiplatform/v1/study.proto */
static const double same_within = 1e-10;

const struct value_kind_words value_kinds[VALUE_KIND_COUNT] = {
	[VALUE_DOUBLE] = { "DOUBLE", "doubleValueSpec", "double_value_spec", NULL, NULL },
	[VALUE_INTEGER] = { "INTEGER", "integerValueSpec", "integer_value_spec", "parentIntValues",
			    "parent_int_values" },
	[VALUE_CATEGORICAL] = { "CATEGORICAL", "categoricalValueSpec", "categorical_value_spec",
				"parentCategoricalValues", "parent_categorical_values" },
	[VALUE_DISCRETE] = { "DISCRETE", "discreteValueSpec", "discrete_value_spec", "parentDiscreteValues",
			     "parent_discrete_values" },
};

void study_tree_free(struct study_tree *tree)
{
	free(tree->parameters);
	free(tree);
}

static void tree_add(struct study_tree *tree, const json_t *spec, const json_t *dependence, int parent)
{
	struct study_parameter *grown =
		memory_realloc(tree->parameters, (tree->count + 1) * sizeof(*tree->parameters));
	const int own = (int)tree->count;
	size_t index;
	const json_t *below;

	tree->parameters = grown;
	grown[tree->count++] = (struct study_parameter){ spec, dependence, parent };
	json_array_foreach(json_object_get(spec, "conditionalParameterSpecs"), index, below) {
		const json_t *inner = json_object_get(below, "parameterSpec");

		if (inner)
			tree_add(tree, inner, below, own);
	}
}

struct study_tree *study_tree_new(const json_t *study_spec)
{
	AUTO(study_tree) struct study_tree *tree = memory_calloc(1, sizeof(*tree));
	size_t index;
	const json_t *spec;

	json_array_foreach(json_object_get(study_spec, "parameters"), index, spec) {
		tree_add(tree, spec, NULL, -1);
	}
	return TAKE(tree);
}

bool parameter_kind(const json_t *spec, enum value_kind *ret_kind, const json_t **ret_values)
{
	for (int kind = 0; kind < VALUE_KIND_COUNT; kind++) {
		const json_t *values = json_object_get(spec, value_kinds[kind].spec);

		if (!values)
			continue;
		*ret_kind = (enum value_kind)kind;
		*ret_values = values;
		return true;
	}
	return false;
}

const json_t *dependence_values(const json_t *dependence)
{
	for (int kind = 0; kind < VALUE_KIND_COUNT; kind++) {
		const json_t *condition = value_kinds[kind].condition
						  ? json_object_get(dependence, value_kinds[kind].condition)
						  : NULL;

		if (condition)
			return json_object_get(condition, "values");
	}
	return NULL;
}

bool study_values_equal(const json_t *a, const json_t *b)
{
	if (json_is_number(a) && json_is_number(b))
		return fabs(json_number_value(a) - json_number_value(b)) <= same_within;
	return json_equal((json_t *)a, (json_t *)b);
}

bool study_values_contain(const json_t *list, const json_t *value)
{
	size_t index;
	const json_t *element;

	json_array_foreach((json_t *)list, index, element) {
		if (study_values_equal(element, value))
			return true;
	}
	return false;
}

static bool are_disjoint(const json_t *a, const json_t *b)
{
	size_t index;
	const json_t *value;

	json_array_foreach((json_t *)a, index, value) {
		if (study_values_contain(b, value))
			return false;
	}
	return true;
}

static unsigned depth_of(const struct study_tree *tree, int index)
{
	unsigned depth = 0;

	while ((index = tree->parameters[index].parent) >= 0)
		depth++;
	return depth;
}

bool parameters_exclude(const struct study_tree *tree, size_t a, size_t b)
{
	const struct study_parameter *parameters = tree->parameters;
	int one = (int)a, other = (int)b;

	while (depth_of(tree, one) > depth_of(tree, other))
		one = parameters[one].parent;
	while (depth_of(tree, other) > depth_of(tree, one))
		other = parameters[other].parent;
	if (one == other)
		return false;
	while (parameters[one].parent != parameters[other].parent) {
		one = parameters[one].parent;
		other = parameters[other].parent;
	}
	return parameters[one].parent >= 0 && are_disjoint(dependence_values(parameters[one].dependence),
							   dependence_values(parameters[other].dependence));
}
