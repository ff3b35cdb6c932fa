/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/training/runtime_map.h: the image in which a job's Python packages run.
 *
 * A rule is VERSION[/PYTHON][/cpu|/gpu]=IMAGE: "2.11=trainyard-runtime", "2.11/3.7/gpu=mine:gpu", "* /3.7=mine"
 * (without the blank). A star stands for any version, and so does a missing part. The first matching rule counts; after
 * all rules come the defaults: the framework images that Google publishes.
 *
 * Pure. Thread: any. */
#include <stdbool.h>
#include <stddef.h>

#include "daemon/base/error.h"

/* True for a runtime version of the service, with @python or, if that is NULL, with any Python. */
bool runtime_known(const char *version, const char *python);
/* Returns @python; if that is NULL, "2.7" for the runtime versions that had it as the default (before 2.0, until the
 * service required a version); NULL: no Python version. @version may be NULL. Source: the field's description as
 * clients of 2018 repeat it: "If not set, the default version is '2.7'." */
const char *runtime_python(const char *version, const char *python);
/* Compares by numbers: 2.10 is more than 2.9. @version consists of digits and dots. */
bool runtime_at_least(const char *version, unsigned long major, unsigned long minor);

struct runtime_map {
	char *const *rules; /* each accepted by runtime_rule_valid(); borrowed */
	size_t count;
};

struct runtime {
	const char *version; /* "2.11" */
	const char *python;  /* "3.7" */
	bool gpu;
};

/* Whether @rule has the form VERSION[/PYTHON][/cpu|/gpu]=IMAGE that is described above. */
bool runtime_rule_valid(const char *rule);

/* The image, which the caller frees; @map may be NULL. *ret_default: it is a default, not from a rule.
 * FAILED_PRECONDITION: neither a rule nor a default matches @runtime. */
enum status runtime_map_find(const struct runtime_map *map, const struct runtime *runtime, char **ret_image,
			     bool *ret_default, struct error *err);
/* As the function above, but only by the rules: *ret_image is NULL if none matches. */
void runtime_map_rule(const struct runtime_map *map, const struct runtime *runtime, char **ret_image);
/* Whether an image is one of the defaults. */
bool is_framework_image(const char *image);
