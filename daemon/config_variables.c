/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/config_variables.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/memory.h"
#include "daemon/base/nearest.h"
#include "daemon/base/text.h"
#include "daemon/config_items.h"

/* Variables that are not options: clients read all of them, and the daemon reads the last one. */
static const char *const of_clients[] = { "TRAINYARD_ENDPOINT", "TRAINYARD_GRPC_ENDPOINT", "TRAINYARD_TOKEN" };

/* Variables for the tests, scripts and benches of the source tree, which also start the daemon with them. */
static const char *const of_source_tree[] = { "TRAINYARD_PLAIN",       "TRAINYARD_CLIENTS",
					      "TRAINYARD_COVERAGE",    "TRAINYARD_GCLOUD",
					      "TRAINYARD_BENCH_LINES", "TRAINYARD_LAUNCHER_PYTHON",
					      "TRAINYARD_REACHING",    "TRAINYARD_ENGINE_RUN",
					      "TRAINYARD_ENGINE_DATA" };
static const char of_tests[] = "TRAINYARD_TEST_";

#define COUNT_OF(ARRAY) (sizeof(ARRAY) / sizeof((ARRAY)[0]))

static bool is_one_of(const char *const *names, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

static bool is_known(const char *name)
{
	for (const struct config_item *item = config_items; item->name; item++)
		if (strcmp(item->environment, name) == 0)
			return true;
	return is_one_of(of_clients, COUNT_OF(of_clients), name) ||
	       is_one_of(of_source_tree, COUNT_OF(of_source_tree), name) ||
	       strncmp(name, of_tests, strlen(of_tests)) == 0;
}

void config_unknown_variables(void (*tell)(const char *name, const char *hint))
{
	static const char begin[] = "TRAINYARD_";

	for (char **variable = environ; variable && *variable; variable++) {
		const size_t length = strcspn(*variable, "=");
		AUTO(string) char *name = memory_strndup(*variable, length);
		struct nearest nearest = { .wanted = name };
		char hint[NEAREST_HINT_SIZE];

		if (strncmp(name, begin, strlen(begin)) != 0 || (*variable)[length] == '\0' ||
		    (*variable)[length + 1] == '\0' || is_known(name))
			continue;
		nearest.wanted += strlen(begin);
		for (const struct config_item *item = config_items; item->name; item++)
			nearest_look(&nearest, item->environment + strlen(begin));
		for (size_t i = 0; i < COUNT_OF(of_clients); i++)
			nearest_look(&nearest, of_clients[i] + strlen(begin));
		text_make_harmless(name);
		tell(name, nearest_hint(&nearest, begin, hint));
	}
}
