/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/wiring.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/emulator/health.h"
#include "api/http/http.h"
#include "api/logging/routes.h"
#include "api/ml/ml.h"
#include "daemon/base/clock.h"
#include "daemon/base/log.h"
#include "daemon/config.h"
#include "scheduler/engine/engine.h"
#include "scheduler/scheduler.h"
#include "store/jobs.h"
#include "store/store.h"

enum { REQUESTS_END_MS = 5000, JOBS_END_MS = 15000, RETRY_PAUSE_MS = 5000 };

struct wiring {
	const struct config *config;
	struct store *store;
	struct scheduler *scheduler;
	struct engine *engine;
	struct listener *listener;
	char project_number[24];
	struct ml_context ml;
	struct logging_context logging;
	struct health health;
	struct family families[4];
};

static void health_details(void *arg, json_t *answer)
{
	struct wiring *wiring = arg;
	char detail[256];
	bool reachable = scheduler_engine_state(wiring->scheduler, detail, sizeof(detail));

	json_object_set_new(answer, "engine",
			    json_pack("{s:b, s:s}", "reachable", reachable, "detail", detail));
}

static void families_fill(struct wiring *wiring)
{
	const struct config *config = wiring->config;

	snprintf(wiring->project_number, sizeof(wiring->project_number), "%" PRId64, config->project_number);
	wiring->ml = (struct ml_context){
		.store = wiring->store,
		.clock = &system_clock,
		.project_id = config->project,
		.project_number = wiring->project_number,
	};
	wiring->logging = (struct logging_context){
		.store = wiring->store,
		.clock = &system_clock,
		.project_id = config->project,
		.project_number = wiring->project_number,
	};
	wiring->health = (struct health){ PACKAGE_VERSION, health_details, wiring };
	wiring->families[0] = (struct family){ "ml", ml_routes, &wiring->ml, ml_absent };
	wiring->families[1] = (struct family){ "logging", logging_routes, &wiring->logging, logging_absent };
	wiring->families[2] = (struct family){ "emulator", health_routes, &wiring->health, NULL };
}

static enum status scheduling_open(struct wiring *wiring, struct error *err)
{
	const struct config *config = wiring->config;
	struct engine_sink sink;
	enum status rc = scheduler_new(
		&(struct scheduler_options){
			.store = wiring->store,
			.clock = &system_clock,
			.project_number = wiring->project_number,
			.stop_grace_s = (unsigned)config->stop_grace_s,
			.retry_pause_ms = RETRY_PAUSE_MS,
			.max_active_jobs = (unsigned)config->max_active_jobs,
		},
		&wiring->scheduler, err);

	if (rc)
		return rc;
	sink = scheduler_sink(wiring->scheduler);
	rc = docker_open(
		&(struct docker_options){
			.host = config->engine,
			.instance = store_instance(wiring->store),
			.networks = config->networks,
			.docker_config = config->docker_config,
			.offline = config->offline,
		},
		&sink, &wiring->engine, err);
	return rc ? rc : scheduler_start(wiring->scheduler, wiring->engine, err);
}

static enum status listening_open(struct wiring *wiring, struct error *err)
{
	char address[LISTEN_ADDRESS_SIZE];
	uint16_t port;

	config_listen_split(wiring->config->listen, address, &port); /* checked when it was read */
	return listener_open(
		&(struct listener_options){
			.address = address,
			.port = port,
			.families = wiring->families,
			.clock = &system_clock,
		},
		&wiring->listener, err);
}

/* What was opened is closed, in reverse. */
static void parts_close(struct wiring *wiring)
{
	if (wiring->listener)
		listener_close(wiring->listener, REQUESTS_END_MS);
	if (wiring->scheduler)
		scheduler_stop(wiring->scheduler);
	if (wiring->engine)
		wiring->engine->ops->close(wiring->engine);
	if (wiring->store)
		store_close(wiring->store);
	if (wiring->scheduler)
		scheduler_free(wiring->scheduler);
	free(wiring);
}

enum status wiring_open(const struct config *config, struct wiring **ret_wiring, struct error *err)
{
	struct wiring *wiring = calloc(1, sizeof(*wiring));
	enum status rc;

	if (!wiring)
		return error_no_memory(err);
	wiring->config = config;
	rc = store_open(config->state_dir, &system_clock, &wiring->store, err);
	if (!rc) {
		families_fill(wiring);
		rc = scheduling_open(wiring, err);
	}
	if (!rc)
		rc = listening_open(wiring, err);
	if (rc) {
		parts_close(wiring);
		return rc;
	}
	*ret_wiring = wiring;
	return STATUS_OK;
}

uint16_t wiring_port(const struct wiring *wiring)
{
	return listener_port(wiring->listener);
}

static void jobs_stop(struct wiring *wiring)
{
	struct job_list list AUTO_JOB_LIST = { 0 };
	struct error err AUTO_ERROR = { 0 };

	if (job_list_unfinished(wiring->store, &list, &err)) {
		log_event(LOG_ERROR, "jobs-unread", "error=\"%s\"", err.text ? err.text : "");
		return;
	}
	for (size_t i = 0; i < list.count; i++)
		job_cancel(wiring->store, list.jobs[i].project, list.jobs[i].job_id,
			   "The job was cancelled because the emulator was stopped.", NULL);
	if (list.count && !scheduler_wait_idle(wiring->scheduler,
					       (unsigned)wiring->config->stop_grace_s * 1000 + JOBS_END_MS))
		log_event(LOG_WARNING, "jobs-unstopped", "hint=\"they are ended at the next start\"");
}

void wiring_close(struct wiring *wiring, bool stop_jobs)
{
	/* First of all: what is submitted while jobs are being stopped would be left running. */
	store_end_queries(wiring->store);
	listener_close(wiring->listener, REQUESTS_END_MS);
	wiring->listener = NULL;
	if (stop_jobs)
		jobs_stop(wiring);
	parts_close(wiring);
}
