/* SPDX-License-Identifier: Apache-2.0 */
/* Ordered faults and what they hit, as no_memory_testing.h says. */
#include "tests/unit/store/no_memory_testing.h"

static void hits_prepare(void *arg, unsigned number)
{
	struct world *world = arg;
	struct job_change change = { .from = JOB_QUEUED, .to = JOB_QUEUED, .hit_count = 1 };
	struct fault_hit hit;
	int64_t fault;

	fault_prepare(arg, number);
	fault = world->job;
	job_prepare(arg, number);
	hit = hit_of(world, fault);
	change.job = world->job;
	change.hits = &hit;
	assert_int_equal(job_apply(world->bench.store, &change, 1, NULL), STATUS_OK);
}

MEMORY_RUN(fault_add)
{
	WORLD;

	return fault_insert(store, "{\"rule\":1}", true, &world->job, err);
}

MEMORY_RUN(fault_remove)
{
	WORLD;

	return fault_delete(store, world->job, err);
}

MEMORY_RUN(faults_remove)
{
	WORLD;

	return fault_delete_all(store, err);
}

MEMORY_RUN(fault_hit_count)
{
	WORLD;

	return fault_count(store, world->job, 3, err);
}

MEMORY_RUN(fault_list)
{
	WORLD;
	struct fault_list list AUTO_FAULT_LIST = { 0 };
	enum status rc = fault_list_read(store, &list, err);

	for (size_t i = 0; !rc && i < list.count; i++)
		text_printf(ret_said, "%s;", list.faults[i].rule);
	return rc;
}

static void hits_say(const struct fault_hit_list *list, struct text *said)
{
	for (size_t i = 0; i < list->count; i++)
		text_printf(said, "%d %s;", list->hits[i].kind, list->hits[i].line);
}

MEMORY_RUN(fault_hits_job)
{
	WORLD;
	struct fault_hit_list list AUTO_FAULT_HIT_LIST = { 0 };
	enum status rc = fault_hits_of_job(store, world->job, &list, err);

	hits_say(&list, ret_said);
	return rc;
}

static void hits_once(void *arg, unsigned number)
{
	if (number == 0)
		hits_prepare(arg, number);
}

static void faults_once(void *arg, unsigned number)
{
	for (unsigned i = 0; number == 0 && i < 9; i++)
		fault_prepare(arg, i);
}

MEMORY_RUN(fault_hits_all)
{
	WORLD;
	struct fault_hit_list list AUTO_FAULT_HIT_LIST = { 0 };
	enum status rc = fault_hits_open(store, &list, err);

	hits_say(&list, ret_said);
	return rc;
}

static struct fault_mark mark_of(const struct world *world, unsigned index)
{
	return (struct fault_mark){ .job = world->job, .attempt = 1, .index = index, .fault = 1 };
}

MEMORY_RUN(fault_mark)
{
	WORLD;
	const struct fault_mark mark = mark_of(world, 0);

	return fault_mark_put(store, &mark, err);
}

static void marks_once(void *arg, unsigned number)
{
	struct world *world = arg;

	if (number > 0)
		return;
	job_prepare(arg, number);
	for (unsigned i = 0; i < 9; i++) {
		const struct fault_mark mark = mark_of(world, i);

		assert_int_equal(fault_mark_put(world->bench.store, &mark, NULL), STATUS_OK);
	}
}

static enum status mark_say(void *arg, const struct fault_mark *mark, struct error *err)
{
	struct text *said = arg;

	(void)err;
	text_printf(said, "%u of %lld;", mark->index, (long long)mark->fault);
	return STATUS_OK;
}

MEMORY_RUN(fault_marks)
{
	WORLD;

	return fault_marks_read(store, mark_say, ret_said, err);
}

static const struct memory_operation operations[] = {
	CHANGES("fault_insert", NULL, fault_add),
	CHANGES("fault_delete", fault_prepare, fault_remove),
	CHANGES("fault_delete_all", fault_prepare, faults_remove),
	CHANGES("fault_count", fault_prepare, fault_hit_count),
	READS("fault_list_read", faults_once, fault_list),
	READS("fault_hits_of_job", hits_prepare, fault_hits_job),
	READS("fault_hits_open", hits_once, fault_hits_all),
	CHANGES("fault_mark_put", job_prepare, fault_mark),
	READS("fault_marks_read", marks_once, fault_marks),
};

int main(void)
{
	struct CMUnitTest tests[COUNT_OF(operations)];

	memory_faults_init();
	memory_tests_fill(tests, operations, COUNT_OF(operations), world_open, world_close);
	return cmocka_run_group_tests_name("faults without memory", tests, NULL, NULL);
}
