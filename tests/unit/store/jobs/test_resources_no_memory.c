/* SPDX-License-Identifier: Apache-2.0 */
/* Resources and operations, as no_memory_testing.h says. */
#include "store/jobs/operations.h"
#include "tests/unit/store/no_memory_testing.h"

static void ended_prepare(void *arg, unsigned number)
{
	custom_prepare(arg, number);
	step(arg, JOB_QUEUED, JOB_FAILED);
}

static struct resource resource_of(struct world *world)
{
	return (struct resource){ KIND_CUSTOM, "demo", PLACE, world->id };
}

/* An operation that tells of a deletion. */
static void operation_prepare(void *arg, unsigned number)
{
	struct world *world = arg;
	struct operation operation AUTO_OPERATION = { 0 };
	struct resource resource;

	ended_prepare(arg, number);
	resource = resource_of(world);
	assert_int_equal(resource_delete(world->bench.store, &resource, &operation, NULL), STATUS_OK);
	snprintf(world->operation_id, sizeof(world->operation_id), "%s", operation.operation_id);
}

MEMORY_RUN(resource_read)
{
	WORLD;
	const struct resource resource = resource_of(world);
	AUTO(job) struct job *job = NULL;
	enum status rc = resource_get(store, &resource, &job, err);

	if (!rc)
		job_say(job, ret_said);
	return rc;
}

static void three_resources(void *arg, unsigned number)
{
	for (unsigned i = 0; number == 0 && i < 3; i++)
		custom_prepare(arg, i);
}

MEMORY_RUN(resource_list)
{
	const struct resource resource = { KIND_CUSTOM, "demo", PLACE, NULL };

	return page_say(arg, &resource,
			"state=\"JOB_STATE_PENDING\" AND (display_name=\"m*\" OR labels.team=\"blue\")",
			ret_said, err);
}

MEMORY_RUN(resource_stop)
{
	WORLD;
	const struct resource resource = resource_of(world);

	return resource_cancel(store, &resource, "stop", err);
}

MEMORY_RUN(resource_remove)
{
	WORLD;
	const struct resource resource = resource_of(world);
	struct operation operation AUTO_OPERATION = { 0 };
	enum status rc = resource_delete(store, &resource, &operation, err);

	if (!rc)
		text_puts(ret_said, operation.location);
	return rc;
}

static struct operation_name operation_of(struct world *world)
{
	return (struct operation_name){ .project = "demo", .location = PLACE, .id = world->operation_id };
}

MEMORY_RUN(operation_read)
{
	WORLD;
	const struct operation_name name = operation_of(world);
	struct operation operation AUTO_OPERATION = { 0 };
	enum status rc = operation_get(store, &name, &operation, err);

	if (!rc)
		text_puts(ret_said, operation.location);
	return rc;
}

MEMORY_RUN(operation_forget)
{
	WORLD;
	const struct operation_name name = operation_of(world);

	return operation_delete(store, &name, err);
}

static void three_operations(void *arg, unsigned number)
{
	for (unsigned i = 0; number == 0 && i < 3; i++)
		operation_prepare(arg, i);
}

MEMORY_RUN(operation_list)
{
	WORLD;
	const struct operation_name name = { .project = "demo", .location = PLACE };
	AUTO(string) char *token = NULL;
	enum status rc;

	do {
		struct operation_list list AUTO_OPERATION_LIST = { 0 };

		rc = operation_list_page(store, &name, "done=true", 2, token, &list, err);
		for (size_t i = 0; !rc && i < list.count; i++)
			text_printf(ret_said, "%s;", list.operations[i].target);
		free(token);
		token = TAKE(list.next_page_token);
	} while (!rc && token);
	return rc;
}

/* Broken: a job's location that found no memory was taken for a NULL that cannot be (resource_delete). */
static const struct memory_operation operations[] = {
	READS("resource_get", ended_prepare, resource_read),
	READS("resource_list_page", three_resources, resource_list),
	CHANGES("resource_cancel", custom_prepare, resource_stop),
	CHANGES("resource_delete", ended_prepare, resource_remove),
	READS("operation_get", operation_prepare, operation_read),
	READS("operation_list_page", three_operations, operation_list),
	CHANGES("operation_delete", operation_prepare, operation_forget),
};

int main(void)
{
	struct CMUnitTest tests[COUNT_OF(operations)];

	memory_faults_init();
	memory_tests_fill(tests, operations, COUNT_OF(operations), world_open, world_close);
	return cmocka_run_group_tests_name("resources without memory", tests, NULL, NULL);
}
