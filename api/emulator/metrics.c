/* SPDX-License-Identifier: Apache-2.0 */
#include "api/emulator/metrics.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "api/http/ledger.h"
#include "daemon/base/tally.h"
#include "store/jobs/summaries.h"

enum { US_PER_S = 1000000 };

static void head_write(struct text *text, const char *name, const char *type, const char *help)
{
	text_printf(text, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void gauge_write(struct text *text, const char *name, double value, const char *help)
{
	head_write(text, name, "gauge", help);
	text_printf(text, "%s %.17g\n", name, value);
}

/* A counter without labels, or one of several rows with the same name. */
static const struct {
	enum tally tally;
	const char *name, *label, *help; /* help NULL: as in the row before */
} tallies[] = {
	{ TALLY_ENGINE_OK, "trainyard_engine_calls_total", "outcome=\"ok\"",
	  "Calls of the container engine: ok, refused (answered with an error), failed (without a whole answer)." },
	{ TALLY_ENGINE_REFUSED, "trainyard_engine_calls_total", "outcome=\"refused\"", NULL },
	{ TALLY_ENGINE_FAILED, "trainyard_engine_calls_total", "outcome=\"failed\"", NULL },
	{ TALLY_LOG_LINES, "trainyard_log_lines_total", NULL, "Log entries that were stored." },
	{ TALLY_STORAGE_RECEIVED_BYTES, "trainyard_storage_received_bytes_total", NULL,
	  "Bytes of objects that were written to Cloud Storage." },
	{ TALLY_STORAGE_SENT_BYTES, "trainyard_storage_sent_bytes_total", NULL,
	  "Bytes of objects that were read from Cloud Storage." },
};

static void tallies_write(struct text *text)
{
	for (size_t i = 0; i < sizeof(tallies) / sizeof(tallies[0]); i++) {
		if (tallies[i].help)
			head_write(text, tallies[i].name, "counter", tallies[i].help);
		text_puts(text, tallies[i].name);
		if (tallies[i].label)
			text_printf(text, "{%s}", tallies[i].label);
		text_printf(text, " %" PRIu64 "\n", tally_get(tallies[i].tally));
	}
}

static void requests_write(void *arg, const char *method, const char *code, uint64_t count)
{
	text_printf(arg, "trainyard_http_requests_total{method=\"%s\",code=\"%s\"} %" PRIu64 "\n", method,
		    code, count);
}

static void jobs_write(struct text *text, const struct job_counts *counts)
{
	head_write(text, "trainyard_jobs", "gauge",
		   "Jobs by family of the API and state; trials count in their tuning job.");
	for (unsigned family = 0; family < SUMMARY_FAMILIES; family++)
		for (int state = JOB_QUEUED; state < JOB_STATE_COUNT; state++)
			text_printf(text, "trainyard_jobs{family=\"%s\",state=\"%s\"} %" PRIu64 "\n",
				    summary_family_name(family), job_state_name((enum job_state)state),
				    counts->jobs[family][state]);
}

/* Source: proc_pid_statm(5): the second number is the resident set, in pages. 0: it cannot be read. */
static int64_t resident_bytes(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	long long size, resident = 0;

	if (!file)
		return 0;
	if (fscanf(file, "%lld %lld", &size, &resident) != 2)
		resident = 0;
	fclose(file);
	return resident * sysconf(_SC_PAGESIZE);
}

static void node_write(void *to, const char *name, bool reachable)
{
	text_printf(to, "trainyard_node_reachable{node=\"%s\"} %d\n", name, reachable);
}

static enum status metrics_get(struct call *call, struct error *err)
{
	const struct metrics *metrics = call->context;
	struct text *text = &call->answer;
	struct job_counts counts = { 0 };
	bool reachable = false, ready = false;
	int64_t age_us = 0;
	enum status rc = summary_count(metrics->store, &counts, err);

	if (rc)
		return rc;
	if (counts.queued)
		age_us = clock_wall_us(metrics->clock) - counts.oldest_queued_us;
	if (metrics->engine)
		metrics->engine(metrics->arg, &reachable, &ready);
	head_write(text, "trainyard_build_info", "gauge", "The version of trainyard.");
	text_printf(text, "trainyard_build_info{version=\"%s\"} 1\n", metrics->version);
	gauge_write(text, "process_resident_memory_bytes", (double)resident_bytes(), "Resident memory.");
	gauge_write(text, "trainyard_engine_reachable", reachable, "1 while the container engine answers.");
	head_write(text, "trainyard_node_reachable", "gauge",
		   "1 while the node's container engine answers; without rows if there is one engine alone.");
	if (metrics->nodes)
		metrics->nodes(metrics->arg, node_write, text);
	gauge_write(text, "trainyard_ready", ready, "1 while GET /readyz answers 200.");
	jobs_write(text, &counts);
	gauge_write(text, "trainyard_queue_jobs", (double)counts.queued, "Jobs in the state QUEUED.");
	gauge_write(text, "trainyard_queue_oldest_seconds", (double)(age_us > 0 ? age_us : 0) / US_PER_S,
		    "For how long the oldest of them has waited; 0: none waits.");
	tallies_write(text);
	head_write(text, "trainyard_http_requests_total", "counter",
		   "Answered requests of clients, without those from inside jobs.");
	if (metrics->ledger)
		ledger_counts_each(metrics->ledger, requests_write, text);
	call->content_type = "text/plain; version=0.0.4; charset=utf-8";
	return STATUS_OK;
}

const struct route metrics_routes[] = {
	{ .method = "GET", .path = "/metrics", .handler = metrics_get },
	{ .method = NULL },
};
