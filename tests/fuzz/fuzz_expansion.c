/* SPDX-License-Identifier: Apache-2.0 */
/* $(NAME) in what a client gives its containers: the first line is the word, the others are the environment.
 *
 * What must hold beside not crashing: nothing that is taken reaches the limit, a word without a dollar is itself, and
 * the environment is not touched. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/json.h"
#include "scheduler/plan/expansion.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LIMIT = 4096 };

static void expect(bool holds)
{
	if (!holds)
		abort();
}

static void environment_try(const json_t *environment)
{
	AUTO(json) json_t *own = json_copy((json_t *)environment);
	const json_t *variable;
	size_t index;

	json_array_foreach((json_t *)environment, index, variable)
		environment_set(own, json_string_value(variable));
	expect(json_array_size(own) <= 2 * json_array_size(environment));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(string) char *text = strndup(size ? (const char *)data : "", size);
	AUTO(json) json_t *environment = json_array();
	struct text expanded AUTO_TEXT = { 0 };
	char *rest = text;
	const char *word = text ? strsep(&rest, "\n") : NULL;

	if (!word || !environment)
		return 0;
	for (char *variable; (variable = strsep(&rest, "\n"));)
		if (strchr(variable, '=') && utf8_valid(variable, strlen(variable)))
			expect(json_array_append_new(environment, json_string(variable)) == 0);
	if (text_expand(word, environment, LIMIT, &expanded)) {
		expect(!expanded.failed && expanded.length < LIMIT);
		expect(strchr(word, '$') || strcmp(word, expanded.length ? expanded.data : "") == 0);
	}
	environment_try(environment);
	return 0;
}
