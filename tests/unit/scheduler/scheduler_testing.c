/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/scheduler/scheduler_testing.h"

static int64_t test_wall_ns(void *arg)
{
	struct test_clock *clock = arg;

	return clock_wall_ns(&clock->step.clock) + atomic_load(&clock->jumped_ns);
}

static int64_t test_mono_us(void *arg)
{
	struct test_clock *clock = arg;
	const int64_t stands_us = atomic_load(&clock->stands_us);

	return stands_us ? stands_us + atomic_load(&clock->step.moved_us) : clock_mono_us(&clock->step.clock);
}

static int64_t test_ahead_ns(void *arg)
{
	return clock_ahead_ns(&((struct test_clock *)arg)->step.clock);
}

static void test_clock_init(struct test_clock *clock)
{
	step_clock_init(&clock->step, 0);
	atomic_init(&clock->jumped_ns, 0);
	atomic_init(&clock->stands_us, 0);
	clock->clock = (struct clock){ test_wall_ns, test_mono_us, clock, test_ahead_ns };
}

void wall_jump(struct bench *bench, int64_t by_ns)
{
	atomic_fetch_add(&bench->clock.jumped_ns, by_ns);
}

void clock_step(struct bench *bench, int64_t by_ns)
{
	step_clock_move(&bench->clock.step, by_ns);
	scheduler_clock_stepped(bench->scheduler);
}

void daemon_start(struct bench *bench)
{
	struct inventory inventory = { 0 };
	const struct scheduler_node others[] = { { "b", { .automatic = true } } };
	struct engine *engines[2];
	struct engine_sink sink;

	snprintf(bench->trials_dir, sizeof(bench->trials_dir), "%s/trials", bench->directory);
	assert_int_equal(inventory_parse(bench->gpus, &inventory, NULL), STATUS_OK);
	assert_int_equal(store_open(bench->directory, &bench->clock.clock, &bench->store, NULL), STATUS_OK);
	assert_int_equal(fault_registry_open(bench->store, 0, &bench->faults, NULL), STATUS_OK);
	bench->scheduler = scheduler_new(&(struct scheduler_options){
		.store = bench->store,
		.clock = &bench->clock.clock,
		.project_number = "42",
		.stop_grace_s = 1,
		.retry_pause_ms = 1,
		.node_patience_s = NODE_PATIENCE_S,
		.capacity = bench->capacity,
		.inventory = inventory,
		.others = others,
		.other_count = bench->other != NULL,
		.later_max = 1,
		.nodes_span = bench->span,
		.trials_dir = bench->trials_dir,
		.gateway = bench->gateway,
		.gcs = bench->gcs,
		.adc = bench->adc,
		.wheels = bench->wheels,
		.faults = bench->faults,
		.cut_off = bench->cut_off,
		.suggest = bench->suggest,
		.pooled_network_ms = bench->pooled_network_ms,
	});
	inventory_deinit(&inventory);
	sink = scheduler_sink(bench->scheduler, 0);
	engines[0] = fake_engine_open(bench->fake, &sink);
	if (bench->other) {
		sink = scheduler_sink(bench->scheduler, 1);
		engines[1] = fake_engine_open(bench->other, &sink);
	}
	assert_int_equal(scheduler_start(bench->scheduler, engines, NULL), STATUS_OK);
}

void daemon_stop(struct bench *bench)
{
	scheduler_stop(bench->scheduler);
	store_close(bench->store);
	scheduler_free(bench->scheduler);
	fault_registry_free(bench->faults);
}

int bench_setup(void **state)
{
	struct bench *bench = calloc(1, sizeof(*bench));

	test_clock_init(&bench->clock);
	bench->capacity = (struct capacity){ .max_jobs = 8, .max_containers = 64 };
	bench->gpus = "auto";
	strcpy(bench->directory, "/tmp/trainyard-test-XXXXXX");
	assert_non_null(mkdtemp(bench->directory));
	bench->fake = fake_engine_new();
	daemon_start(bench);
	*state = bench;
	return 0;
}

int remove_entry(const char *path, const struct stat *status, int type, struct FTW *place)
{
	(void)status, (void)type, (void)place;
	return remove(path);
}

int bench_teardown(void **state)
{
	struct bench *bench = *state;

	daemon_stop(bench);
	fake_engine_free(bench->fake);
	nftw(bench->directory, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	free(bench);
	return 0;
}

void order(struct bench *bench, const char *text)
{
	AUTO(json) json_t *canonical = json_loads(text, 0, NULL);
	int64_t id;

	assert_non_null(canonical);
	assert_int_equal(fault_registry_add(bench->faults, canonical, false, &id, NULL), STATUS_OK);
}

void calls_await(struct bench *bench, enum fake_operation operation, unsigned count)
{
	for (int waited_ms = 0; fake_engine_calls(bench->fake, operation) < count; waited_ms++) {
		if (waited_ms >= WAIT_MS)
			fail_msg("%u of %u calls", fake_engine_calls(bench->fake, operation), count);
		usleep(1000);
	}
}

void pool_fill(struct pool *pool, const struct shape *shape, const char *image, unsigned count)
{
	pool->count = count;
	pool->image = strdup(image);
	pool->machine_type = shape->machine_type ? strdup(shape->machine_type) : NULL;
	pool->accelerator_type = shape->gpus ? strdup("NVIDIA_TESLA_T4") : NULL;
	pool->accelerator_count = shape->gpus;
}

int64_t plan_store(struct bench *bench, const struct plan *plan)
{
	AUTO(string) char *text = plan_to_text(plan);
	AUTO(job) struct job *stored = NULL;

	assert_non_null(text);
	assert_int_equal(job_insert(bench->store,
				    &(struct job){ .project = plan->project,
						   .job_id = plan->job_id,
						   .priority = plan->priority,
						   .input = (char *)"{}",
						   .output = (char *)"{}",
						   .plan = text,
						   .traits = plan_tunes(plan) ? JOB_TRAIT_SEARCH : 0,
						   .gpu_count = plan_accelerator_count(plan),
						   .max_wait_us = plan->max_wait_us },
				    NULL, 0, &stored, NULL),
			 STATUS_OK);
	return stored->id;
}

int64_t shape_submit(struct bench *bench, const char *job_id, const struct shape *shape)
{
	AUTO(plan) struct plan *plan = plan_named(shape->project, job_id);

	plan->priority = shape->priority;
	plan->restarts_whole = shape->restarts_whole;
	plan->mounts_gcs = shape->mounts_gcs;
	plan->max_running_us = shape->max_running_us;
	plan->max_wait_us = shape->max_wait_us;
	pool_fill(&plan->pools[ROLE_MASTER], shape, "image:1", 1);
	pool_fill(&plan->pools[ROLE_WORKER], shape, "image:2", shape->workers);
	return plan_store(bench, plan);
}

int64_t bench_submit(struct bench *bench, const char *job_id, unsigned workers, int priority)
{
	return shape_submit(bench, job_id,
			    &(struct shape){ .project = "p", .workers = workers, .priority = priority });
}

struct replica_key key_of(int64_t job, enum role role, unsigned index)
{
	return (struct replica_key){ .job = job, .attempt = 1, .role = role, .index = index };
}

void job_await(struct bench *bench, int64_t id, enum job_state wanted)
{
	for (int i = 0; i < WAIT_MS; i++) {
		AUTO(job) struct job *job = NULL;

		assert_int_equal(job_get_by_id(bench->store, id, &job, NULL), STATUS_OK);
		if (job->state == wanted)
			return;
		usleep(1000);
	}
	fail_msg("job %d never became %s", (int)id, job_state_name(wanted));
}

void state_check(struct bench *bench, int64_t id, enum job_state state)
{
	AUTO(job) struct job *job = NULL;

	assert_int_equal(job_get_by_id(bench->store, id, &job, NULL), STATUS_OK);
	assert_string_equal(job_state_name(job->state), job_state_name(state));
}

void taken_up_await(struct bench *bench, const char *job_id)
{
	const int64_t id = bench_submit(bench, job_id, 0, 0);

	assert_int_equal(job_cancel(bench->store, "p", job_id, "enough", NULL), STATUS_OK);
	scheduler_wake(bench->scheduler, id);
	job_await(bench, id, JOB_CANCELLED);
}

void line_collect(void *arg, const struct log_entry *entry)
{
	struct text *text = arg;

	text_append(text, entry->payload, entry->payload_length);
	text_putc(text, '\n');
}

char *service_log(struct bench *bench, const char *job_id)
{
	struct text text AUTO_TEXT = { 0 };
	AUTO(string) char *filter = NULL;
	AUTO(string) char *token = NULL;
	const char *project = "p";

	assert_true(asprintf(&filter, "resource.labels.job_id=\"%s\"", job_id) > 0);
	assert_int_equal(log_query_run(bench->store,
				       &(struct log_query){ .projects = &project,
							    .project_count = 1,
							    .filter = filter,
							    .page_size = 1000,
							    .now_ns = clock_wall_ns(&bench->clock.clock) },
				       line_collect, &text, &token, NULL),
			 STATUS_OK);
	return text_take(&text);
}

void line_await(struct bench *bench, const char *job_id, const char *part)
{
	for (int i = 0; i < WAIT_MS; i++) {
		AUTO(string) char *log = service_log(bench, job_id);

		if (strstr(log, part))
			return;
		usleep(1000);
	}
	fail_msg("the log of %s never said: %s", job_id, part);
}

void engine_leave(struct bench *bench, int64_t id, const char *job_id)
{
	fake_engine_up(bench->fake);
	job_await(bench, id, JOB_RUNNING);
	fake_engine_down(bench->fake, "gone");
	line_await(bench, job_id, "Waiting for the container engine: gone");
}

unsigned count_in(const char *text, const char *part)
{
	unsigned count = 0;

	for (const char *at = text; at && (at = strstr(at, part)); at += strlen(part))
		count++;
	return count;
}

unsigned count_in_log(struct bench *bench, const char *job_id, const char *part)
{
	AUTO(string) char *log = NULL;

	assert_int_equal(log_flush(bench->store, NULL), STATUS_OK);
	log = service_log(bench, job_id);
	return count_in(log, part);
}

void job_check_error(struct bench *bench, int64_t id, enum job_state state, const char *error_part)
{
	AUTO(job) struct job *job = NULL;

	assert_int_equal(job_get_by_id(bench->store, id, &job, NULL), STATUS_OK);
	assert_string_equal(job_state_name(job->state), job_state_name(state));
	assert_true(job->ended_us != 0);
	assert_true(job->running_us != 0 || state != JOB_SUCCEEDED);
	if (error_part) {
		assert_non_null(job->error_message);
		if (!strstr(job->error_message, error_part))
			fail_msg("errorMessage is: %s", job->error_message);
	} else {
		assert_null(job->error_message);
	}
}

void network_free_await(struct bench *bench)
{
	for (int i = 0; i < WAIT_MS && fake_engine_network_count(bench->fake); i++)
		usleep(1000);
}

void job_check(struct bench *bench, int64_t id, enum job_state state, const char *error_part)
{
	job_check_error(bench, id, state, error_part);
	assert_int_equal(fake_engine_container_count(bench->fake), 0);
	network_free_await(bench); /* goes beside the end */
	assert_int_equal(fake_engine_network_count(bench->fake), 0);
}

void idle_await(struct bench *bench)
{
	assert_true(scheduler_wait_idle(bench->scheduler, WAIT_MS));
}
