/* SPDX-License-Identifier: Apache-2.0 */
/* Prints all rows of the API in their order, for the tests that try them all: method, path, access (TOKEN: a client
 * that has it, where one is wanted; OPEN: any), and which types of content are taken (JSON; OBJECT: any but those that pages
 * send unasked, except text/plain; ANY). */
#include <stdio.h>
#include <string.h>

#include "daemon/config.h"
#include "daemon/families.h"
#include "tests/unit/store/store_testing.h"

static const char *const types[] = {
	[PAGE_TYPES_NONE] = "JSON", [PAGE_TYPES_TEXT] = "OBJECT", [PAGE_TYPES_ALL] = "ANY"
};

int main(void)
{
	static char project[] = "p";
	static const struct config config = { .project = project };
	static struct families families;
	void *state = NULL;
	struct bench *bench;

	if (bench_open(&state))
		return 1;
	bench = state;
	/* Storage is served; its contents do not matter here. */
	families_fill(&families, &(struct families_parts){ .config = &config,
							   .store = bench->store,
							   .objects = (struct objects *)bench });
	for (const struct family *family = families.served; family->name; family++) {
		const char *omitted = family->omitted ? family->omitted : "";

		for (const struct route *route = family->routes; route->method; route++)
			if (strncmp(route->path, omitted, strlen(omitted)) == 0)
				printf("%s %s %s %s\n", route->method, route->path + strlen(omitted),
				       route->open ? "OPEN" : "TOKEN", types[route->page_types]);
	}
	return bench_close(&state);
}
