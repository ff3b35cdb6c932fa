/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/gateway/job_gateway.h"

#include <net/if.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "api/logging/routes.h"
#include "api/metadata/metadata.h"
#include "api/storage/storage.h"
#include "daemon/base/clock.h"
#include "daemon/base/log.h"
#include "daemon/base/memory.h"
#include "daemon/base/small_thread.h"
#include "daemon/gateway/called_names.h"
#include "daemon/gateway/cloud_address.h"
#include "daemon/gateway/relay.h"
#include "scheduler/logs/log_pump.h"
#include "scheduler/plan/dialect.h"
#include "store/logs/logs.h"

enum {
	PORT_HTTP = GATEWAY_PORT,
	CLOSE_WAIT_MS = 1000,
	ADDRESS_WAIT_S = 1, /* limit for the wait until an earlier gateway at the same address is closed */
	STORAGE_FAMILIES_MAX = 3,
	PLACE_TRIES = 8, /* attempts to find a free port followed by another free port */
	US_PER_S = 1000000,
};

/* Always leads to the cloud. Source: https://cloud.google.com/storage/docs/request-endpoints (read 2026-11-22) */
static const char public_storage[] = "https://commondatastorage.googleapis.com";

struct job_gateway {
	struct job_gateway *next, *next_carried; /* next_carried: guarded by carried_lock */
	struct gateways *owner;
	int64_t job;
	atomic_uint attempt; /* the present one */
	uint32_t address, first_replica;
	char address_text[16], device[IF_NAMESIZE];
	bool is_carried;       /* the address is on no interface of this machine: connections come by connection_take() */
	unsigned device_index; /* a new device of the same name has another index; sockets of the old one receive nothing */
	struct gateway_address place;
	struct listener *listener;
	struct listener *by_address; /* serves metadata alone, at CLOUD_ADDRESS; NULL: not served there */
	struct called_names *names;  /* NULL: calls of the cloud's hosts are not answered here */
	struct relay *relay;
	struct family families[1 + STORAGE_FAMILIES_MAX + 1 + 1],
		*rpc_families; /* rpc_families: the last elements of families */
	/* At CLOUD_ADDRESS; without Cloud Storage: AWS's libraries ask there for a token by PUT, as an upload is made. */
	struct family metadata_alone[2];
	struct metadata_context metadata;
	struct storage_context storage[STORAGE_FAMILIES_MAX];
	struct logging_context logging;
	char *region, *email, *project;
	const char *tenant; /* the project id that the metadata server reports; NULL: the daemon's project id */
	/* One element for each replica, in the order of the replicas' addresses. */
	struct metadata_instance *replicas;
	struct log_source **sources;
	size_t replica_count;
};

struct gateways {
	struct gateways_options options;
	struct relay_options relay;
	struct job_gateway *open; /* used by the scheduler's thread alone */
	struct name_list list;    /* changed by the scheduler's thread alone; its names are never changed */
	bool address_logged;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct job_gateway *closing; /* gateways that threads of their own are closing; guarded by lock */
	pthread_mutex_t carried_lock;
	struct job_gateway *carried; /* gateways with is_carried, which connection_take() passes connections to */
	int64_t carried_key; /* the newest gateway's key; all gateways have different ones, even those of one job */
};

static bool replica_find(void *arg, uint32_t peer, struct metadata_instance *ret_instance)
{
	const struct job_gateway *gateway = arg;
	const uint32_t ordinal = peer - gateway->first_replica;

	if (ordinal >= gateway->replica_count)
		return false;
	*ret_instance = gateway->replicas[ordinal];
	ret_instance->attempt = atomic_load(&gateway->attempt);
	return true;
}

static const struct log_source *writer_find(void *arg, uint32_t peer)
{
	const struct job_gateway *gateway = arg;
	const uint32_t ordinal = peer - gateway->first_replica;

	return ordinal < gateway->replica_count ? gateway->sources[ordinal] : NULL;
}

/* ---- the parts of a gateway ---- */

static void replicas_fill(struct job_gateway *gateway, const struct gateway_request *request)
{
	const struct plan *plan = request->plan;
	struct metadata_instance *next;

	gateway->replica_count = plan_replica_count(plan);
	gateway->replicas = memory_calloc(gateway->replica_count + 1, sizeof(*gateway->replicas));
	gateway->sources = memory_calloc(gateway->replica_count + 1, sizeof(struct log_source *));
	next = gateway->replicas;
	for (unsigned role = 0; role < ROLE_COUNT; role++) {
		const struct pool *pool = &plan->pools[role];

		for (unsigned i = 0; i < pool->count; i++, next++) {
			gateway->sources[next - gateway->replicas] =
				replica_log_source(plan, request->log_owner, (enum role)role, i);
			*next = (struct metadata_instance){
				.job = gateway->job,
				.role = role,
				.index = i,
				.created_s = request->started_us / US_PER_S, /* when the cloud would create a machine */
				.id = (uint64_t)gateway->job << 16 | (uint64_t)(next - gateway->replicas + 1),
			};
			replica_host_name(plan, (enum role)role, i, next->hostname);
			snprintf(next->machine_type, sizeof(next->machine_type), "%s",
				 pool->machine_type ? pool->machine_type : "");
		}
	}
}

static char *email_of(const struct gateways *gateways, const struct plan *plan)
{
	if (plan->service_account)
		return memory_strdup(plan->service_account);
	return service_agent_email(plan->dialect, gateways->options.project_number);
}

static void families_fill(struct job_gateway *gateway)
{
	const struct gateways_options *options = &gateway->owner->options;
	const struct family *storage = options->storage;
	struct family *next = gateway->families;

	gateway->metadata = (struct metadata_context){
		.store = options->store,
		.key = options->key,
		.clock = options->clock,
		.project_id = gateway->tenant ? gateway->tenant : options->project_id,
		.project_number = options->project_number,
		.region = gateway->region,
		.email = gateway->email,
		.find = replica_find,
		.arg = gateway,
	};
	*next++ = (struct family){ .name = "metadata",
				   .routes = metadata_routes,
				   .context = &gateway->metadata,
				   .lenient_query = true,
				   .error_render = metadata_error_render };
	gateway->metadata_alone[0] = gateway->families[0];
	for (size_t i = 0; storage && storage[i].name && i < STORAGE_FAMILIES_MAX; i++) {
		gateway->storage[i] = *(const struct storage_context *)storage[i].context;
		gateway->storage[i].job = gateway->job;
		gateway->storage[i].attempt = &gateway->attempt;
		gateway->storage[i].job_project = gateway->project;
		if (!options->cut_off)
			gateway->storage[i].elsewhere = public_storage;
		*next = storage[i];
		next++->context = &gateway->storage[i];
	}
	gateway->logging = (struct logging_context){
		.store = options->store,
		.clock = options->clock,
		.project_id = options->project_id,
		.project_number = options->project_number,
		.writer = writer_find,
		.arg = gateway,
	};
	gateway->rpc_families = next;
	*next = (struct family){ .name = "logging", .routes = logging_routes, .context = &gateway->logging };
}

/* ---- connections that the sink passes on ---- */

static void connection_serve(struct job_gateway *gateway, uint16_t port, const struct sockaddr_in *peer,
			     int fd)
{
	if (port == GATEWAY_STORAGE_PORT && gateway->relay)
		relay_put(gateway->relay, peer, fd);
	else if (port == GATEWAY_STORAGE_PORT || (port == GATEWAY_TLS_PORT && !gateway->names))
		close(fd);
	else if (gateway->names)
		called_names_put(gateway->names, port, peer, fd);
	else
		listener_adopt(gateway->listener, fd, (const struct sockaddr *)peer, sizeof(*peer));
}

static void connection_take(void *arg, int64_t key, uint16_t port, const struct sockaddr_in *peer, int fd)
{
	struct gateways *gateways = arg;
	struct job_gateway *gateway;

	pthread_mutex_lock(&gateways->carried_lock);
	gateway = gateways->carried;
	while (gateway && gateway->place.sink.key != key)
		gateway = gateway->next_carried;
	if (gateway)
		connection_serve(gateway, port, peer, fd);
	else
		close(fd);
	pthread_mutex_unlock(&gateways->carried_lock);
}

static void carried_add(struct job_gateway *gateway)
{
	struct gateways *gateways = gateway->owner;

	pthread_mutex_lock(&gateways->carried_lock);
	gateway->next_carried = gateways->carried;
	gateways->carried = gateway;
	pthread_mutex_unlock(&gateways->carried_lock);
}

/* After this returns, connection_take() passes no more connections to @gateway. */
static void carried_remove(struct job_gateway *gateway)
{
	struct gateways *gateways = gateway->owner;
	struct job_gateway **at = &gateways->carried;

	if (!gateway->is_carried)
		return;
	pthread_mutex_lock(&gateways->carried_lock);
	while (*at != gateway)
		at = &(*at)->next_carried;
	*at = gateway->next_carried;
	pthread_mutex_unlock(&gateways->carried_lock);
}

static void servers_close(struct job_gateway *gateway)
{
	called_names_close(gateway->names, CLOSE_WAIT_MS);
	relay_close(gateway->relay);
	listener_close(gateway->by_address, CLOSE_WAIT_MS);
	listener_close(gateway->listener, CLOSE_WAIT_MS);
	gateway->names = NULL;
	gateway->relay = NULL;
	gateway->listener = gateway->by_address = NULL;
}

static void job_gateway_free(struct job_gateway *gateway)
{
	if (!gateway)
		return;
	servers_close(gateway);
	free(gateway->region);
	free(gateway->email);
	free(gateway->project);
	for (size_t i = 0; gateway->sources && i < gateway->replica_count; i++)
		log_source_unref(gateway->sources[i]);
	free(gateway->sources);
	free(gateway->replicas);
	free(gateway);
}

DEFINE_AUTO(job_gateway, struct job_gateway *, job_gateway_free)

static struct job_gateway *job_gateway_new(struct gateways *gateways, const struct gateway_request *request)
{
	AUTO(job_gateway) struct job_gateway *gateway = memory_calloc(1, sizeof(*gateway));

	gateway->owner = gateways;
	gateway->job = request->job;
	atomic_init(&gateway->attempt, request->attempt);
	gateway->address = request->address;
	gateway->first_replica = request->first_replica;
	gateway->is_carried = request->is_carried;
	gateway->device_index = if_nametoindex(request->device);
	snprintf(gateway->device, sizeof(gateway->device), "%s", request->device);
	address_print(request->address, gateway->address_text);
	gateway->region = memory_strdup(request->plan->region ? request->plan->region : "us-central1");
	gateway->email = email_of(gateways, request->plan);
	gateway->project = memory_strdup(request->plan->project);
	if (request->plan->dialect && strcmp(request->plan->dialect, "aiplatform") == 0)
		gateway->tenant = gateways->options.tenant_project;
	replicas_fill(gateway, request);
	families_fill(gateway);
	return TAKE(gateway);
}

/* ---- the servers of a gateway ---- */

/* The listeners serve only the job's replicas, because storage does not require a token from them. */
static struct device_peers peers_of(const struct job_gateway *gateway)
{
	return (struct device_peers){ gateway->first_replica, (uint32_t)gateway->replica_count };
}

enum listening { LISTENS, ADOPTS };

/* @address NULL: the gateway's own. */
static enum status listener_start(struct job_gateway *gateway, const char *address, uint16_t port,
				  enum listening listening, struct listener **ret_listener, struct error *err)
{
	const struct device_peers peers = peers_of(gateway);

	return listener_open(
		&(struct listener_options){
			.address = address ? address : gateway->address_text,
			.borrowed = address != NULL,
			.port = port,
			.families = address ? gateway->metadata_alone : gateway->families,
			.clock = &system_clock,
			.gate = gateway->owner->options.gate,
			.connection_limit = GATEWAY_CONNECTIONS_MAX,
			.any_host = true,
			.owner = gateway->job,
			.device = gateway->device,
			.first_peer = peers.first,
			.peer_count = peers.count,
			.adopts_only = listening == ADOPTS,
		},
		ret_listener, err);
}

/* Another emulator of storage is reached at the port after the gateway's, so that either port follows from the other. */
static enum status relay_start(struct job_gateway *gateway, struct error *err)
{
	struct relay_options options = gateway->owner->relay;
	const uint16_t port = gateway->place.port;

	if (!gateway->owner->options.storage_endpoint)
		return STATUS_OK;
	if (port == UINT16_MAX)
		return error_set(
			err, STATUS_UNAVAILABLE, NULL,
			"the gateway has port 65535, and the relay for --storage-endpoint needs the port "
			"after it");
	options.device = gateway->device;
	options.address = gateway->address;
	options.peers = peers_of(gateway);
	options.port = (uint16_t)(port + 1);
	options.is_carried = gateway->is_carried;
	return relay_open(&options, &gateway->relay, err);
}

static enum status servers_start_at(struct job_gateway *gateway, uint16_t port, struct error *err)
{
	const bool is_filtered = port == PORT_HTTP && gateway->names;
	const bool adopts = is_filtered || gateway->is_carried;
	enum status rc =
		listener_start(gateway, NULL, port, adopts ? ADOPTS : LISTENS, &gateway->listener, err);

	if (!rc && is_filtered)
		rc = called_names_plain_open(gateway->names, port, gateway->listener, err);
	if (!rc)
		gateway->place.port = adopts ? port : listener_port(gateway->listener);
	if (!rc)
		rc = relay_start(gateway, err);
	if (!rc)
		return STATUS_OK;
	if (is_filtered)
		called_names_plain_close(gateway->names);
	listener_close(TAKE(gateway->listener), 0);
	return rc;
}

static enum status servers_start(struct job_gateway *gateway, uint16_t known_port, struct error *err)
{
	enum status rc;

	if (known_port)
		return servers_start_at(gateway, known_port, err);
	if (gateway->is_carried)
		return servers_start_at(gateway, GATEWAY_PORT, err);
	rc = servers_start_at(gateway, PORT_HTTP, err);
	for (int i = 0; rc && i < PLACE_TRIES; i++) {
		error_deinit(err);
		rc = servers_start_at(gateway, 0, err);
	}
	return rc;
}

static void address_report(struct gateways *gateways, const struct error *err)
{
	if (!gateways->address_logged)
		log_event(LOG_WARNING, "metadata-address-missing", "error=\"%s\" hint=\"%s\"",
			  err->text ? err->text : "",
			  "programs in jobs find no metadata server at " CLOUD_ADDRESS);
	gateways->address_logged = true;
}

static void names_open(struct job_gateway *gateway)
{
	called_names_open(
		&(struct called_names_options){ .gateways = &gateway->owner->options,
						.list = &gateway->owner->list,
						.job = gateway->job,
						.region = gateway->region,
						.device = gateway->device,
						.address_text = gateway->address_text,
						.address = gateway->address,
						.is_carried = gateway->is_carried,
						.peers = peers_of(gateway),
						.served = gateway->families + 1, /* all but metadata */
						.served_rpc = gateway->rpc_families },
		&gateway->names);
}

/* Serves metadata at CLOUD_ADDRESS as well. Only with port 80: programs that know the address alone use no other port. */
static void address_take(struct job_gateway *gateway)
{
	struct error err AUTO_ERROR = { 0 };
	enum status rc;

	if (!gateway->place.port_80 || !*gateway->device)
		return;
	rc = cloud_address_lead(gateway->device, &err);
	if (!rc)
		rc = listener_start(gateway, CLOUD_ADDRESS, PORT_HTTP, LISTENS, &gateway->by_address, &err);
	if (rc)
		address_report(gateway->owner, &err);
}

/* ---- for the scheduler ---- */

static struct job_gateway **gateway_find(struct gateways *gateways, int64_t job)
{
	struct job_gateway **at = &gateways->open;

	while (*at && (*at)->job != job)
		at = &(*at)->next;
	return at;
}

static bool is_still_good(const struct job_gateway *gateway, const struct gateway_request *request)
{
	return gateway->address == request->address && gateway->is_carried == request->is_carried &&
	       strcmp(gateway->device, request->device) == 0 &&
	       gateway->device_index == if_nametoindex(request->device) &&
	       (!request->port || request->port == gateway->place.port);
}

static bool is_closing(const struct gateways *gateways, uint32_t address)
{
	for (const struct job_gateway *gateway = gateways->closing; gateway; gateway = gateway->next)
		if (gateway->address == address)
			return true;
	return false;
}

/* Waits, at most ADDRESS_WAIT_S, until the gateway of an ended job that had this address is closed. */
static void address_await(struct gateways *gateways, uint32_t address)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += ADDRESS_WAIT_S;
	pthread_mutex_lock(&gateways->lock);
	while (is_closing(gateways, address) &&
	       pthread_cond_timedwait(&gateways->changed, &gateways->lock, &until) == 0)
		;
	pthread_mutex_unlock(&gateways->lock);
}

static enum status gateway_open(void *arg, const struct gateway_request *request,
				struct gateway_address *ret_place, struct error *err)
{
	struct gateways *gateways = arg;
	struct job_gateway **at = gateway_find(gateways, request->job), *old = *at;
	AUTO(job_gateway) struct job_gateway *gateway = NULL;
	enum status rc;

	if (old && is_still_good(old, request)) {
		atomic_store(&old->attempt, request->attempt);
		*ret_place = old->place;
		return STATUS_OK;
	}
	if (old) {
		*at = old->next;
		carried_remove(old);
		job_gateway_free(old);
	}
	gateway = job_gateway_new(gateways, request);
	address_await(gateways, request->address);
	names_open(gateway);
	rc = servers_start(gateway, request->port, err);
	if (rc)
		return rc;
	gateway->place.port_80 = gateway->place.port == PORT_HTTP;
	address_take(gateway);
	gateway->place.storage_port = gateway->relay ? relay_port(gateway->relay) : 0;
	gateway->place.ca_bundle = called_names_bundle(gateway->names);
	gateway->place.served = gateways->list.names;
	gateway->place.regions = gateways->list.regions;
	/* With credentials of the user's own (names_alone), calls of the cloud's hosts go to the real hosts directly. */
	gateway->place.watched =
		gateway->place.ca_bundle && !gateways->options.cut_off && !gateways->options.names_alone;
	gateway->place.cut_off = gateways->options.cut_off;
	if (gateway->is_carried) {
		gateway->place.sink = (struct connection_sink){ connection_take, gateways, ++gateways->carried_key };
		carried_add(gateway);
	}
	*ret_place = gateway->place;
	gateway->next = gateways->open;
	gateways->open = TAKE(gateway);
	return STATUS_OK;
}

/* Closes the servers of a gateway, and then frees it and its address. */
static void closing_end(struct job_gateway *gateway)
{
	struct gateways *gateways = gateway->owner;
	struct job_gateway **at = &gateways->closing;

	servers_close(gateway);
	pthread_mutex_lock(&gateways->lock);
	while (*at != gateway)
		at = &(*at)->next;
	*at = gateway->next;
	pthread_cond_broadcast(&gateways->changed);
	pthread_mutex_unlock(&gateways->lock);
	job_gateway_free(gateway);
}

static void *closing_main(void *arg)
{
	pthread_detach(pthread_self());
	closing_end(arg);
	return NULL;
}

/* Closes the job's gateway on a thread of its own, so that the scheduler does not wait for running requests. */
static void gateway_close(void *arg, int64_t job)
{
	struct gateways *gateways = arg;
	struct job_gateway **at = gateway_find(gateways, job), *gateway = *at;
	pthread_t thread;

	if (!gateway)
		return;
	*at = gateway->next;
	carried_remove(gateway);
	pthread_mutex_lock(&gateways->lock);
	gateway->next = gateways->closing;
	gateways->closing = gateway;
	pthread_mutex_unlock(&gateways->lock);
	if (small_thread_start(&thread, closing_main, gateway, NULL) != STATUS_OK)
		closing_end(gateway);
}

struct gateway_ops gateways_ops(struct gateways *gateways)
{
	return (struct gateway_ops){ gateway_open, gateway_close, gateways };
}

enum status gateways_new(const struct gateways_options *options, struct gateways **ret_gateways,
			 struct error *err)
{
	struct gateways *gateways = memory_calloc(1, sizeof(*gateways));
	pthread_condattr_t attributes;

	gateways->options = *options;
	name_list_make(options, &gateways->list);
	if (options->storage_endpoint &&
	    relay_target_resolve(options->storage_endpoint, &gateways->relay, err)) {
		error_wrap(err, "--storage-endpoint");
		name_list_deinit(&gateways->list);
		free(gateways);
		return STATUS_UNAVAILABLE;
	}
	pthread_mutex_init(&gateways->lock, NULL);
	pthread_mutex_init(&gateways->carried_lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&gateways->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	*ret_gateways = gateways;
	return STATUS_OK;
}

void gateways_free(struct gateways *gateways)
{
	if (!gateways)
		return;
	while (gateways->open)
		gateway_close(gateways, gateways->open->job);
	pthread_mutex_lock(&gateways->lock);
	while (gateways->closing)
		pthread_cond_wait(&gateways->changed, &gateways->lock);
	pthread_mutex_unlock(&gateways->lock);
	cloud_address_sweep();
	pthread_cond_destroy(&gateways->changed);
	pthread_mutex_destroy(&gateways->lock);
	pthread_mutex_destroy(&gateways->carried_lock);
	name_list_deinit(&gateways->list);
	free(gateways);
}
