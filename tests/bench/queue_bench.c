/* SPDX-License-Identifier: Apache-2.0 */
/* What the end of a job costs while others wait: the scheduler on a real store, with an engine that ends replicas at once.
 *
 *     queue_bench [WAITING...]     default: 0 1000 10000 100000
 *
 * One line each: how many jobs wait, ends a minute, CPU time of the process for each end, and memory for each that waits.
 * The state directory is below TMPDIR: on a disk the ends a minute are those of its commits. */
#include <malloc.h>
#include <sys/resource.h>

#include "tests/unit/scheduler/scheduler_testing.h"

enum { ENDS = 400, AT_ONCE = 4, PRIORITY = 10, LOOK_US = 10000 };

static int64_t cpu_us(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * INT64_C(1000000) + usage.ru_utime.tv_usec +
	       usage.ru_stime.tv_usec;
}

static void ended_await(struct bench *bench, int64_t id)
{
	bool ended = false;

	while (!ended) {
		AUTO(job) struct job *job = NULL;

		ended = !job_get_by_id(bench->store, id, &job, NULL) && job_state_is_final(job->state);
		if (!ended)
			usleep(LOOK_US);
	}
}

static int64_t submit(struct bench *bench, const char *kind, unsigned number, int priority)
{
	char job_id[32];
	int64_t id;

	snprintf(job_id, sizeof(job_id), "%s_%u", kind, number);
	id = bench_submit(bench, job_id, 0, priority);
	scheduler_wake(bench->scheduler, id);
	return id;
}

/* Waits until the last of @count queued jobs has logged why it waits: by then the scheduler has handled all of them. */
static void queued_await(struct bench *bench, const char *kind, unsigned count)
{
	char job_id[32];
	bool told = count == 0;

	snprintf(job_id, sizeof(job_id), "%s_%u", kind, count - 1);
	while (!told) {
		AUTO(string) char *log = service_log(bench, job_id);

		told = strstr(log, "before it");
		if (!told)
			usleep(LOOK_US);
	}
}

static void bench_run(unsigned waiting)
{
	void *state = NULL;
	struct bench *bench;
	int64_t blocker, last = 0, began_us, cpu_before_us, memory;

	bench_setup(&state);
	bench = state;
	daemon_stop(bench);
	bench->capacity = (struct capacity){ .max_jobs = AT_ONCE, .max_containers = 64 };
	daemon_start(bench);
	fake_engine_up(bench->fake);
	for (unsigned i = 0; i < AT_ONCE; i++) {
		blocker = submit(bench, "blocks", i, PRIORITY);
		job_await(bench, blocker, JOB_RUNNING);
	}
	memory = (int64_t)mallinfo2().uordblks;
	for (unsigned i = 0; i < waiting; i++)
		submit(bench, "waits", i, 0);
	queued_await(bench, "waits", waiting);
	memory = (int64_t)mallinfo2().uordblks - memory;
	for (unsigned i = 0; i < ENDS; i++)
		last = submit(bench, "ends", i, PRIORITY);
	queued_await(bench, "ends", ENDS);
	fake_engine_exit_at_once(bench->fake, 0);
	cpu_before_us = cpu_us();
	began_us = clock_mono_us(&system_clock);
	for (unsigned i = 0; i < AT_ONCE; i++)
		fake_engine_exit_any(bench->fake, 0, 0);
	ended_await(bench, last);
	printf("waiting %6u: %7.0f ends a minute, %6.3f ms CPU an end, %5lld bytes a waiting job\n", waiting,
	       60e6 * ENDS / (double)(clock_mono_us(&system_clock) - began_us),
	       (double)(cpu_us() - cpu_before_us) / 1e3 / ENDS,
	       waiting ? (long long)(memory / waiting) : 0LL);
	fflush(stdout);
	bench_teardown(&state);
}

int main(int argc, char **argv)
{
	static const unsigned usual[] = { 0, 1000, 10000, 100000 };

	if (sodium_init() < 0)
		return 1;
	log_configure(LOG_ERROR, LOG_FORMAT_TEXT);
	for (int i = 1; i < argc; i++)
		bench_run((unsigned)strtoul(argv[i], NULL, 10));
	for (size_t i = 0; argc < 2 && i < sizeof(usual) / sizeof(usual[0]); i++)
		bench_run(usual[i]);
	return 0;
}
