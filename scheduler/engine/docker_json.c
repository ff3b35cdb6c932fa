/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/engine/docker_json.h"

#include <inttypes.h>
#include <limits.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/json.h"
#include "daemon/base/timestamp.h"
#include "scheduler/engine/docker_mounts.h"

#define LABEL(name)   "trainyard." name
#define OPTION_BRIDGE "com.docker.network.bridge.name"

static const char *const reach_words[] = {
	[REACH_BRIDGE] = "bridge", [REACH_JOINED] = "container", [REACH_TUNNEL] = "tunnel"
};

enum { MEMORY_LEAST_BYTES = 6 * 1024 * 1024, NETWORK_ID_LENGTH = 64, SWARM_ID_LENGTH = 25 };

void docker_container_name(const char *instance, const struct replica_key *key, char name[DOCKER_NAME_SIZE])
{
	int length = snprintf(name, DOCKER_NAME_SIZE, "ty-%.32s-%" PRId64 "-%s-%u-a%u", instance, key->job,
			      role_name(key->role), key->index, key->attempt);

	if (key->restart)
		snprintf(name + length, DOCKER_NAME_SIZE - (size_t)length, "-r%u", key->restart);
}

void docker_network_name(const char *instance, int64_t job, char name[DOCKER_NAME_SIZE])
{
	snprintf(name, DOCKER_NAME_SIZE, "ty-%.32s-%" PRId64, instance, job);
}

void docker_replica_name(const struct replica_key *key, char name[32])
{
	snprintf(name, 32, "%s-%u", role_name(key->role), key->index);
}

void docker_query_encode(const char *value, char *encoded, size_t size)
{
	static const char hex[] = "0123456789ABCDEF";
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/:@";
	size_t at = 0;

	for (; *value && at + 4 <= size; value++) {
		unsigned char byte = (unsigned char)*value;

		if (strchr(plain, byte)) {
			encoded[at++] = (char)byte;
			continue;
		}
		encoded[at++] = '%';
		encoded[at++] = hex[byte >> 4];
		encoded[at++] = hex[byte & 15];
	}
	encoded[at] = '\0';
}

void docker_label_filter(const char *instance, const int64_t *job, char filter[DOCKER_PATH_SIZE])
{
	char plain[DOCKER_NAME_SIZE * 2];
	char more[64] = "";

	if (job)
		snprintf(more, sizeof(more), ",\"" LABEL("job") "=%" PRId64 "\"", *job);
	snprintf(plain, sizeof(plain), "{\"label\":[\"" LABEL("instance") "%s%.32s\"%s]}",
		 instance ? "=" : "", instance ? instance : "", more);
	docker_query_encode(plain, filter, DOCKER_PATH_SIZE);
}

static char *gpus_text(const json_t *device_ids)
{
	struct text text AUTO_TEXT = { 0 };
	const json_t *id;
	size_t i;

	json_array_foreach(device_ids, i, id)
		text_printf(&text, "%s%s", i ? "," : "", json_string_value(id));
	return TAKE(text.data);
}

/* Makes the labels of a container. Each label but that of GPUs is always set, even if its value is empty or 0: the
 * container would otherwise get the image's label of that name. */
static json_t *labels_make(const char *instance, const struct replica_spec *spec)
{
	const struct replica_key *key = &spec->key;
	AUTO(string) char *gpus = gpus_text(spec->device_ids);
	json_t *labels =
		json_pack("{ss ss ss ss}", LABEL("instance"), instance, LABEL("project"), spec->project,
			  LABEL("job_id"), spec->job_id, LABEL("pool"), role_name(key->role));

	json_object_set_new(labels, LABEL("job"), json_sprintf("%" PRId64, key->job));
	json_object_set_new(labels, LABEL("replica"),
			    json_sprintf("%s-%u", role_name(key->role), key->index));
	json_object_set_new(labels, LABEL("attempt"), json_sprintf("%u", key->attempt));
	json_object_set_new(labels, LABEL("restart"), json_sprintf("%u", key->restart));
	json_object_set_new(labels, LABEL("gateway"), json_sprintf("%u", spec->gateway_port));
	json_object_set_new(labels, LABEL("made"), json_sprintf("%" PRId64, spec->made_us));
	json_object_set_new(labels, DOCKER_LABEL_FILES, json_string(DOCKER_FILES_MOUNTED));
	json_object_set_new(labels, DOCKER_LABEL_REPORTS, json_string(""));
	if (gpus) /* containers with GPUs are listed by this label, so others must not have it */
		json_object_set_new(labels, DOCKER_LABEL_GPUS, json_string(gpus));
	return labels;
}

/* The memory limit, at least MEMORY_LEAST_BYTES: engines refuse to create a container with a smaller one. 0: none. */
static int64_t memory_of(const struct replica_spec *spec)
{
	bool too_small = spec->memory_bytes > 0 && spec->memory_bytes < MEMORY_LEAST_BYTES;

	return too_small ? MEMORY_LEAST_BYTES : spec->memory_bytes;
}

/* The settings of every container, whatever its job says: no privileges, nothing of the host's, an init process that
 * reaps zombies, logs that are readable and bounded, no automatic restart. */
static json_t *host_config_make(const struct replica_spec *spec)
{
	int64_t memory_bytes = memory_of(spec);

	/* clang-format off */
	return json_pack("{ss sb sb sb s[sss] s[s] s{ss} s{ss s{ss ss}} si sI sI sI}",
			 "NetworkMode", spec->network,
			 "Init", 1,
			 "AutoRemove", 0,
			 "Privileged", 0,
			 "CapDrop", "NET_RAW", "MKNOD", "AUDIT_WRITE",
			 "SecurityOpt", "no-new-privileges:true",
			 "RestartPolicy", "Name", "no",
			 "LogConfig", "Type", "json-file", "Config", "max-size", "256m", "max-file", "2",
			 "PidsLimit", (int)spec->pids_limit,
			 "NanoCpus", (json_int_t)spec->nano_cpus,
			 "Memory", (json_int_t)memory_bytes,
			 "MemorySwap", (json_int_t)memory_bytes);
	/* clang-format on */
}

/* Names of the Container Device Interface have the form vendor/class=name; nvidia's own ids have no '='. */
static bool device_is_cdi(const char *id)
{
	return strchr(id, '=') != NULL;
}

/* Returns the @device_ids of one kind: names of the Container Device Interface if @cdi, otherwise nvidia's own ids. */
static json_t *devices_pick(const json_t *device_ids, bool cdi)
{
	json_t *picked = json_array();
	size_t index;
	json_t *id;

	json_array_foreach(device_ids, index, id)
		if (json_is_string(id) && device_is_cdi(json_string_value(id)) == cdi)
			json_array_append(picked, id);
	return picked;
}

/* Makes one device request for each kind of id, because each kind has its own driver; the driver cdi accepts neither
 * a count nor options. Source: https://docs.docker.com/reference/api/engine/version/v1.50/ (read 2026-11-20) */
static json_t *device_requests_make(const json_t *device_ids)
{
	AUTO(json) json_t *cdi = devices_pick(device_ids, true), *nvidia = devices_pick(device_ids, false);
	AUTO(json) json_t *requests = json_array();

	if (json_array_size(cdi) + json_array_size(nvidia) != json_array_size(device_ids))
		return NULL; /* an element is not a string */
	if (json_array_size(nvidia) > 0)
		json_array_append_new(requests,
				      json_pack("{ss sO s[[sss]]}", "Driver", "nvidia", "DeviceIDs", nvidia,
						"Capabilities", "gpu", "compute", "utility"));
	if (json_array_size(cdi) > 0)
		json_array_append_new(requests, json_pack("{ss sO}", "Driver", "cdi", "DeviceIDs", cdi));
	return TAKE(requests);
}

static json_t *networking_make(const struct replica_spec *spec)
{
	return json_pack("{s{s{s[s] s{ss}}}}", "EndpointsConfig", spec->network, "Aliases", spec->alias,
			 "IPAMConfig", "IPv4Address", spec->address);
}

/* Sets a copy of @value; @value NULL: does nothing. */
static void part_set(json_t *object, const char *key, const json_t *value)
{
	if (value)
		json_object_set_new(object, key, json_deep_copy(value));
}

static bool devices_set(json_t *host, json_t *env, const json_t *device_ids)
{
	if (json_array_size(device_ids) > 0)
		return json_object_set_new(host, "DeviceRequests", device_requests_make(device_ids)) == 0;
	/* Without this variable, an image's own NVIDIA_VISIBLE_DEVICES=all would give the container every GPU. */
	json_array_append_new(env, json_string("NVIDIA_VISIBLE_DEVICES=void"));
	return true;
}

/* Adds the spec's empty directories, in memory, so that the engine needs no path of the host for them. */
static void tmpfs_set(json_t *host, const struct replica_spec *spec)
{
	AUTO(json) json_t *tmpfs = json_object();

	if (spec->scratch)
		json_object_set_new(tmpfs, spec->scratch, json_string("size=16m,mode=1777"));
	if (spec->empty)
		json_object_set_new(tmpfs, spec->empty, json_string("ro,size=4k,mode=555"));
	if (json_object_size(tmpfs) > 0)
		json_object_set(host, "Tmpfs", tmpfs);
}

json_t *docker_container_body(const char *instance, const struct replica_spec *spec)
{
	AUTO(json)
	json_t *body = json_pack("{ss ss sb sb sb ss si}", "Image", spec->image, "Hostname", spec->hostname,
				 "Tty", 0, "AttachStdout", 1, "AttachStderr", 1, "StopSignal", "SIGTERM",
				 "StopTimeout", (int)spec->stop_grace_s);
	AUTO(json) json_t *env = spec->env ? json_deep_copy(spec->env) : json_array();
	AUTO(json) json_t *host = host_config_make(spec);
	AUTO(json) json_t *shm = spec->shm_bytes > 0 ? json_integer(spec->shm_bytes) : NULL;
	AUTO(json) json_t *labels = labels_make(instance, spec);
	AUTO(json) json_t *mounts = spec->mounts ? docker_mounts_make(spec->mounts) : NULL;
	AUTO(json) json_t *networking = networking_make(spec);

	if (!body || !host || !labels || !networking || (spec->mounts && !mounts) ||
	    !devices_set(host, env, spec->device_ids))
		return NULL;
	part_set(host, "ShmSize", shm);
	part_set(host, "ExtraHosts", spec->hosts);
	part_set(host, "Mounts", mounts);
	tmpfs_set(host, spec);
	part_set(body, "Entrypoint", spec->command);
	part_set(body, "Cmd", spec->args);
	json_object_set(body, "Env", env);
	json_object_set(body, "HostConfig", host);
	json_object_set(body, "Labels", labels);
	json_object_set(body, "NetworkingConfig", networking);
	return TAKE(body);
}

void docker_container_clamp(json_t *body, unsigned cpu_count)
{
	json_t *host = json_object_get(body, "HostConfig");
	json_int_t most = (json_int_t)cpu_count * 1000000000;

	if (cpu_count > 0 && json_integer_value(json_object_get(host, "NanoCpus")) > most)
		json_object_set_new(host, "NanoCpus", json_integer(most));
}

/* The name has "ty-" and twelve hexadecimal digits, because the kernel limits interface names to fifteen characters. */
static void bridge_name(const char *network, char name[DOCKER_DEVICE_SIZE])
{
	unsigned char digest[crypto_generichash_BYTES_MIN];
	char hex[sizeof(digest) * 2 + 1];

	crypto_generichash(digest, sizeof(digest), (const unsigned char *)network, strlen(network), NULL, 0);
	sodium_bin2hex(hex, sizeof(hex), digest, sizeof(digest));
	snprintf(name, DOCKER_DEVICE_SIZE, "ty-%.12s", hex);
}

void docker_network_device(const char *instance, int64_t job, bool second, char name[DOCKER_DEVICE_SIZE])
{
	char network[DOCKER_NAME_SIZE], seed[DOCKER_NAME_SIZE + sizeof("/2")];

	docker_network_name(instance, job, network);
	snprintf(seed, sizeof(seed), "%s%s", network, second ? "/2" : "");
	bridge_name(seed, name);
}

/* The part of a network's body with its driver. An overlay is attachable: otherwise only services of the swarm could
 * join it. The swarm takes the first free address of the overlay for each node. docker_network_body() lets it take
 * addresses of the upper half of the block only, so that they do not collide with those of replicas.
 * Source: https://docs.docker.com/engine/network/drivers/overlay/ (read 2026-11-27) */
static json_t *network_driver(enum engine_networks kind, const char *bridge)
{
	if (kind == ENGINE_BRIDGES)
		return json_pack("{ss s{ss}}", "Driver", "bridge", "Options", OPTION_BRIDGE, bridge);
	if (kind == ENGINE_OVERLAYS_PLAIN)
		return json_pack("{ss sb}", "Driver", "overlay", "Attachable", true);
	return json_pack("{ss sb s{ss}}", "Driver", "overlay", "Attachable", true, "Options", "encrypted",
			 "");
}

char *docker_network_body(const char *instance, int64_t job, enum engine_networks kind, const char *bridge,
			  struct subnet subnet, bool internal, enum docker_reach_kind reach)
{
	char name[DOCKER_NAME_SIZE], block[SUBNET_TEXT_SIZE], gateway[SUBNET_TEXT_SIZE],
		range[SUBNET_TEXT_SIZE];
	AUTO(json) json_t *body = network_driver(kind, bridge);
	json_t *config;

	docker_network_name(instance, job, name);
	subnet_print(subnet, block);
	subnet_print_address(subnet.address + 1, gateway);
	config = json_pack("{ss ss}", "Subnet", block, "Gateway", gateway);
	if (kind != ENGINE_BRIDGES) {
		subnet_print(subnet_half(subnet, true), range);
		json_object_set_new(config, "IPRange", json_string(range));
	}
	AUTO(json)
	json_t *rest = json_pack("{ss sb sb s{ss so ss} s{s[o]}}", "Name", name, "CheckDuplicate", 1,
				 "Internal", internal, "Labels", LABEL("instance"), instance, LABEL("job"),
				 json_sprintf("%" PRId64, job), LABEL("reach"), reach_words[reach], "IPAM",
				 "Config", config);

	json_object_update(body, rest);
	return json_dump_compact(body);
}

json_t *docker_parse(const char *body, size_t length, json_type type)
{
	json_t *value = json_parse_foreign(body, length, 0, NULL);

	if (value && json_typeof(value) == type)
		return value;
	json_decref(value);
	return NULL;
}

void docker_message(const char *body, size_t length, char text[DOCKER_TEXT_SIZE])
{
	AUTO(json) json_t *answer = docker_parse(body, length, JSON_OBJECT);
	const char *message = json_text_at(answer, "message");
	size_t end;

	snprintf(text, DOCKER_TEXT_SIZE, "%s",
		 message      ? message
		 : length > 0 ? body
			      : "the engine gave no reason");
	end = strlen(text);
	while (end > 0 && strchr(" \r\n", text[end - 1]))
		text[--end] = '\0';
}

enum status docker_code_status(unsigned code)
{
	switch (code) {
	case 400:
		return STATUS_INVALID_ARGUMENT;
	case 401:
		return STATUS_UNAUTHENTICATED;
	case 403:
	case 409:
		return STATUS_FAILED_PRECONDITION;
	case 404:
		return STATUS_NOT_FOUND;
	case 501:
		return STATUS_UNIMPLEMENTED;
	case 503:
		return STATUS_UNAVAILABLE;
	default:
		return STATUS_INTERNAL;
	}
}

/* Reads a label with a number as this file writes it: only digits. False: it is missing, has another form, or is
 * above @max. */
static bool label_number(const json_t *labels, const char *label, int64_t max, int64_t *ret_number)
{
	const char *text = json_text_at(labels, label);
	int64_t number = json_int_at(labels, label, -1);

	*ret_number = number;
	return text && !text[strspn(text, "0123456789")] && number >= 0 && number <= max;
}

bool docker_key_read(const json_t *labels, struct replica_key *ret_key)
{
	const char *pool = json_text_at(labels, LABEL("pool"));
	const char *replica = json_text_at(labels, LABEL("replica"));
	const char *dash = replica ? strrchr(replica, '-') : NULL;
	int64_t job, attempt, restart = 0;
	enum role role;
	unsigned index;
	int end = 0;

	if (!pool || !dash || !role_parse(pool, &role) || sscanf(dash, "-%9u%n", &index, &end) != 1 ||
	    dash[end])
		return false;
	if (!label_number(labels, LABEL("job"), INT64_MAX, &job) ||
	    !label_number(labels, LABEL("attempt"), UINT_MAX, &attempt))
		return false;
	/* The label may be missing: an earlier release did not write the restart 0. */
	if (json_object_get(labels, LABEL("restart")) &&
	    !label_number(labels, LABEL("restart"), UINT_MAX, &restart))
		return false;
	*ret_key = (struct replica_key){ .job = job,
					 .attempt = (unsigned)attempt,
					 .role = role,
					 .index = index,
					 .restart = (unsigned)restart };
	return true;
}

/* Returns the gateway's port from the labels; 0: there is none, or it is invalid. */
static uint16_t gateway_port_read(const json_t *labels)
{
	int64_t port;

	return label_number(labels, LABEL("gateway"), UINT16_MAX, &port) ? (uint16_t)port : 0;
}

static int64_t made_us_read(const json_t *labels)
{
	int64_t made_us;

	return label_number(labels, LABEL("made"), INT64_MAX, &made_us) ? made_us : 0;
}

/* Whether trainyard made the container, as its network mode shows: the engine keeps it as it was requested. trainyard
 * always requests a network's id, other programs mostly request a name. */
bool docker_container_is_made_here(const json_t *container)
{
	const char *network = json_text_at(json_object_get(container, "HostConfig"), "NetworkMode");

	if (!network)
		return false;
	return (strlen(network) == NETWORK_ID_LENGTH && !network[strspn(network, "0123456789abcdef")]) ||
	       (strlen(network) == SWARM_ID_LENGTH &&
		!network[strspn(network, "0123456789abcdefghijklmnopqrstuvwxyz")]);
}

bool docker_key_equal(const struct replica_key *a, const struct replica_key *b)
{
	return a->job == b->job && a->attempt == b->attempt && a->role == b->role && a->index == b->index &&
	       a->restart == b->restart;
}

/* Maps the state in an element of GET /containers/json. */
static enum replica_observed listed_state(const char *state)
{
	if (strcmp(state, "created") == 0)
		return REPLICA_CREATED;
	if (strcmp(state, "exited") == 0 || strcmp(state, "dead") == 0 || strcmp(state, "removing") == 0)
		return REPLICA_EXITED;
	return REPLICA_RUNNING;
}

/* Reads the exit code from a text such as "Exited (3) 2 hours ago"; -1: the text has none. */
static int listed_exit_code(const json_t *container)
{
	const char *words = json_text_at(container, "Status");
	int code;

	return words && sscanf(words, "Exited (%9d)", &code) == 1 ? code : -1;
}

bool docker_container_listed(const json_t *container, struct replica_status *ret_status, bool *ret_inspect)
{
	const char *state = json_text_at(container, "State");

	*ret_status = (struct replica_status){ .observed = listed_state(state ? state : "") };
	if (ret_status->observed == REPLICA_EXITED)
		ret_status->exit_code = listed_exit_code(container);
	ret_status->paused = state && strcmp(state, "paused") == 0;
	*ret_inspect = !state || (strcmp(state, "running") != 0 && !ret_status->paused);
	ret_status->gateway_port = gateway_port_read(json_object_get(container, "Labels"));
	ret_status->made_us = made_us_read(json_object_get(container, "Labels"));
	return docker_key_read(json_object_get(container, "Labels"), &ret_status->key);
}

static int64_t instant_at(const json_t *state, const char *key)
{
	const char *text = json_text_at(state, key);
	int64_t ns;

	/* The engine writes a time in the year 1 for "never"; such a time is returned as 0. */
	return text && time_parse(text, &ns) && ns > 0 ? ns : 0;
}

static enum replica_observed observed_of(const json_t *state, int64_t started_ns)
{
	if (json_true_at(state, "Running"))
		return REPLICA_RUNNING;
	return started_ns ? REPLICA_EXITED : REPLICA_CREATED;
}

bool docker_container_inspected(const json_t *container, struct replica_status *ret_status)
{
	const json_t *labels = json_object_get(json_object_get(container, "Config"), "Labels");
	const json_t *state = json_object_get(container, "State");
	int64_t started_ns = instant_at(state, "StartedAt");
	int64_t finished_ns = instant_at(state, "FinishedAt");
	struct replica_status status = { .observed = observed_of(state, started_ns),
					 .paused = json_true_at(state, "Paused"),
					 .gateway_port = gateway_port_read(labels),
					 .made_us = made_us_read(labels) };

	if (!json_is_object(state) || !docker_key_read(labels, &status.key))
		return false;
	if (status.observed == REPLICA_EXITED) {
		status.exit_code = (int)json_int_at(state, "ExitCode", -1);
		status.out_of_memory = json_true_at(state, "OOMKilled");
		/* For a program that exits at once, the engine's end time may be up to some 0.5 ms before its start
		 * time. */
		status.finished_ns = finished_ns > started_ns ? finished_ns : started_ns;
	}
	*ret_status = status;
	return true;
}

bool docker_container_is_of(const json_t *container, const json_t *body)
{
	const json_t *labels = json_object_get(json_object_get(container, "Config"), "Labels");
	const char *label;
	json_t *value;

	/* These labels are not compared: an earlier request for the same container may have been made at another
	 * time, or while the engine had access to other files. */
	json_object_foreach(json_object_get(body, "Labels"), label, value)
		if (strcmp(label, LABEL("made")) != 0 && strcmp(label, DOCKER_LABEL_FILES) != 0 &&
		    strcmp(label, DOCKER_LABEL_REPORTS) != 0 &&
		    !json_equal(json_object_get(labels, label), value))
			return false;
	return true;
}

static const json_t *ipam_at(const json_t *network, size_t index)
{
	return json_array_get(json_object_get(json_object_get(network, "IPAM"), "Config"), index);
}

/* The name of the network's bridge: the one in its options, or the one that engines derive from its id.
 * Source: https://docs.docker.com/engine/network/drivers/bridge/#options (the option; read 2026-11-22), moby/moby,
 * libnetwork's bridge driver (the name made of the id; read 2026-11-22) */
static void device_read(const json_t *network, const char *id, char device[DOCKER_DEVICE_SIZE])
{
	const char *name = json_text_at(json_object_get(network, "Options"), OPTION_BRIDGE);

	if (name && strlen(name) < DOCKER_DEVICE_SIZE)
		snprintf(device, DOCKER_DEVICE_SIZE, "%s", name);
	else
		snprintf(device, DOCKER_DEVICE_SIZE, "br-%.12s", id);
}

enum docker_reach_kind docker_network_reach(const json_t *network)
{
	const char *reach = json_text_at(json_object_get(network, "Labels"), LABEL("reach"));

	for (int kind = REACH_JOINED; reach && kind <= REACH_TUNNEL; kind++)
		if (strcmp(reach, reach_words[kind]) == 0)
			return (enum docker_reach_kind)kind;
	return REACH_BRIDGE;
}

bool docker_network_read(const json_t *network, struct network_status *ret_status)
{
	const char *id = json_text_at(network, "Id");
	const char *block = json_text_at(ipam_at(network, 0), "Subnet");
	const char *gateway = json_text_at(ipam_at(network, 0), "Gateway");
	const char *driver = json_text_at(network, "Driver");
	struct network_status status = { 0 };
	struct subnet subnet;

	if (!id || strlen(id) >= sizeof(status.id) || !block || !gateway || !subnet_parse(block, &subnet) ||
	    !subnet_parse_address(gateway, &status.reach.address))
		return false;
	if (!label_number(json_object_get(network, "Labels"), LABEL("job"), INT64_MAX, &status.job))
		return false;
	snprintf(status.id, sizeof(status.id), "%s", id);
	if (docker_network_reach(network) != REACH_BRIDGE)
		status.reach.address++;
	else
		device_read(network, id, status.reach.device);
	status.reach.is_carried = docker_network_reach(network) == REACH_TUNNEL;
	status.first = status.reach.address + 1;
	if (driver && strcmp(driver, "overlay") == 0 && subnet.bits < 32)
		subnet = subnet_half(subnet, false);
	status.capacity = subnet_capacity(subnet, status.reach.address);
	*ret_status = status;
	return true;
}

bool docker_network_is_of(const json_t *network, const char *instance, int64_t job)
{
	const json_t *labels = json_object_get(network, "Labels");
	const char *owner = json_text_at(labels, LABEL("instance"));

	return owner && strcmp(owner, instance) == 0 && json_int_at(labels, LABEL("job"), -1) == job;
}

void docker_networks_taken(const json_t *networks, struct subnet_list *list)
{
	for (size_t i = 0; i < json_array_size(networks); i++) {
		const json_t *network = json_array_get(networks, i);
		const json_t *config;

		for (size_t k = 0; (config = ipam_at(network, k)) != NULL; k++) {
			const char *block = json_text_at(config, "Subnet");
			struct subnet subnet;

			if (block && subnet_parse(block, &subnet))
				subnet_list_add(list, subnet);
		}
	}
}
