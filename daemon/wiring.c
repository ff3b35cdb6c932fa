/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/wiring.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/console/session.h"
#include "api/http/ledger.h"
#include "daemon/base/clock.h"
#include "daemon/base/instance_lock.h"
#include "daemon/base/log.h"
#include "daemon/base/memory.h"
#include "daemon/base/seeded_random.h"
#include "daemon/config.h"
#include "daemon/config_listen.h"
#include "daemon/emulator_clock.h"
#include "daemon/families.h"
#include "daemon/gateway/host_routes.h"
#include "daemon/gateway/job_gateway.h"
#include "daemon/gcs/gcs_host.h"
#include "daemon/given_file.h"
#include "daemon/grpc_endpoint.h"
#include "daemon/host_names.h"
#include "daemon/jobs_stop.h"
#include "daemon/listen_help.h"
#include "daemon/nodes.h"
#include "daemon/retention.h"
#include "daemon/swarm_watch.h"
#include "daemon/token.h"
#include "scheduler/engine/engine.h"
#include "scheduler/faults/fault_registry.h"
#include "scheduler/scheduler.h"
#include "store/jobs/jobs.h"
#include "store/keys/authority.h"
#include "store/keys/signing_key.h"
#include "store/objects/objects.h"
#include "store/small_file.h"
#include "store/state_dir.h"
#include "store/state_import.h"
#include "store/store.h"

enum { REQUESTS_END_MS = 5000, JOBS_END_MS = 15000, NETWORKS_END_MS = 3000, RETRY_PAUSE_MS = 5000 };

/* How long an ended job's network is kept for the next job. */
enum { POOLED_NETWORK_MS = 2000 };
/* Choice: a client has 30 s for the head of a request, and one address may have a quarter of the listener's connections. */
enum { HEAD_LIMIT_MS = 30000, ADDRESS_LIMIT = 128 };

struct wiring {
	const struct config *config;
	struct emulator_clock *emulator_clock;
	const struct clock *clock; /* the clock of emulator_clock */
	struct store *store;
	int presence; /* descriptor from instance_lock_take(); -1: the lock is not taken */
	struct machinery machinery;
	struct daemon_nodes nodes;
	struct swarm_watch *swarm_watch; /* NULL: no node is a swarm's */
	struct listener *listener, *grpc_rest;
	struct gateways *gateways;
	struct gcs_host *gcs;
	char *state_dir;     /* absolute, without links, so that the checked directory is the one that gets opened */
	struct token *token; /* NULL: no token is required */
	char *token_file; /* has the environment's token, for commands; NULL: none there, or an option names a file */
	char *trials_dir;
	struct host_names host_names;
	char *adc, *wheels; /* absolute paths without links */
	char project_number[24];
	struct image_map images;
	struct runtime_map runtimes;
	struct host_routes routes;
	struct quota_limits quota;
	struct quota_counter *counter;
	struct objects *objects; /* NULL: another emulator of storage is used */
	struct shell_sessions *shell_sessions;
	struct console_sessions *console_sessions; /* NULL: no token is asked for */
	struct ledger *ledger;
	struct fault_registry *fault_registry;
	struct faults_context faults;
	struct clock_context clock_context;
	struct call_gate gate; /* applies injected faults to calls */
	struct signing_key *signing_key;
	struct authority *authority, *local_authority;
	struct families families;
	struct state_context state;
	char *import_problem; /* why the last imported state could not be opened; NULL: it could */
	char run[SMALL_FILE_SUFFIX_SIZE];
	const struct wiring_reopening *reopening;
};

/* Opens the families of APIs. Cannot fail. */
static enum status families_open(struct wiring *wiring, struct error *err)
{
	const struct config *config = wiring->config;
	const struct families_parts parts = {
		.config = config,
		.clock = wiring->clock,
		.store = wiring->store,
		.objects = wiring->objects,
		.signing_key = wiring->signing_key,
		.shell_sessions = wiring->shell_sessions,
		.console_sessions = wiring->console_sessions,
		.images = &wiring->images,
		.runtimes = &wiring->runtimes,
		.quota = config->quota ? &wiring->quota : NULL,
		.counter = wiring->counter,
		.project_number = wiring->project_number,
		.trials_dir = wiring->trials_dir,
		.faults = &wiring->faults,
		.clock_context = &wiring->clock_context,
		.machinery = &wiring->machinery,
		.ledger = wiring->ledger,
		.state = &wiring->state,
	};

	(void)err;
	wiring->machinery.nodes = &wiring->nodes;
	wiring->machinery.store = wiring->store;
	small_file_suffix(wiring->run);
	wiring->state = (struct state_context){
		.state_dir = wiring->state_dir,
		.store = wiring->store,
		.objects = wiring->objects,
		.run = wiring->run + 1,
		.import_problem = wiring->import_problem,
		.clock_is_steppable = emulator_clock_is_steppable(wiring->emulator_clock),
		.reopen = wiring->reopening->wanted,
		.arg = wiring->reopening->arg,
	};
	snprintf(wiring->project_number, sizeof(wiring->project_number), "%" PRId64, config->project_number);
	families_fill(&wiring->families, &parts);
	return STATUS_OK;
}

static void cloud_tried(void *arg, int64_t job, const char *host)
{
	struct wiring *wiring = arg;

	scheduler_cloud_tried(wiring->machinery.scheduler, job, host);
}

static void call_failed(void *arg, int64_t job, const char *host, const char *text)
{
	struct wiring *wiring = arg;

	scheduler_call_failed(wiring->machinery.scheduler, job, host, text);
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
			.tenant_project = config->tenant_project,
			.storage = wiring->families.storage,
			.storage_endpoint = config->storage_endpoint,
			/* With the user's own credentials, all names without a route lead to the cloud. */
			.authority = config->adc && !wiring->routes.count ? NULL : wiring->authority,
			.names_alone = config->adc != NULL,
			.routes = &wiring->routes,
			.self = wiring->families.served,
			.self_rpc = wiring->families.by_rpc,
			.self_caller =
				token_rule(wiring->token, wiring->store, wiring->signing_key, wiring->clock),
			.cut_off = config->egress == EGRESS_NONE,
			.cloud_tried = cloud_tried,
			.call_failed = call_failed,
			.arg = wiring },
		&wiring->gateways, err);
}

/* Names the directory of trials: containers get directories below it, by absolute paths. */
static enum status trials_dir_name(struct wiring *wiring, struct error *err)
{
	(void)err;
	wiring->trials_dir = memory_printf("%s/trials", wiring->state_dir);
	return STATUS_OK;
}

static void gcs_make(struct wiring *wiring)
{
	const struct config *config = wiring->config;

	gcs_host_open(
		&(struct gcs_host_options){
			.state_dir = wiring->state_dir,
			.engines = wiring->nodes.urls,
			.engine_count = wiring->nodes.size,
			.engine_has = engine_has_path,
			.objects = wiring->objects,
			.storage = wiring->families.storage,
			.auto_buckets = config->buckets == BUCKETS_AUTO,
			.gate = &wiring->gate,
			.faults = wiring->fault_registry,
		},
		&wiring->gcs);
}

static void scheduler_make(struct wiring *wiring)
{
	const struct daemon_nodes *nodes = &wiring->nodes;

	wiring->machinery.scheduler = scheduler_new(&(struct scheduler_options){
		.store = wiring->store,
		.clock = wiring->clock,
		.project_number = wiring->project_number,
		.stop_grace_s = (unsigned)wiring->config->stop_grace_s,
		.retry_pause_ms = RETRY_PAUSE_MS,
		.node_patience_s = (unsigned)wiring->config->node_patience_s,
		.capacity = daemon_nodes_capacity(
			nodes, wiring->config,
			wiring->quota.vcpus != QUOTA_UNLIMITED ? wiring->quota.vcpus : 0),
		.inventory = nodes->named->inventory,
		.others = nodes->named + 1,
		.other_count = nodes->count - 1,
		.later_max = nodes->size - nodes->count,
		.nodes_span = nodes->makes != ENGINE_BRIDGES,
		.gateway = gateways_ops(wiring->gateways),
		.gcs = gcs_host_ops(wiring->gcs),
		.trials_dir = wiring->trials_dir,
		.objects = wiring->objects,
		.adc = wiring->adc,
		.wheels = wiring->wheels,
		.faults = wiring->fault_registry,
		.cut_off = wiring->config->egress == EGRESS_NONE,
		.pooled_network_ms = POOLED_NETWORK_MS,
	});
}

static enum status given_files_find(struct wiring *wiring, struct error *err)
{
	const struct config *config = wiring->config;
	enum status rc = STATUS_OK;

	if (config->adc)
		rc = given_file_find("adc", config->adc, GIVEN_FILE, &wiring->adc, err);
	if (!rc && config->wheels)
		rc = given_file_find("wheels", config->wheels, GIVEN_DIRECTORY, &wiring->wheels, err);
	/* The default directory may be absent. */
	if (!rc && config->docker_config_source != CONFIG_DEFAULT && access(config->docker_config, X_OK) != 0)
		rc = error_set(err, STATUS_INVALID_ARGUMENT, NULL, "--docker-config: %s: %s",
			       config->docker_config, strerror(errno));
	return rc;
}

/* Parses the settings that need neither the store nor the engine. config_read() has checked their texts. */
static enum status settings_open(struct wiring *wiring, struct error *err)
{
	const struct config *config = wiring->config;

	wiring->shell_sessions = shell_sessions_new();
	if (wiring->token)
		wiring->console_sessions = console_sessions_new(&system_clock);
	wiring->ledger = ledger_new();
	wiring->signing_key = signing_key_new(wiring->state_dir);
	wiring->authority = authority_new(wiring->state_dir, "ca", "googleapis.com");
	wiring->local_authority = authority_new(wiring->state_dir, "local-ca", "localhost");
	wiring->host_names = host_names_make(config);
	wiring->images = (struct image_map){ config->image_map.values, config->image_map.count };
	wiring->runtimes = (struct runtime_map){ config->runtimes.values, config->runtimes.count };
	if (daemon_nodes_make(config, &wiring->nodes, err))
		return STATUS_INVALID_ARGUMENT;
	if (host_routes_make((const char *const *)config->routes.values, config->routes.count,
			     &wiring->routes, err))
		return STATUS_INVALID_ARGUMENT;
	if (!config->quota)
		return STATUS_OK;
	wiring->counter = quota_counter_new();
	return quota_parse(config->quota, &wiring->quota, err);
}

static enum status scheduling_open(struct wiring *wiring, struct error *err)
{
	const struct config *config = wiring->config;
	enum status rc = gateways_make(wiring, err);

	if (rc)
		return rc;
	gcs_make(wiring);
	scheduler_make(wiring);
	emulator_clock_on_step(wiring->emulator_clock, scheduler_clock_stepped, wiring->machinery.scheduler);
	return daemon_nodes_open(
		&wiring->nodes, wiring->machinery.scheduler,
		&(struct engine_options){
			.instance = store_instance(wiring->store),
			.networks = config->networks,
			.registry_config = config->docker_config,
			.state_dir = wiring->state_dir,
			.reports_dir = wiring->trials_dir,
			.offline = config->offline,
			.carried_ports = { GATEWAY_PORT, GATEWAY_TLS_PORT,
					   config->storage_endpoint ? GATEWAY_STORAGE_PORT : 0 },
			.internal = config->egress == EGRESS_NONE,
		},
		err);
}

static enum status objects_open(struct wiring *wiring, struct error *err)
{
	const struct config *config = wiring->config;
	enum status rc;

	wiring->machinery.storage_endpoint = config->storage_endpoint;
	if (config->storage_endpoint)
		return STATUS_OK;
	rc = objects_new(
		&(struct objects_options){
			.state_dir = wiring->state_dir,
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
	enum status rc;

	if (!path)
		config_listen_split(wiring->config->listen, address, &port); /* checked when it was read */
	rc = listener_open(
		&(struct listener_options){
			.address = path ? NULL : address,
			.port = port,
			.path = path,
			.families = wiring->families.served,
			.clock = &system_clock,
			.gate = &wiring->gate,
			.hosts = wiring->host_names.names,
			/* Jobs must use their gateways: the API refuses them at every address. */
			.refused_network = wiring->config->networks,
			.caller =
				token_rule(wiring->token, wiring->store, wiring->signing_key, wiring->clock),
			.session = { CONSOLE_API, wiring->console_sessions ? console_session_check : NULL,
				     wiring->console_sessions },
			.ledger = wiring->ledger,
			.head_limit_ms = HEAD_LIMIT_MS,
			.address_limit = ADDRESS_LIMIT,
		},
		&wiring->listener, err);
	return rc ? listen_explain("listen", wiring->config->listen, err) : rc;
}

static enum status grpc_open(struct wiring *wiring, struct error *err)
{
	enum status rc;

	if (!wiring->config->grpc)
		return STATUS_OK;
	rc = grpc_endpoint_open(wiring->config, wiring->local_authority, wiring->families.by_rpc,
				wiring->families.served, wiring->host_names.names, &wiring->gate,
				token_rule(wiring->token, wiring->store, wiring->signing_key, wiring->clock),
				wiring->ledger, &wiring->machinery.grpc, &wiring->grpc_rest, err);
	return rc ? listen_explain("grpc", wiring->config->grpc, err) : rc;
}

static enum status faults_open(struct wiring *wiring, struct error *err)
{
	const struct config *config = wiring->config;
	enum status rc =
		fault_registry_open(wiring->store, (uint64_t)config->seed, &wiring->fault_registry, err);

	if (rc)
		return rc;
	wiring->faults = (struct faults_context){
		.store = wiring->store,
		.registry = wiring->fault_registry,
		.clock = wiring->clock,
		.project_id = config->project,
		.project_number = wiring->project_number,
		.families = wiring->families.served,
	};
	wiring->gate = faults_gate(&wiring->faults);
	return STATUS_OK;
}

/* Comes after families_open(), because rules refer to calls of the families. */
static enum status faults_file_open(struct wiring *wiring, struct error *err)
{
	return faults_file_take(&wiring->faults, wiring->config->faults, err);
}

static enum status watches_start(struct wiring *wiring, struct error *err)
{
	const struct config *config = wiring->config;
	const struct retention_options options = { wiring->store, wiring->clock, config->keep, config->max_state };
	const enum status rc = retention_open(&options, &wiring->machinery.retention, err);

	return rc ? rc
		  : swarm_watch_open(&wiring->nodes, wiring->machinery.scheduler, &wiring->swarm_watch, err);
}

/* Opens the clock, then the store, then saves the clock's settings: only the holder of the store's lock may write them. */
static enum status clock_open(struct wiring *wiring, struct error *err)
{
	const struct config *config = wiring->config;
	enum status rc = state_import_place(wiring->state_dir, err);

	if (!rc)
		rc = emulator_clock_open(wiring->state_dir, config->clock, &wiring->emulator_clock, err);
	if (rc)
		return rc;
	wiring->clock = emulator_clock_get(wiring->emulator_clock);
	rc = store_open(wiring->state_dir, wiring->clock, &wiring->store, err);
	if (!rc)
		rc = emulator_clock_keep(wiring->emulator_clock, err);
	if (!rc && config->seed)
		seeded_random_start((uint64_t)config->seed, store_start(wiring->store));
	wiring->clock_context =
		(struct clock_context){ .clock = wiring->clock, .arg = wiring->emulator_clock };
	if (emulator_clock_is_steppable(wiring->emulator_clock))
		wiring->clock_context.advance = emulator_clock_advance;
	return rc;
}

/* Closes all opened parts, in the reverse order of opening. */
static void parts_close(struct wiring *wiring)
{
	if (wiring->listener)
		listener_close(wiring->listener, REQUESTS_END_MS);
	front_close(wiring->machinery.grpc);
	listener_close(wiring->grpc_rest, REQUESTS_END_MS);
	retention_close(wiring->machinery.retention);
	swarm_watch_close(wiring->swarm_watch);
	if (wiring->machinery.scheduler)
		scheduler_stop(wiring->machinery.scheduler);
	daemon_nodes_close(&wiring->nodes); /* before the gateways, because nodes pass connections to them */
	gateways_free(wiring->gateways); /* before the store, which their requests read */
	gcs_host_close(wiring->gcs);
	objects_free(wiring->objects);
	if (wiring->store)
		store_close(wiring->store);
	if (wiring->presence >= 0)
		close(wiring->presence);
	if (wiring->machinery.scheduler)
		scheduler_free(wiring->machinery.scheduler);
	emulator_clock_free(wiring->emulator_clock);
	fault_registry_free(wiring->fault_registry);
	shell_sessions_free(wiring->shell_sessions);
	console_sessions_free(wiring->console_sessions);
	ledger_free(wiring->ledger);
	signing_key_free(wiring->signing_key);
	authority_free(wiring->authority);
	authority_free(wiring->local_authority);
	quota_counter_free(wiring->counter);
	token_free(wiring->token);
	free(wiring->token_file);
	host_routes_deinit(&wiring->routes);
	host_names_deinit(&wiring->host_names);
	daemon_nodes_deinit(&wiring->nodes);
	free(wiring->trials_dir);
	free(wiring->state_dir);
	free(wiring->import_problem);
	free(wiring->adc);
	free(wiring->wheels);
	free(wiring);
}

static enum status addresses_check(struct wiring *wiring, struct error *err)
{
	return listen_check(wiring->config, err);
}

static enum status token_read(struct wiring *wiring, struct error *err)
{
	const char *path = wiring->config->token_file;

	if (path)
		return token_open(path, &wiring->token, err);
	return token_given() ? token_take(token_given(), &wiring->token, err) : STATUS_OK;
}

static enum status token_put(struct wiring *wiring, struct error *err)
{
	return wiring->token && !wiring->config->token_file
		       ? token_keep(wiring->state_dir, token_given(), &wiring->token_file, err)
		       : STATUS_OK;
}

/* Finds the state directory. Its keys give access as a token does. Choice: with a token, no other user may open it;
 * else warn. */
static enum status keys_find(struct wiring *wiring, struct error *err)
{
	return state_dir_find(wiring->config->state_dir, wiring->token != NULL, &wiring->state_dir, err);
}

static enum status instance_lock_open(struct wiring *wiring, struct error *err)
{
	/* The store holds the lock of the state directory. */
	return instance_lock_take(store_instance(wiring->store), INSTANCE_BESIDE_OTHER_USERS,
				  &wiring->presence, err);
}

/* The order matters: each function needs the parts that the functions before it opened. */
static enum status (*const openings[])(struct wiring *wiring, struct error *err) = {
	addresses_check,    given_files_find, token_read,   keys_find,       settings_open,  clock_open,
	instance_lock_open, faults_open,      objects_open, trials_dir_name, families_open,  faults_file_open,
	scheduling_open,    watches_start,    grpc_open,    token_put,       listening_open,
};

/* *ret_state_dir, the caller's: the directory that was found; NULL: none was found. */
static enum status wiring_try(const struct config *config, const struct wiring_reopening *reopening,
			      const char *import_problem, struct wiring **ret_wiring, char **ret_state_dir,
			      struct error *err)
{
	struct wiring *wiring = memory_calloc(1, sizeof(*wiring));
	enum status rc = STATUS_OK;

	wiring->config = config;
	wiring->reopening = reopening;
	wiring->import_problem = memory_strdup(import_problem);
	wiring->presence = -1;
	for (size_t i = 0; !rc && i < sizeof(openings) / sizeof(openings[0]); i++)
		rc = openings[i](wiring, err);
	*ret_state_dir = memory_strdup(wiring->state_dir);
	if (rc)
		parts_close(wiring);
	else
		*ret_wiring = wiring;
	return rc;
}

enum status wiring_open(const struct config *config, const struct wiring_reopening *reopening,
			struct wiring **ret_wiring, struct error *err)
{
	struct error why AUTO_ERROR = { 0 };
	AUTO(string) char *state_dir = NULL;
	AUTO(string) char *again = NULL;

	if (wiring_try(config, reopening, NULL, ret_wiring, &state_dir, &why) == STATUS_OK) {
		if (state_import_confirm(state_dir))
			log_event(LOG_INFO, "state-imported", "state_dir=%s", state_dir);
		return STATUS_OK;
	}
	if (!state_dir || !state_import_revert(state_dir))
		return error_move(err, &why);
	log_event(LOG_WARNING, "import-reverted", "error=\"%s\"", why.text ? why.text : "");
	return wiring_try(config, reopening, why.text ? why.text : "", ret_wiring, &again, err);
}

const char *wiring_token_file(const struct wiring *wiring)
{
	return wiring->token_file ? wiring->token_file : wiring->config->token_file;
}

const char *wiring_state_dir(const struct wiring *wiring)
{
	return wiring->state_dir;
}

uint16_t wiring_port(const struct wiring *wiring)
{
	return listener_port(wiring->listener);
}

uint16_t wiring_grpc_port(const struct wiring *wiring)
{
	return wiring->machinery.grpc ? front_port(wiring->machinery.grpc) : 0;
}

void wiring_close(struct wiring *wiring, bool stop_jobs)
{
	/* Stop requests first: a job submitted while others are being stopped would stay running. */
	store_end_queries(wiring->store);
	listener_close(wiring->listener, REQUESTS_END_MS);
	wiring->listener = NULL;
	front_close(wiring->machinery.grpc);
	listener_close(wiring->grpc_rest, REQUESTS_END_MS);
	wiring->machinery.grpc = NULL;
	wiring->grpc_rest = NULL;
	if (stop_jobs)
		jobs_stop(wiring->store, wiring->machinery.scheduler,
			  (unsigned)wiring->config->stop_grace_s * 1000 + JOBS_END_MS);
	/* The next start removes networks that remain. */
	scheduler_clear_networks(wiring->machinery.scheduler, NETWORKS_END_MS);
	parts_close(wiring);
}
