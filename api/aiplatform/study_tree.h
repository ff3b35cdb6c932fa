/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/aiplatform/study_tree.h: the parameters of a StudySpec as a list, including conditional ones.
 *
 * Pure. Thread: any. */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "daemon/base/cleanup.h"

struct study_parameter {
	const json_t *spec;       /* ParameterSpec; borrowed */
	const json_t *dependence; /* the enclosing ConditionalParameterSpec, or NULL; borrowed */
	int parent;               /* index, or -1 */
};

struct study_tree {
	struct study_parameter *parameters; /* each parameter comes before those that depend on it */
	size_t count;
};

void study_tree_free(struct study_tree *tree);
DEFINE_AUTO(study_tree, struct study_tree *, study_tree_free)

/* Makes the tree of the study's parameters; release it with study_tree_free(). */
struct study_tree *study_tree_new(const json_t *study_spec);

/* The kind of a parameter's values. */
enum value_kind { VALUE_DOUBLE, VALUE_INTEGER, VALUE_CATEGORICAL, VALUE_DISCRETE, VALUE_KIND_COUNT };
struct value_kind_words {
	const char *noun;                        /* "INTEGER" */
	const char *spec, *spec_snake;           /* "integerValueSpec" */
	const char *condition,
		*condition_snake; /* "parentIntValues"; NULL: no parameter can depend on this kind */
};
extern const struct value_kind_words value_kinds[VALUE_KIND_COUNT];

/* Finds the kind of @spec, a ParameterSpec; *ret_values is its …ValueSpec. False: @spec has none. */
bool parameter_kind(const json_t *spec, enum value_kind *ret_kind, const json_t **ret_values);
/* The parent's values for which the parameter of a ConditionalParameterSpec is active: an array, or NULL. */
const json_t *dependence_values(const json_t *dependence);
/* True if two values of a parameter are equal; numbers may differ by 1e-10. */
bool study_values_equal(const json_t *a, const json_t *b);
bool study_values_contain(const json_t *list, const json_t *value);
/* True if two parameters are never active in the same trial, because they need different values of a parent. */
bool parameters_exclude(const struct study_tree *tree, size_t a, size_t b);
