/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/wiring.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/aiplatform/aiplatform.h"
#include "api/emulator/clock.h"
#include "api/emulator/discovery.h"
#include "api/emulator/faults.h"
#include "api/emulator/health.h"
#include "api/emulator/web_shell.h"
#include "api/http/http.h"
#include "api/logging/routes.h"
#include "api/metadata/metadata.h"
#include "api/ml/ml.h"
#include "api/storage/storage.h"
#include "api/training/image_map.h"
#include "api/training/quota.h"
#include "api/training/runtime_map.h"
#include "daemon/base/chance.h"
#include "daemon/base/clock.h"
#include "daemon/base/log.h"
#include "daemon/base/presence.h"
#include "daemon/config.h"
#include "daemon/emulator_clock.h"
#include "daemon/gcs/gcs_host.h"
#include "daemon/given_file.h"
#include "daemon/grpc_door.h"
#include "daemon/job_gateway.h"
#include "daemon/terminal_door.h"
#include "daemon/token.h"
#include "scheduler/engine/engine.h"
#include "scheduler/fault_book.h"
#include "scheduler/scheduler.h"
#include "store/authority.h"
#include "store/jobs.h"
#include "store/objects.h"
#include "store/signing_key.h"
#include "store/store.h"

enum { FAMILIES_BEFORE_STORAGE = 12, STORAGE_FAMILIES = 3, GRPC_FAMILIES = 3 };
enum { REQUESTS_END_MS = 5000, JOBS_END_MS = 15000, NETWORKS_END_MS = 3000, RETRY_PAUSE_MS = 5000 };

/* Whoever submits one job after the other takes over the last one's network. */
enum { SPARE_NETWORK_MS = 2000 };
/* Choice: half a minute for a head, and a quarter of the listener's places for one address. */
enum { HEAD_LIMIT_MS = 30000, ADDRESS_LIMIT = 128 };

struct wiring {
	const struct config *config;
	struct emulator_clock *emulator_clock;
	const struct clock *clock; /* its */
	struct store *store;
	int presence; /* -1: not taken */
	struct scheduler *scheduler;
	struct engine *engine;
	struct listener *listener;
	struct front *grpc; /* NULL: it is not served */
	struct gateways *gateways;
	struct gcs_host *gcs;
	char *state_dir;     /* absolute, without links */
	struct token *token; /* NULL: everybody may ask */
	char *trials_dir;
	char *adc, *wheels; /* where they really are */
	char project_number[24];
	struct ml_context ml;
	struct aiplatform_context aiplatform, aiplatform_beta;
	struct image_map images;
	struct runtime_map runtimes;
	struct quota_limits quota;
	struct quota_counter *counter;
	struct logging_context logging;
	struct objects *objects; /* NULL: another emulator of storage is used */
	struct storage_context storage;
	struct health health;
	struct shell_sessions *shell_sessions;
	struct web_shell_context web_shell;
	struct fault_book *fault_book;
	struct faults_context faults;
	struct clock_context clock_context;
	struct call_gate gate; /* that ordered faults come over calls by */
	struct discovery discovery;
	struct signing_key *signing_key;
	struct authority *authority, *local_authority;
	struct identity_context identity;
	struct family families[FAMILIES_BEFORE_STORAGE + STORAGE_FAMILIES + 1];
	struct family grpc_families[GRPC_FAMILIES + 1]; /* those of Vertex AI */
};

/* What has a discovery document; where two have the same version, the former goes first. */
static const struct discovery_entry published[] = {
	{ &ml_api, ml_routes },
	{ &logging_api, logging_routes },
	{ &aiplatform_api, aiplatform_routes },
	{ &aiplatform_beta_api, aiplatform_beta_routes },
	{ NULL, NULL },
};
static const struct discovery_entry published_with_storage[] = {
	{ &ml_api, ml_routes },
	{ &logging_api, logging_routes },
	{ &aiplatform_api, aiplatform_routes },
	{ &aiplatform_beta_api, aiplatform_beta_routes },
	{ &storage_api, storage_routes },
	{ NULL, NULL },
};

static void health_details(void *arg, json_t *answer)
{
	struct wiring *wiring = arg;
	char detail[256];
	bool reachable = scheduler_engine_state(wiring->scheduler, detail, sizeof(detail));

	json_object_set_new(answer, "engine",
			    json_pack("{s:b, s:s}", "reachable", reachable, "detail", detail));
	if (wiring->grpc)
		json_object_set_new(answer, "grpc", json_pack("{s:i}", "port", front_port(wiring->grpc)));
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
}

static enum status bucket_use(void *arg, const char *bucket, struct error *err)
{
	struct wiring *wiring = arg;

	return bucket_ensure(wiring->objects, bucket, err);
}

static struct family storage_family(struct wiring *wiring, const char *name, const struct route *routes)
{
	return (struct family){
		.name = name,
		.routes = routes,
		.context = &wiring->storage,
		.lenient_query = true,
		.error_render = storage_error_render,
		.error_status = storage_error_status,
	};
}

/* The last families: gateways have them, too. */
static void storage_fill(struct wiring *wiring)
{
	const struct config *config = wiring->config;
	struct family *families = &wiring->families[FAMILIES_BEFORE_STORAGE];

	if (!wiring->objects)
		return;
	wiring->storage = (struct storage_context){
		.objects = wiring->objects,
		.store = wiring->store,
		.clock = wiring->clock,
		.project_id = config->project,
		.project_number = wiring->project_number,
		.auto_buckets = config->buckets == BUCKETS_AUTO,
	};
	families[0] = storage_family(wiring, "storage", storage_routes);
	families[0].absent = storage_absent;
	/* What STORAGE_EMULATOR_HOST makes of @google-cloud/storage's addresses.
	 * Source: its code, version 8.4 (storage.js: baseUrl) */
	families[1] = storage_family(wiring, "storage-short", storage_routes);
	families[1].omitted = "/storage/v1";
	families[2] = storage_family(wiring, "storage-plain", storage_plain_routes);
	families[2].last_resort = true;
	families[2].begins_with = storage_plain_begins_with;
	families[2].error_render = storage_plain_error_render;
}

static struct training_context training_context_of(struct wiring *wiring)
{
	const struct config *config = wiring->config;

	return (struct training_context){
		.store = wiring->store,
		.clock = wiring->clock,
		.quota = config->quota ? &wiring->quota : NULL,
		.counter = wiring->counter,
		.project_id = config->project,
		.project_number = wiring->project_number,
		.room = room_of,
		.room_arg = wiring,
		.shell_uri = shell_uri,
		.shell_arg = wiring,
		.bucket_use = wiring->objects ? bucket_use : NULL,
		.bucket_arg = wiring,
		.trials_dir = wiring->trials_dir,
		.objects = wiring->objects,
	};
}

static struct aiplatform_context aiplatform_context_of(struct wiring *wiring, const char *version)
{
	return (struct aiplatform_context){
		.training = training_context_of(wiring),
		.settings = { .lenient = wiring->config->validation == VALIDATION_LENIENT,
			      .images = &wiring->images,
			      .runtimes = &wiring->runtimes,
			      .lone_is_workerpool0 =
				      wiring->config->single_replica_name == SINGLE_WORKERPOOL0 },
		.version = version,
	};
}

static struct family aiplatform_family(const char *name, const char *under, const struct route *routes,
				       struct aiplatform_context *context, const struct route *absent)
{
	return (struct family){
		.name = name,
		.routes = routes,
		.context = context,
		.absent = absent,
		.under = under,
		.lenient_query = true,
		.error_word = error_list,
	};
}

static void families_fill(struct wiring *wiring)
{
	const struct config *config = wiring->config;

	snprintf(wiring->project_number, sizeof(wiring->project_number), "%" PRId64, config->project_number);
	wiring->ml = (struct ml_context){
		.training = training_context_of(wiring),
		.settings = { .lenient = config->validation == VALIDATION_LENIENT,
			      .images = &wiring->images,
			      .runtimes = &wiring->runtimes,
			      .tpu_config = config->tpu_config },
	};
	wiring->logging = (struct logging_context){
		.store = wiring->store,
		.clock = wiring->clock,
		.project_id = config->project,
		.project_number = wiring->project_number,
	};
	wiring->identity = (struct identity_context){ wiring->store, wiring->signing_key, wiring->clock };
	wiring->discovery = (struct discovery){ wiring->objects ? published_with_storage : published };
	web_shell_fill(wiring);
	wiring->health = (struct health){ PACKAGE_VERSION, health_details, wiring };
	wiring->aiplatform = aiplatform_context_of(wiring, "v1");
	wiring->aiplatform_beta = aiplatform_context_of(wiring, "v1beta1");
	/* First: locations, which are ml's as well, take every parameter there. */
	wiring->families[0] = aiplatform_family("aiplatform", AIPLATFORM_UNDER("/v1"), aiplatform_routes,
						&wiring->aiplatform, aiplatform_absent);
	wiring->families[1] =
		aiplatform_family("aiplatform-beta", AIPLATFORM_UNDER("/v1beta1"), aiplatform_beta_routes,
				  &wiring->aiplatform_beta, aiplatform_beta_absent);
	wiring->families[2] = (struct family){ "ml", ml_routes, &wiring->ml, ml_absent };
	wiring->families[3] = aiplatform_family("aiplatform-other", NULL, aiplatform_other_routes,
						&wiring->aiplatform, NULL);
	wiring->families[4] = (struct family){ "logging", logging_routes, &wiring->logging, logging_absent };
	wiring->families[5] = (struct family){ "emulator", health_routes, &wiring->health, NULL };
	wiring->families[6] = (struct family){ "discovery", discovery_routes, &wiring->discovery, NULL };
	wiring->families[7] = (struct family){ "ml-emulator", ml_emulator_routes, &wiring->ml, NULL };
	wiring->families[8] = (struct family){ "shell", web_shell_routes, &wiring->web_shell, NULL };
	wiring->families[9] = (struct family){ .name = "identity",
					       .routes = identity_routes,
					       .context = &wiring->identity,
					       .lenient_query = true };
	wiring->families[11] = (struct family){ "clock", clock_routes, &wiring->clock_context, NULL };
	wiring->families[10] = (struct family){ "faults", fault_routes, &wiring->faults, NULL };
	storage_fill(wiring);
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

static void cloud_tried(void *arg, int64_t job, const char *host)
{
	struct wiring *wiring = arg;

	scheduler_cloud_tried(wiring->scheduler, job, host);
}

static enum status gateways_make(struct wiring *wiring, struct error *err)
{
	const struct config *config = wiring->config;

	return gateways_new(
		&(struct gateways_options){
			.store = wiring->store,
			.key = wiring->signing_key,
			.clock = wiring->clock,
			.gate = &wiring->gate,
			.project_id = config->project,
			.project_number = wiring->project_number,
			.storage = wiring->objects ? &wiring->families[FAMILIES_BEFORE_STORAGE] : NULL,
			.storage_endpoint = config->storage_endpoint,
			/* Who gives his own credentials, or another emulator, wants these names as they are. */
			.authority = config->adc || config->storage_endpoint ? NULL : wiring->authority,
			.cut_off = config->egress == EGRESS_NONE,
			.cloud_tried = cloud_tried,
			.arg = wiring },
		&wiring->gateways, err);
}

/* Containers are given directories below it, by their whole names. */
static enum status trials_dir_find(struct wiring *wiring, struct error *err)
{
	wiring->state_dir = realpath(wiring->config->state_dir, NULL);
	if (!wiring->state_dir)
		return error_set(err, STATUS_INTERNAL, NULL, "%s: %s", wiring->config->state_dir,
				 strerror(errno));
	if (asprintf(&wiring->trials_dir, "%s/trials", wiring->state_dir) < 0) {
		wiring->trials_dir = NULL;
		return error_no_memory(err);
	}
	return STATUS_OK;
}

static enum status gcs_make(struct wiring *wiring, struct error *err)
{
	const struct config *config = wiring->config;

	return gcs_host_open(
		&(struct gcs_host_options){
			.state_dir = wiring->state_dir,
			.engine = config->engine,
			.objects = wiring->objects,
			.storage = wiring->objects ? &wiring->families[FAMILIES_BEFORE_STORAGE] : NULL,
			.auto_buckets = config->buckets == BUCKETS_AUTO,
		},
		&wiring->gcs, err);
}

static enum status scheduler_make(struct wiring *wiring, struct error *err)
{
	const struct config *config = wiring->config;
	struct scheduler_options options = {
		.store = wiring->store,
		.clock = wiring->clock,
		.project_number = wiring->project_number,
		.stop_grace_s = (unsigned)config->stop_grace_s,
		.retry_pause_ms = RETRY_PAUSE_MS,
		.capacity = capacity_of(wiring),
		.gateway = gateways_ops(wiring->gateways),
		.gcs = gcs_host_ops(wiring->gcs),
		.trials_dir = wiring->trials_dir,
		.objects = wiring->objects,
		.adc = wiring->adc,
		.wheels = wiring->wheels,
		.faults = wiring->fault_book,
		.cut_off = config->egress == EGRESS_NONE,
		.spare_network_ms = SPARE_NETWORK_MS,
	};
	enum status rc = inventory_parse(config->gpus, &options.inventory, err);

	if (!rc)
		rc = scheduler_new(&options, &wiring->scheduler, err);
	inventory_deinit(&options.inventory);
	return rc;
}

static enum status given_files_find(struct wiring *wiring, struct error *err)
{
	const struct config *config = wiring->config;
	enum status rc = STATUS_OK;

	if (config->adc)
		rc = given_file_find("adc", config->adc, GIVEN_FILE, &wiring->adc, err);
	if (!rc && config->wheels)
		rc = given_file_find("wheels", config->wheels, GIVEN_DIRECTORY, &wiring->wheels, err);
	return rc;
}

/* What needs neither store nor engine. The texts were checked when they were read. */
static enum status settings_open(struct wiring *wiring, struct error *err)
{
	const struct config *config = wiring->config;

	wiring->shell_sessions = shell_sessions_new();
	wiring->signing_key = signing_key_new(config->state_dir);
	wiring->authority = authority_new(config->state_dir, "ca", "googleapis.com");
	wiring->local_authority = authority_new(config->state_dir, "local-ca", "localhost");
	if (!wiring->shell_sessions || !wiring->signing_key || !wiring->authority || !wiring->local_authority)
		return error_no_memory(err);
	wiring->images = (struct image_map){ config->image_map.values, config->image_map.count };
	wiring->runtimes = (struct runtime_map){ config->runtimes.values, config->runtimes.count };
	if (!config->quota)
		return STATUS_OK;
	wiring->counter = quota_counter_new();
	return wiring->counter ? quota_parse(config->quota, &wiring->quota, err) : error_no_memory(err);
}

static enum status scheduling_open(struct wiring *wiring, struct error *err)
{
	const struct config *config = wiring->config;
	struct engine_sink sink;
	enum status rc = gateways_make(wiring, err);

	if (!rc)
		rc = gcs_make(wiring, err);
	if (!rc)
		rc = scheduler_make(wiring, err);
	if (rc)
		return rc;
	emulator_clock_on_step(wiring->emulator_clock, scheduler_clock_stepped, wiring->scheduler);
	sink = scheduler_sink(wiring->scheduler);
	rc = docker_open(
		&(struct docker_options){
			.host = config->engine,
			.instance = store_instance(wiring->store),
			.networks = config->networks,
			.docker_config = config->docker_config,
			.offline = config->offline,
			.internal = config->egress == EGRESS_NONE,
		},
		&sink, &wiring->engine, err);
	return rc ? rc : scheduler_start(wiring->scheduler, wiring->engine, err);
}

static enum status objects_open(struct wiring *wiring, struct error *err)
{
	const struct config *config = wiring->config;
	enum status rc;

	if (config->storage_endpoint)
		return STATUS_OK;
	rc = objects_new(
		&(struct objects_options){
			.state_dir = config->state_dir,
			.clock = wiring->clock,
			.auto_project = config->buckets == BUCKETS_AUTO ? config->project : NULL,
		},
		&wiring->objects, err);
	if (!rc)
		objects_recover(wiring->objects);
	return rc;
}

static enum status listening_open(struct wiring *wiring, struct error *err)
{
	const char *path = config_listen_path(wiring->config->listen);
	char address[LISTEN_ADDRESS_SIZE];
	uint16_t port = 0;

	if (!path)
		config_listen_split(wiring->config->listen, address, &port); /* checked when it was read */
	return listener_open(
		&(struct listener_options){
			.address = path ? NULL : address,
			.port = port,
			.path = path,
			.families = wiring->families,
			.clock = &system_clock,
			.gate = &wiring->gate,
			/* Jobs have gateways of their own; the API is not for them, whatever address it is at. */
			.refused_network = wiring->config->networks,
			.caller =
				token_rule(wiring->token, wiring->store, wiring->signing_key, wiring->clock),
			.head_limit_ms = HEAD_LIMIT_MS,
			.address_limit = ADDRESS_LIMIT,
		},
		&wiring->listener, err);
}

static void grpc_families_fill(struct wiring *wiring)
{
	static const unsigned places[GRPC_FAMILIES] = { 0, 1, 3 };

	for (size_t i = 0; i < GRPC_FAMILIES; i++)
		wiring->grpc_families[i] = wiring->families[places[i]];
}

static enum status grpc_open(struct wiring *wiring, struct error *err)
{
	if (!wiring->config->grpc)
		return STATUS_OK;
	grpc_families_fill(wiring);
	return grpc_door_open(wiring->config, wiring->local_authority, wiring->grpc_families, &wiring->gate,
			      token_rule(wiring->token, wiring->store, wiring->signing_key, wiring->clock),
			      &wiring->grpc, err);
}

static enum status faults_open(struct wiring *wiring, struct error *err)
{
	const struct config *config = wiring->config;
	enum status rc = fault_book_open(wiring->store, (uint64_t)config->seed, &wiring->fault_book, err);

	if (rc)
		return rc;
	wiring->faults = (struct faults_context){ wiring->store, wiring->fault_book };
	wiring->gate = faults_gate(&wiring->faults);
	return faults_file_take(&wiring->faults, config->faults, err);
}

/* The store with it: what is kept of the clock is kept under the store's lock. */
static enum status clock_open(struct wiring *wiring, struct error *err)
{
	const struct config *config = wiring->config;
	enum status rc = emulator_clock_open(config->state_dir, config->clock, &wiring->emulator_clock, err);

	if (rc)
		return rc;
	wiring->clock = emulator_clock_get(wiring->emulator_clock);
	rc = store_open(config->state_dir, wiring->clock, &wiring->store, err);
	if (!rc)
		rc = emulator_clock_keep(wiring->emulator_clock, err);
	if (!rc && config->seed)
		chance_seed((uint64_t)config->seed, store_start(wiring->store));
	wiring->clock_context =
		(struct clock_context){ .clock = wiring->clock, .arg = wiring->emulator_clock };
	if (emulator_clock_is_steppable(wiring->emulator_clock))
		wiring->clock_context.advance = emulator_clock_advance;
	return rc;
}

/* What was opened is closed, in reverse. */
static void parts_close(struct wiring *wiring)
{
	if (wiring->listener)
		listener_close(wiring->listener, REQUESTS_END_MS);
	front_close(wiring->grpc);
	if (wiring->scheduler)
		scheduler_stop(wiring->scheduler);
	gateways_free(wiring->gateways); /* their requests read the store */
	gcs_host_close(wiring->gcs);
	objects_free(wiring->objects);
	if (wiring->engine)
		wiring->engine->ops->close(wiring->engine);
	if (wiring->store)
		store_close(wiring->store);
	if (wiring->presence >= 0)
		close(wiring->presence);
	if (wiring->scheduler)
		scheduler_free(wiring->scheduler);
	emulator_clock_free(wiring->emulator_clock);
	fault_book_free(wiring->fault_book);
	shell_sessions_free(wiring->shell_sessions);
	signing_key_free(wiring->signing_key);
	authority_free(wiring->authority);
	authority_free(wiring->local_authority);
	quota_counter_free(wiring->counter);
	token_free(wiring->token);
	free(wiring->trials_dir);
	free(wiring->state_dir);
	free(wiring->adc);
	free(wiring->wheels);
	free(wiring);
}

/* Whoever reaches the API runs containers, and so is as good as root. */
static enum status addresses_check(const struct config *config, struct error *err)
{
	const struct {
		const char *option, *listen;
	} addresses[] = { { "listen", config->listen }, { "grpc", config->grpc } };

	for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++) {
		if (!addresses[i].listen || config_listen_is_local(addresses[i].listen))
			continue;
		if (!config->token_file)
			return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
					 "--%s: %s can be reached from other machines: give --token-file too",
					 addresses[i].option, addresses[i].listen);
		log_event(LOG_WARNING, "reachable",
			  "option=%s address=%s hint=\"tokens and data travel without encryption\"",
			  addresses[i].option, addresses[i].listen);
	}
	return STATUS_OK;
}

enum status wiring_open(const struct config *config, struct wiring **ret_wiring, struct error *err)
{
	struct wiring *wiring = calloc(1, sizeof(*wiring));
	enum status rc;

	if (!wiring)
		return error_no_memory(err);
	wiring->config = config;
	wiring->presence = -1;
	rc = addresses_check(config, err);
	if (!rc)
		rc = given_files_find(wiring, err);
	if (!rc && config->token_file)
		rc = token_open(config->token_file, &wiring->token, err);
	if (!rc)
		rc = settings_open(wiring, err);
	if (!rc)
		rc = clock_open(wiring, err);
	if (!rc)
		rc = presence_take(store_instance(wiring->store), &wiring->presence, err);
	if (!rc)
		rc = faults_open(wiring, err);
	if (!rc)
		rc = objects_open(wiring, err);
	if (!rc)
		rc = trials_dir_find(wiring, err);
	if (!rc) {
		families_fill(wiring);
		rc = scheduling_open(wiring, err);
	}
	if (!rc)
		rc = grpc_open(wiring, err);
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
	/* Trials follow their tuning jobs. */
	for (size_t i = 0; i < list.count; i++)
		if (!list.jobs[i].parent)
			job_cancel_by_id(wiring->store, list.jobs[i].id,
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
	front_close(wiring->grpc);
	wiring->grpc = NULL;
	if (stop_jobs)
		jobs_stop(wiring);
	/* What is left goes at the next start. */
	scheduler_clear_networks(wiring->scheduler, NETWORKS_END_MS);
	parts_close(wiring);
}
