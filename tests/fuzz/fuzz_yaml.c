/* SPDX-License-Identifier: Apache-2.0 */
/* A YAML file that `trainyard submit -f` reads.
 *
 * What must hold beside not crashing: what is refused is INVALID_ARGUMENT in one line; what is taken has no more values and
 * levels than the limits say, aliases written out, and is the same after it was written and read as JSON. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/json.h"
#include "daemon/base/yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool holds)
{
	if (!holds)
		abort();
}

/* Recursive, as deep as YAML_DEPTH_MAX. */
static size_t values_count(const json_t *value, unsigned depth)
{
	size_t count = 1, index;
	const char *key;
	json_t *member;

	expect(depth <= YAML_DEPTH_MAX + 1);
	json_object_foreach((json_t *)value, key, member)
		count += values_count(member, depth + 1);
	json_array_foreach(value, index, member)
		count += values_count(member, depth + 1);
	return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error err AUTO_ERROR = { 0 };
	AUTO(json) json_t *value = NULL, *again = NULL;

	if (yaml_read((const char *)data, size, &value, &err)) {
		expect(err.status == STATUS_INVALID_ARGUMENT && err.text && *err.text &&
		       !strchr(err.text, '\n'));
		return 0;
	}
	expect(value && values_count(value, 1) <= YAML_VALUES_MAX);
	AUTO(string) char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);

	expect(text != NULL);
	again = json_loads(text, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
	expect(again && json_equal(value, again));
	return 0;
}
