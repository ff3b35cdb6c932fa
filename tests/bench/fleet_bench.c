/* SPDX-License-Identifier: Apache-2.0 */
/* What placing jobs on many nodes costs: a queue is worked off on a simulated fleet, in simulated time.
 *
 *     fleet_bench [NODES [JOBS]]     default: 1000 nodes with 8 GPUs each, 100000 queued jobs
 *
 * Prints decisions a second of CPU time, the CPU time of a placement, and how full the fleet was. Ends with status 1 if a device is given
 * twice, a node gives more than it has, or a job is not placed whole. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "scheduler/plan/fleet.h"

enum { DEVICES = 8, NODE_CPUS = 96, SHAPES = 8, CHECK_EACH = 2000, MODELS = 4 };
#define NODE_BYTES (INT64_C(360) << 30)

/* A kind of job: its workers, and how frequent it is. */
static const struct shape {
	const char *machine;
	unsigned workers, gpus, servers, weight;
} shapes[SHAPES] = {
	{ "n1-standard-8", 0, 1, 0, 30 },  { "n1-standard-4", 2, 0, 1, 20 },
	{ "n1-standard-8", 4, 1, 0, 12 },  { "n1-standard-16", 2, 2, 0, 10 },
	{ "n1-standard-4", 31, 0, 4, 20 }, { "n1-standard-32", 3, 4, 0, 5 },
	{ "n1-standard-96", 7, 8, 0, 2 },  { "n1-standard-96", 31, 8, 0, 1 },
};

struct running {
	const struct plan *plan;
	struct assignment *assignment;
	unsigned *nodes;
	int64_t end;
};

struct simulation {
	struct fleet fleet;
	struct room *rooms;
	json_t *labels[MODELS];
	char (*names)[32];
	struct plan *plans[SHAPES * MODELS];
	struct running *running; /* a heap, ordered by end */
	size_t running_count;
	unsigned *queue, replicas, devices, most_replicas;
	int64_t now;
	uint64_t seed;
	float *placed_us, *waited_us;
	size_t placed_count, waited_count;
};

static unsigned random_below(struct simulation *sim, unsigned bound)
{
	sim->seed ^= sim->seed >> 12;
	sim->seed ^= sim->seed << 25;
	sim->seed ^= sim->seed >> 27;
	return (unsigned)((sim->seed * UINT64_C(2685821657736338717)) >> 33) % bound;
}

/* CPU time of this thread, so that other processes of the machine do not count. */
static double cpu_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

/* ---- the fleet and its jobs ---- */

static void pool_set(struct plan *plan, enum role role, unsigned count, const char *machine, unsigned gpus,
		     const char *model)
{
	plan->pools[role] =
		(struct pool){ .count = count, .image = strdup("i"), .machine_type = strdup(machine) };
	if (gpus) {
		plan->pools[role].accelerator_type = strdup(model);
		plan->pools[role].accelerator_count = gpus;
	}
}

static struct plan *plan_make(const struct shape *shape, const char *model)
{
	struct plan *plan = plan_new();

	plan->dialect = strdup("ml");
	plan->project = strdup("p");
	plan->job_id = strdup("j");
	plan->cluster_id = strdup("ab12cd34ef");
	plan->region = strdup("us-central1");
	plan->input = strdup("{}");
	pool_set(plan, ROLE_MASTER, 1, shape->machine, shape->gpus, model);
	if (shape->workers)
		pool_set(plan, ROLE_WORKER, shape->workers, shape->machine, shape->gpus, model);
	if (shape->servers)
		pool_set(plan, ROLE_PS, shape->servers, "n1-highmem-4", 0, NULL);
	return plan;
}

static void simulation_init(struct simulation *sim, size_t node_count, size_t job_count)
{
	static const char *const models[MODELS] = { "NVIDIA_TESLA_A100", "NVIDIA_TESLA_V100",
						    "NVIDIA_TESLA_T4", "NVIDIA_L4" };
	static const char *const model_labels[MODELS] = { "a100", "v100", "t4", "l4" };
	struct room common = { .capacity = { .fit = FIT_CLOUD,
					     .accelerators = ACCELERATORS_REQUIRE,
					     .max_jobs = 1000000,
					     .max_containers = 1000000 } };

	*sim = (struct simulation){ .seed = UINT64_C(88172645463325252) };
	sim->rooms = memory_calloc(node_count, sizeof(*sim->rooms));
	sim->names = memory_calloc(node_count, sizeof(*sim->names));
	fleet_init(&sim->fleet, &common, NULL, 0);
	sim->fleet.spans = true;
	for (int i = 0; i < MODELS; i++)
		sim->labels[i] = json_pack("{s:s}", "gpu", model_labels[i]);
	for (size_t i = 0; i < node_count; i++) {
		struct host *host = &sim->rooms[i].capacity.host;

		*host = (struct host){ .known = true,
				       .cpus = NODE_CPUS,
				       .memory_bytes = NODE_BYTES,
				       .device_count = DEVICES,
				       .devices = memory_calloc(DEVICES, sizeof(*host->devices)) };
		for (int k = 0; k < DEVICES; k++)
			host->devices[k] = memory_printf("%d", k);
		snprintf(sim->names[i], sizeof(sim->names[i]), "node-%zu", i);
		fleet_add(&sim->fleet, sim->names[i], HOST_UP, sim->labels[i % MODELS], &sim->rooms[i]);
	}
	for (int i = 0; i < SHAPES * MODELS; i++)
		sim->plans[i] = plan_make(&shapes[i / MODELS], models[i % MODELS]);
	sim->queue = memory_calloc(job_count, sizeof(*sim->queue));
	for (size_t i = 0; i < job_count; i++) {
		unsigned pick = random_below(sim, 100), shape = 0;

		for (; pick >= shapes[shape].weight; shape++)
			pick -= shapes[shape].weight;
		sim->queue[i] = shape * MODELS + random_below(sim, MODELS);
	}
	sim->running = memory_calloc(job_count, sizeof(*sim->running));
	sim->placed_us = memory_calloc(job_count, sizeof(*sim->placed_us));
	sim->waited_us = memory_calloc(job_count * 2, sizeof(*sim->waited_us));
}

static void simulation_deinit(struct simulation *sim)
{
	for (size_t i = 0; i < sim->fleet.count; i++)
		room_deinit(&sim->rooms[i]);
	fleet_deinit(&sim->fleet);
	for (int i = 0; i < MODELS; i++)
		json_decref(sim->labels[i]);
	for (int i = 0; i < SHAPES * MODELS; i++)
		plan_free(sim->plans[i]);
	free(sim->rooms);
	free(sim->names);
	free(sim->queue);
	free(sim->running);
	free(sim->placed_us);
	free(sim->waited_us);
}

/* ---- running jobs ---- */

static void running_push(struct simulation *sim, struct running job)
{
	size_t at = sim->running_count++;

	for (; at && sim->running[(at - 1) / 2].end > job.end; at = (at - 1) / 2)
		sim->running[at] = sim->running[(at - 1) / 2];
	sim->running[at] = job;
}

static struct running running_pop(struct simulation *sim)
{
	const struct running first = sim->running[0], last = sim->running[--sim->running_count];
	size_t at = 0, child;

	while ((child = 2 * at + 1) < sim->running_count) {
		if (child + 1 < sim->running_count && sim->running[child + 1].end < sim->running[child].end)
			child++;
		if (sim->running[child].end >= last.end)
			break;
		sim->running[at] = sim->running[child];
		at = child;
	}
	sim->running[at] = last;
	return first;
}

static void end_one(struct simulation *sim)
{
	struct running job = running_pop(sim);

	sim->now = job.end;
	sim->replicas -= plan_replica_count(job.plan);
	sim->devices -= plan_accelerator_count(job.plan);
	fleet_return(&sim->fleet, job.plan, job.assignment, job.nodes);
	assignment_free(job.assignment);
	free(job.nodes);
}

/* ---- what must hold ---- */

static void broken(const char *what)
{
	fprintf(stderr, "fleet_bench: %s\n", what);
	exit(1);
}

static void job_count_up(const struct running *job, int64_t (*taken)[2], unsigned char (*holders)[DEVICES])
{
	for (int role = 0; role < ROLE_COUNT; role++) {
		const struct pool *pool = &job->plan->pools[role];

		for (unsigned i = 0; i < pool->count; i++) {
			const unsigned node = job->nodes[plan_replica_ordinal(job->plan, (enum role)role, i)];
			const json_t *ids = assignment_devices(job->assignment, (enum role)role, i), *id;
			size_t k;

			taken[node][0] += job->assignment->limits[role].nano_cpus;
			taken[node][1] += job->assignment->limits[role].memory_bytes;
			if (json_array_size(ids) != pool_gpu_count(pool))
				broken("a replica has another number of GPUs than it asked for");
			json_array_foreach((json_t *)ids, k, id) {
				if (holders[node][strtoul(json_string_value(id), NULL, 10)]++)
					broken("a device is given twice");
			}
		}
	}
}

static void check(const struct simulation *sim)
{
	int64_t(*taken)[2] = memory_calloc(sim->fleet.count, sizeof(*taken));
	unsigned char(*holders)[DEVICES] = memory_calloc(sim->fleet.count, sizeof(*holders));

	for (size_t i = 0; i < sim->running_count; i++)
		job_count_up(&sim->running[i], taken, holders);
	for (size_t i = 0; i < sim->fleet.count; i++)
		if (taken[i][0] > NODE_CPUS * NANO_PER_CPU || taken[i][1] > NODE_BYTES)
			broken("a node gives more than it has");
	free(taken);
	free(holders);
}

/* ---- the queue ---- */

/* False: the job waits. */
static bool place_one(struct simulation *sim, const struct plan *plan)
{
	struct running job = { .plan = plan };
	struct error err AUTO_ERROR = { 0 };
	enum shortage shortage;
	const double began_us = cpu_us();
	const enum status rc = fleet_place(&sim->fleet, plan, &job.assignment, &job.nodes, &shortage, &err);
	const float took_us = (float)(cpu_us() - began_us);

	if (rc == STATUS_RESOURCE_EXHAUSTED) {
		sim->waited_us[sim->waited_count++] = took_us;
		return false;
	}
	if (rc)
		broken(err.text);
	sim->placed_us[sim->placed_count++] = took_us;
	fleet_use(&sim->fleet, plan, job.assignment, job.nodes);
	job.end = sim->now + 60 + random_below(sim, 3600);
	running_push(sim, job);
	sim->replicas += plan_replica_count(plan);
	sim->devices += plan_accelerator_count(plan);
	if (sim->replicas > sim->most_replicas)
		sim->most_replicas = sim->replicas;
	return true;
}

static int by_time(const void *one, const void *other)
{
	const float a = *(const float *)one, b = *(const float *)other;

	return a < b ? -1 : a > b;
}

static void times_print(const char *what, float *times, size_t count)
{
	if (!count)
		return;
	qsort(times, count, sizeof(*times), by_time);
	printf("%s %zu: p50 %.0f us, p95 %.0f us, p99 %.0f us, most %.0f us\n", what, count,
	       (double)times[count / 2], (double)times[count * 95 / 100], (double)times[count * 99 / 100],
	       (double)times[count - 1]);
}

/* Whenever a job ends, jobs are started in their order until one has to wait. */
static void work_off(struct simulation *sim, size_t job_count)
{
	size_t next = 0, ends = 0;
	double devices_used = 0;
	const double began_us = cpu_us();

	while (next < job_count || sim->running_count) {
		while (next < job_count && place_one(sim, sim->plans[sim->queue[next]]))
			next++;
		devices_used += sim->devices;
		if (sim->running_count)
			end_one(sim);
		else if (next < job_count)
			broken("a job waits alone");
		if (++ends % CHECK_EACH == 0)
			check(sim);
	}
	printf("%zu nodes, %zu GPUs, %zu jobs: %.0f decisions a second, %u replicas at once, %.0f%% of GPUs in use\n",
	       sim->fleet.count, sim->fleet.count * DEVICES, job_count,
	       1e6 * (double)(sim->placed_count + sim->waited_count) / (cpu_us() - began_us),
	       sim->most_replicas, 100 * devices_used / (double)ends / (double)(sim->fleet.count * DEVICES));
	times_print("placed", sim->placed_us, sim->placed_count);
	times_print("waiting", sim->waited_us, sim->waited_count);
}

int main(int argc, char **argv)
{
	const size_t nodes = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
	const size_t jobs = argc > 2 ? strtoul(argv[2], NULL, 10) : 100000;
	struct simulation sim;

	if (!nodes || !jobs) {
		fprintf(stderr, "usage: fleet_bench [NODES [JOBS]]\n");
		return 2;
	}
	simulation_init(&sim, nodes, jobs);
	work_off(&sim, jobs);
	simulation_deinit(&sim);
	return 0;
}
