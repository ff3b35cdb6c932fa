/* SPDX-License-Identifier: Apache-2.0 */
/* Fills a state directory for measurements:
 *
 *     seed DIR JOBS LINES [N]      JOBS ended jobs; LINES log lines spread over the last N of them, 100 unless told */
#include <inttypes.h>
#include <pthread.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/clock.h"
#include "store/jobs/jobs.h"
#include "store/logs/logs.h"
#include "store/store.h"

enum { THREADS = 16, JOBS_WITH_LINES_MAX = 100 };

static const char input[] =
	"{\"scaleTier\":\"CUSTOM\",\"masterType\":\"n1-standard-4\",\"workerType\":\"n1-standard-4\",\"workerCount\":\"2\","
	"\"args\":[\"--epochs=5\",\"--learning-rate=0.1\"],\"region\":\"us-central1\","
	"\"masterConfig\":{\"imageUri\":\"gcr.io/project/trainer:1\"}}";

static struct store *store;
static unsigned job_count;
static pthread_mutex_t room = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t has_room = PTHREAD_COND_INITIALIZER;
static unsigned rooms; /* how often the log reported that it has room again */

static void die(const char *what, const struct error *err)
{
	fprintf(stderr, "seed: %s: %s\n", what, err->text ? err->text : "");
	exit(1);
}

static void job_seed(unsigned number)
{
	struct error err AUTO_ERROR = { 0 };
	AUTO(job) struct job *stored = NULL;
	struct job_change change = {
		.from = JOB_QUEUED, .to = JOB_FAILED, .ended_us = 1, .error_message = "seeded"
	};
	char name[32];

	snprintf(name, sizeof(name), "job_%06u", number);
	if (job_insert(store,
		       &(struct job){ .project = (char *)"bench",
				      .job_id = name,
				      .input = (char *)input,
				      .output = (char *)"{}",
				      .labels = (char *)"{\"owner\":\"bench\"}",
				      .plan = (char *)"{}" },
		       NULL, 0, &stored, &err))
		die("insert", &err);
	change.job = stored->id;
	if (job_apply(store, &change, 1, &err))
		die("apply", &err);
}

static void *jobs_seed(void *first)
{
	for (unsigned i = (unsigned)(uintptr_t)first; i < job_count; i += THREADS)
		job_seed(i);
	return NULL;
}

static void on_room(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&room);
	rooms++;
	pthread_cond_signal(&has_room);
	pthread_mutex_unlock(&room);
}

static void line_offer(const struct log_record *record)
{
	pthread_mutex_lock(&room);
	for (unsigned seen = rooms; !log_offer(store, record); seen = rooms)
		while (rooms == seen)
			pthread_cond_wait(&has_room, &room);
	pthread_mutex_unlock(&room);
}

static void lines_seed(unsigned lines, unsigned jobs)
{
	struct log_source *sources[JOBS_WITH_LINES_MAX];
	int64_t start_ns = clock_wall_ns(&system_clock) - (int64_t)3600 * 1000000000;
	char text[128];

	for (unsigned i = 0; i < jobs; i++) {
		char labels[160];

		snprintf(
			labels, sizeof(labels),
			"{\"project_id\":\"bench\",\"job_id\":\"job_%06u\",\"task_name\":\"master-replica-0\"}",
			job_count - 1 - i);
		sources[i] = log_source_new(&(struct log_source_spec){ .job = job_count - i,
								       .project = "bench",
								       .log_name = "master-replica-0",
								       .resource_type = "ml_job",
								       .resource_labels = labels });
	}
	for (unsigned i = 0; i < lines; i++) {
		int length = snprintf(
			text, sizeof(text),
			"step %08u loss 0.123456 accuracy 0.987654 learning rate 0.001000 examples per second 1234.5 eta 0h 01m",
			i);

		line_offer(&(struct log_record){ .source = sources[i % jobs],
						 .time_ns = start_ns + (int64_t)i * 3000000,
						 .severity = i % 50 ? SEVERITY_INFO : SEVERITY_ERROR,
						 .payload = text,
						 .payload_length = (size_t)length });
	}
	for (unsigned i = 0; i < jobs; i++)
		log_source_unref(sources[i]);
}

int main(int argc, char **argv)
{
	struct error err AUTO_ERROR = { 0 };
	pthread_t threads[THREADS];

	if (argc < 4 || sodium_init() < 0)
		return 2;
	job_count = (unsigned)strtoul(argv[2], NULL, 10);
	if (store_open(argv[1], &system_clock, &store, &err))
		die("open", &err);
	log_on_room(store, on_room, NULL);
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, jobs_seed, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	lines_seed((unsigned)strtoul(argv[3], NULL, 10),
		   argc > 4 ? (unsigned)strtoul(argv[4], NULL, 10) : JOBS_WITH_LINES_MAX);
	if (log_flush(store, &err))
		die("flush", &err);
	store_close(store);
	return 0;
}
