/* SPDX-License-Identifier: Apache-2.0 */
/* Names of logs and of their projects.
 *
 * What must hold beside not crashing: what is refused is INVALID_ARGUMENT; a log's name, written out again, is the same;
 * in it and in a project's there is no slash. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api/logging/resource_name.h"
#include "api/logging/routes.h"
#include "daemon/base/cleanup.h"
#include "daemon/base/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct logging_context context = { .project_id = "id-of-it", .project_number = "42" };

static void require(bool holds)
{
	if (!holds)
		abort();
}

/* Fails with: log_name_read() with '/' among what may stand there. */
static void log_try(const char *name, bool again)
{
	AUTO(string) char *project = NULL;
	AUTO(string) char *log = NULL;
	struct text whole AUTO_TEXT = { 0 };
	struct error err AUTO_ERROR = { 0 };
	const enum status rc = log_name_read(&context, name, &project, &log, &err);

	require(!rc || (rc == STATUS_INVALID_ARGUMENT && err.text && !again));
	if (rc)
		return;
	require(*project && !strchr(project, '/') && strcmp(project, context.project_number) != 0);
	require(*log && strlen(log) < 512 && !strchr(log, '/'));
	text_printf(&whole, "projects/%s/logs/%s", project, log);
	require(!again || strcmp(whole.data, name) == 0);
	if (!again)
		log_try(whole.data, true);
}

static void resource_try(const char *name)
{
	AUTO(string) char *project = NULL;
	struct error err AUTO_ERROR = { 0 };
	const enum status rc = resource_name_read(&context, name, &project, &err);

	require(!rc || (rc == STATUS_INVALID_ARGUMENT && err.text && !project));
	require(!project || (*project && !strchr(project, '/') && strncmp(name, "projects/", 9) == 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(string) char *name = malloc(size + 1);

	if (!name)
		return 0;
	if (size)
		memcpy(name, data, size);
	name[size] = '\0';
	log_try(name, false);
	resource_try(name);
	return 0;
}
