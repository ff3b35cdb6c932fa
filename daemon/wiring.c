/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/wiring.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/emulator/discovery.h"
#include "api/emulator/health.h"
#include "api/emulator/web_shell.h"
#include "api/http/http.h"
#include "api/logging/routes.h"
#include "api/ml/image_map.h"
#include "api/ml/ml.h"
#include "api/ml/quota.h"
#include "daemon/base/clock.h"
#include "daemon/base/log.h"
#include "daemon/config.h"
#include "daemon/terminal_door.h"
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
	struct image_map images;
	struct quota_limits quota;
	struct quota_counter *counter;
	struct logging_context logging;
	struct health health;
	struct shell_sessions *shell_sessions;
	struct web_shell_context web_shell;
	struct discovery discovery;
	struct family families[7];
};

/* What has a discovery document; where two have the same version, the former goes first. */
static const struct discovery_entry published[] = {
	{ &ml_api, ml_routes },
	{ &logging_api, logging_routes },
	{ NULL, NULL },
};

static void health_details(void *arg, json_t *answer)
{
	struct wiring *wiring = arg;
	char detail[256];
	bool reachable = scheduler_engine_state(wiring->scheduler, detail, sizeof(detail));

	json_object_set_new(answer, "engine",
			    json_pack("{s:b, s:s}", "reachable", reachable, "detail", detail));
}

static enum status shell_open(void *arg, const struct shell_replica *replica, const json_t *command,
			      struct shell_terminal **ret_terminal, struct error *err)
{
	struct wiring *wiring = arg;

	return terminal_door_open(wiring->engine, replica, command, ret_terminal, err);
}

static enum status room_of(void *arg, const char *project, struct room *ret_room, struct error *err)
{
	struct wiring *wiring = arg;

	return scheduler_room(wiring->scheduler, project, ret_room, err);
}

static char *shell_uri(void *arg, const char *host, int64_t job, enum role role, unsigned index)
{
	const struct wiring *wiring = arg;

	return web_shell_uri(store_secret(wiring->store), host, job, role, index);
}

static void web_shell_fill(struct wiring *wiring)
{
	wiring->web_shell = (struct web_shell_context){
		.store = wiring->store,
		.clock = &system_clock,
		.key = store_secret(wiring->store),
		.sessions = wiring->shell_sessions,
		.open = shell_open,
		.arg = wiring,
	};
	wiring->ml.shell_uri = shell_uri;
	wiring->ml.shell_arg = wiring;
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
		.room = room_of,
		.room_arg = wiring,
		.settings = { .lenient = config->validation == VALIDATION_LENIENT,
			      .images = &wiring->images,
			      .quota = config->quota ? &wiring->quota : NULL,
			      .tpu_config = config->tpu_config },
		.counter = wiring->counter,
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
	wiring->discovery = (struct discovery){ published };
	wiring->families[3] = (struct family){ "discovery", discovery_routes, &wiring->discovery, NULL };
	wiring->families[4] = (struct family){ "ml-emulator", ml_emulator_routes, &wiring->ml, NULL };
	web_shell_fill(wiring);
	wiring->families[5] = (struct family){ "shell", web_shell_routes, &wiring->web_shell, NULL };
}

static struct capacity capacity_of(const struct wiring *wiring)
{
	const struct config *config = wiring->config;
	bool limited = config->quota && wiring->quota.vcpus != QUOTA_UNLIMITED;

	return (struct capacity){
		.fit = (enum machine_fit)config->machine_fit,
		.accelerators = (enum accelerator_policy)config->accelerators,
		.max_jobs = (unsigned)config->max_active_jobs,
		.max_containers = (unsigned)config->max_containers,
		.max_vcpus = (unsigned)config->max_vcpus,
		.max_memory_bytes = config->max_memory_mib << 20,
		.project_vcpus = limited ? wiring->quota.vcpus : 0,
	};
}

static enum status scheduler_make(struct wiring *wiring, struct error *err)
{
	const struct config *config = wiring->config;
	struct scheduler_options options = {
		.store = wiring->store,
		.clock = &system_clock,
		.project_number = wiring->project_number,
		.stop_grace_s = (unsigned)config->stop_grace_s,
		.retry_pause_ms = RETRY_PAUSE_MS,
		.capacity = capacity_of(wiring),
	};
	enum status rc = inventory_parse(config->gpus, &options.inventory, err);

	if (!rc)
		rc = scheduler_new(&options, &wiring->scheduler, err);
	inventory_deinit(&options.inventory);
	return rc;
}

/* What needs neither store nor engine. The texts were checked when they were read. */
static enum status settings_open(struct wiring *wiring, struct error *err)
{
	const struct config *config = wiring->config;

	wiring->shell_sessions = shell_sessions_new();
	if (!wiring->shell_sessions)
		return error_no_memory(err);
	wiring->images = (struct image_map){ config->image_map.values, config->image_map.count };
	if (!config->quota)
		return STATUS_OK;
	wiring->counter = quota_counter_new();
	return wiring->counter ? quota_parse(config->quota, &wiring->quota, err) : error_no_memory(err);
}

static enum status scheduling_open(struct wiring *wiring, struct error *err)
{
	const struct config *config = wiring->config;
	struct engine_sink sink;
	enum status rc = scheduler_make(wiring, err);

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
	shell_sessions_free(wiring->shell_sessions);
	quota_counter_free(wiring->counter);
	free(wiring);
}

enum status wiring_open(const struct config *config, struct wiring **ret_wiring, struct error *err)
{
	struct wiring *wiring = calloc(1, sizeof(*wiring));
	enum status rc;

	if (!wiring)
		return error_no_memory(err);
	wiring->config = config;
	rc = settings_open(wiring, err);
	if (!rc)
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
