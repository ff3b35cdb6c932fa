/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/training/runtime_map.h: which image a job's Python packages run in.
 *
 * A rule is VERSION[/PYTHON][/cpu|/gpu]=IMAGE: "2.11=trainyard-runtime", "2.11/3.7/gpu=mine:gpu",
 * "* /3.7=mine" (without the blank). A star stands for any version; what is left out, for any. The first rule that
 * fits counts; after all rules come the defaults: the framework images that Google publishes.
 *
 * Pure. Thread: any. */
#include <stdbool.h>
#include <stddef.h>

#include "daemon/base/error.h"

/* True for a runtime version that the service takes, with @python or, when that is NULL, with any Python. */
bool runtime_known(const char *version, const char *python);
/* @python, or where a job names none the 2.7 that runtime versions before 2.0 had by default, until the service wanted it
 * named; NULL: none. @version may be NULL.
 * Source: the field's description as clients of 2018 repeat it: "If not set, the default version is '2.7'." */
const char *runtime_python(const char *version, const char *python);
/* Compared by numbers: 2.10 is more than 2.9. @version is digits and dots. */
bool runtime_at_least(const char *version, unsigned long major, unsigned long minor);

struct runtime_map {
	char *const *rules; /* each one that runtime_rule_valid() takes; borrowed */
	size_t count;
};

struct runtime {
	const char *version; /* "2.11" */
	const char *python;  /* "3.7" */
	bool gpu;
};

/* Numbers joined by dots or a star, and after the equals sign the reference of an image. */
bool runtime_rule_valid(const char *rule);

/* The image, which the caller frees; @map may be NULL. *ret_default says that no rule gave it.
 * FAILED_PRECONDITION: neither a rule nor a default is about @runtime. */
enum status runtime_map_find(const struct runtime_map *map, const struct runtime *runtime, char **ret_image,
			     bool *ret_default, struct error *err);
/* The same by the rules alone: *ret_image is NULL when none fits. */
void runtime_map_rule(const struct runtime_map *map, const struct runtime *runtime, char **ret_image);
/* Whether an image is one that the defaults name. */
bool is_framework_image(const char *image);
