/* SPDX-License-Identifier: Apache-2.0 */
/* Source: https://docs.docker.com/reference/api/engine/version/v1.41/#tag/Service (read 2026-11-27), and answers of Docker
 * 20.10 */
#include "scheduler/engine/swarm_service.h"

#include <inttypes.h>
#include <poll.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/base64.h"
#include "daemon/base/clock.h"
#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "scheduler/engine/docker_ask.h"
#include "scheduler/engine/docker_json.h"
#include "scheduler/engine/swarm_agents.h"

enum {
	MAKE_TIMEOUT_S = 30,
	REMOVE_PATIENCE_S = 60,
	REMOVE_PAUSE_MS = 250,
	MEMORY_MIB = 1024,
	PIDS_MAX = 2048,
	PAIR_BYTES = 16,
};

#define LABEL         "trainyard.swarm"
#define LABEL_VALUE   "agent"
#define LABEL_PAIR    "trainyard.keys" /* of the secret and the config: the same for keys that belong together */
#define ENGINE_SOCKET "/var/run/docker.sock" /* the socket's path in the agent's container */
#define MIB           INT64_C(1048576)
#define SECOND_NS     INT64_C(1000000000)

/* The kinds of objects that have the agents' name, in the order in which they are removed. */
enum kind { SERVICE, SECRET, CONFIG, NETWORK, KINDS };
static const char *const kind_paths[] = {
	[SERVICE] = "/services", [SECRET] = "/secrets", [CONFIG] = "/configs", [NETWORK] = "/networks"
};
static const char *const kind_names[] = {
	[SERVICE] = "service", [SECRET] = "secret", [CONFIG] = "config", [NETWORK] = "network"
};

/* ---- one object ---- */

/* Whether the object has our label. Networks have their labels at the top, the other kinds in their spec. */
static bool is_ours(const json_t *object)
{
	const json_t *labels = json_object_get(object, "Labels");
	const char *value = json_text_at(
		labels ? labels : json_object_get(json_object_get(object, "Spec"), "Labels"), LABEL);

	return value && strcmp(value, LABEL_VALUE) == 0;
}

/* Asks for the object with the agents' name. *ret_object is NULL if there is none. FAILED_PRECONDITION: an object of
 * another owner has the name. */
static enum status object_ask(struct http *http, enum kind kind, json_t **ret_object, struct error *err)
{
	char path[DOCKER_PATH_SIZE];

	snprintf(path, sizeof(path), "%s/" SWARM_AGENT, kind_paths[kind]);
	struct reply reply AUTO_REPLY = docker_ask(http, "GET", path, NULL);

	*ret_object = NULL;
	if (!reply.status && reply.code == 404)
		return STATUS_OK;
	if (reply.status || reply.code != 200 || !reply.value)
		return reply_failure(&reply, err);
	if (!is_ours(reply.value))
		return error_set(err, STATUS_FAILED_PRECONDITION, NULL,
				 "the swarm has a %s with the name " SWARM_AGENT " that `trainyard swarm up` has not "
				 "made: it lacks the label " LABEL,
				 kind_names[kind]);
	*ret_object = TAKE(reply.value);
	return STATUS_OK;
}

static enum status object_post(struct http *http, const char *path, const json_t *body, struct error *err)
{
	AUTO(string) char *text = json_dump_compact(body);
	struct reply reply AUTO_REPLY = docker_ask_for(
		http, (struct http_request){
			      .method = "POST", .path = path, .body = text, .timeout_s = MAKE_TIMEOUT_S });

	sodium_memzero(text, strlen(text)); /* overwritten, because the text may contain keys */
	if (!reply.status && reply.code == 409)
		return error_set(err, STATUS_ALREADY_EXISTS, NULL, "%s", reply.text);
	return reply.status || reply.code >= 300 ? reply_failure(&reply, err) : STATUS_OK;
}

static json_t *labels_make(void)
{
	return json_pack("{ss}", LABEL, LABEL_VALUE);
}

/* ---- the network ---- */

static enum status network_make(struct http *http, bool is_encrypted, struct error *err)
{
	AUTO(json) json_t *there = NULL;
	AUTO(json) json_t *body = NULL;
	enum status rc = object_ask(http, NETWORK, &there, err);

	if (rc)
		return rc;
	if (there && (json_object_get(json_object_get(there, "Options"), "encrypted") != NULL) != is_encrypted)
		return error_set(err, STATUS_FAILED_PRECONDITION, NULL,
				 "the agents' network is there and is%s encrypted: `trainyard swarm down` removes it",
				 is_encrypted ? " not" : "");
	if (there)
		return STATUS_OK;
	body = json_pack("{ss ss sb so so}", "Name", SWARM_AGENT, "Driver", "overlay", "Internal", 1, "Labels",
			 labels_make(), "Options",
			 is_encrypted ? json_pack("{ss}", "encrypted", "") : json_object());
	return object_post(http, "/networks/create", body, err);
}

/* ---- the keys ---- */

/* Stores the keys in the swarm. ALREADY_EXISTS: another `swarm up` has stored some meanwhile. */
static enum status keys_post(struct http *http, const char *path, const char *keys, const char *pair, struct error *err)
{
	struct text data AUTO_TEXT = { 0 };
	enum status rc;

	base64_append(&data, keys, strlen(keys), sodium_base64_VARIANT_ORIGINAL);
	AUTO(json)
	json_t *body = json_pack("{ss ss s{ss ss}}", "Name", SWARM_AGENT, "Data", data.data, "Labels", LABEL,
				 LABEL_VALUE, LABEL_PAIR, pair);

	rc = object_post(http, path, body, err);
	sodium_memzero(data.data, data.length);
	return rc;
}

static enum status object_remove(struct http *http, enum kind kind, struct error *err)
{
	char path[DOCKER_PATH_SIZE];

	snprintf(path, sizeof(path), "%s/" SWARM_AGENT, kind_paths[kind]);
	struct reply reply AUTO_REPLY = docker_ask(http, "DELETE", path, NULL);

	return reply.status || (reply.code >= 300 && reply.code != 404) ? reply_failure(&reply, err) : STATUS_OK;
}

/* Returns whether there are a secret and a config, with keys that belong together. */
static bool are_pair(const json_t *secret, const json_t *config)
{
	const json_t *of_secret = json_object_get(json_object_get(secret, "Spec"), "Labels");
	const json_t *of_config = json_object_get(json_object_get(config, "Spec"), "Labels");
	const char *one = json_text_at(of_secret, LABEL_PAIR), *other = json_text_at(of_config, LABEL_PAIR);

	return one && other && strcmp(one, other) == 0;
}

static enum status keys_ask(struct http *http, json_t **ret_secret, json_t **ret_config, struct error *err)
{
	enum status rc = object_ask(http, SECRET, ret_secret, err);

	return rc ? rc : object_ask(http, CONFIG, ret_config, err);
}

static enum status keys_post_both(struct http *http, const struct swarm_making *making, struct error *err)
{
	unsigned char random[PAIR_BYTES];
	char pair[2 * PAIR_BYTES + 1];
	enum status rc;

	randombytes_buf(random, sizeof(random));
	sodium_bin2hex(pair, sizeof(pair), random, sizeof(random));
	rc = keys_post(http, "/secrets/create", making->agent_keys, pair, err);
	return rc ? rc : keys_post(http, "/configs/create", making->daemon_keys, pair, err);
}

/* Looks at the keys after they were made: another `swarm up` at the same time may have removed or made one of them. */
static enum status keys_check(struct http *http, struct error *err)
{
	AUTO(json) json_t *secret = NULL;
	AUTO(json) json_t *config = NULL;
	enum status rc = keys_ask(http, &secret, &config, err);

	if (rc || are_pair(secret, config))
		return rc;
	return error_set(err, STATUS_ABORTED, NULL,
			 "another `trainyard swarm up` makes the agents' keys at the same time: run this one again when that "
			 "one has ended");
}

/* Makes the secret and the config with the keys, unless both exist and their keys belong together. If only one exists,
 * or their keys do not belong together, both are made anew. FAILED_PRECONDITION: they cannot be made, because the
 * service exists (@has_service) and its agents use the old keys. */
static enum status keys_make(struct http *http, const struct swarm_making *making, bool has_service,
			     struct error *err)
{
	AUTO(json) json_t *secret = NULL;
	AUTO(json) json_t *config = NULL;
	struct error cause AUTO_ERROR = { 0 };
	enum status rc = keys_ask(http, &secret, &config, err);

	if (rc || are_pair(secret, config))
		return rc;
	if (has_service)
		return error_set(err, STATUS_FAILED_PRECONDITION, NULL,
				 "the agents run, but the swarm's secret and config " SWARM_AGENT " are not of one `swarm up`, or "
				 "one is gone: `trainyard swarm down` removes the rest, and `swarm up` makes all anew");
	if (secret)
		rc = object_remove(http, SECRET, err);
	if (!rc && config)
		rc = object_remove(http, CONFIG, err);
	if (rc)
		return rc;
	rc = keys_post_both(http, making, &cause);
	return rc && rc != STATUS_ALREADY_EXISTS ? error_move(err, &cause) : keys_check(http, err);
}

/* ---- the service ---- */

/* The architecture of this program, as engines name it: nodes of other architectures cannot run it. */
#if defined(__aarch64__)
#define ARCHITECTURE "aarch64"
#else
#define ARCHITECTURE "x86_64"
#endif

static json_t *container_make(const struct swarm_making *making, const char *secret_id)
{
	/* clang-format off */
	return json_pack("{ss s[s] s[s] ss sb so sI s[s] s[{ss ss ss}] s[{ss ss s{ss ss ss si}}]}",
			 "Image", making->image,
			 "Command", SWARM_AGENT_PROGRAM,
			 "Args", SWARM_AGENT_VERB,
			 "User", "0:0",
			 "ReadOnly", 1,
			 "Labels", labels_make(),
			 "StopGracePeriod", (json_int_t)(2 * SECOND_NS),
			 "CapabilityDrop", "ALL",
			 "Mounts", "Type", "bind", "Source", making->socket, "Target", ENGINE_SOCKET,
			 "Secrets", "SecretID", secret_id, "SecretName", SWARM_AGENT,
				"File", "Name", SWARM_AGENT, "UID", "0", "GID", "0", "Mode", 0400);
	/* clang-format on */
}

/* Makes the service's spec. The service has no virtual address (mode dnsrr), because that would need IPVS: agents
 * are reached at the addresses of their tasks. */
static json_t *spec_make(const struct swarm_making *making, const char *secret_id, const char *network_id)
{
	/* clang-format off */
	return json_pack("{ss so s{s{}} s{ss} s{si ss} s{so s{s{sI sI}} s{ss sI} s{ss s{ss ss}} s{s[{ss ss}]} s[{ss}]}}",
			 "Name", SWARM_AGENT,
			 "Labels", labels_make(),
			 "Mode", "Global",
			 "EndpointSpec", "Mode", "dnsrr",
			 "UpdateConfig", "Parallelism", 0, "FailureAction", "continue",
			 "TaskTemplate",
				"ContainerSpec", container_make(making, secret_id),
				"Resources", "Limits",
					"MemoryBytes", (json_int_t)(MEMORY_MIB * MIB),
					"Pids", (json_int_t)PIDS_MAX,
				"RestartPolicy", "Condition", "any", "Delay", (json_int_t)(2 * SECOND_NS),
				"LogDriver", "Name", "json-file", "Options", "max-size", "1m", "max-file", "2",
				"Placement", "Platforms", "Architecture", ARCHITECTURE, "OS", "linux",
				"Networks", "Target", network_id);
	/* clang-format on */
}

static const json_t *container_of(const json_t *service)
{
	return json_object_get(json_object_get(json_object_get(service, "Spec"), "TaskTemplate"), "ContainerSpec");
}

static bool is_as_made(const json_t *service, const struct swarm_making *making)
{
	const json_t *container = container_of(service);
	const char *image = json_text_at(container, "Image");
	const char *socket =
		json_text_at(json_array_get(json_object_get(container, "Mounts"), 0), "Source");

	return image && strcmp(image, making->image) == 0 && socket && strcmp(socket, making->socket) == 0;
}

static enum status service_keep(struct http *http, const struct swarm_making *making, const json_t *there,
				struct error *err)
{
	AUTO(json) json_t *secret = NULL;
	AUTO(json) json_t *network = NULL;
	AUTO(json) json_t *spec = NULL;
	char path[DOCKER_PATH_SIZE] = "/services/create";
	enum status rc = object_ask(http, SECRET, &secret, err);

	if (!rc)
		rc = object_ask(http, NETWORK, &network, err);
	if (rc)
		return rc;
	if (!json_text_at(secret, "ID") || !json_text_at(network, "Id"))
		return error_set(err, STATUS_UNAVAILABLE, NULL, "the secret or the network was removed at the same time");
	spec = spec_make(making, json_text_at(secret, "ID"), json_text_at(network, "Id"));
	if (there)
		snprintf(path, sizeof(path), "/services/" SWARM_AGENT "/update?version=%" PRId64,
			 json_int_at(json_object_get(there, "Version"), "Index", 0));
	return object_post(http, path, spec, err);
}

enum status swarm_service_make(struct http *http, const struct swarm_making *making, struct error *err)
{
	AUTO(json) json_t *service = NULL;
	enum status rc = object_ask(http, SERVICE, &service, err);

	if (!rc)
		rc = network_make(http, making->is_encrypted, err);
	if (!rc)
		rc = keys_make(http, making, service != NULL, err);
	if (rc || (service && is_as_made(service, making)))
		return rc;
	return service_keep(http, making, service, err);
}

enum status swarm_service_image(struct http *http, char **ret_image, struct error *err)
{
	AUTO(json) json_t *service = NULL;
	enum status rc = object_ask(http, SERVICE, &service, err);
	const char *image = service ? json_text_at(container_of(service), "Image") : NULL;

	if (rc)
		return rc;
	if (!service)
		return error_set(err, STATUS_NOT_FOUND, NULL, "the swarm has no agents");
	*ret_image = image ? memory_strdup(image) : NULL;
	return STATUS_OK;
}

/* ---- removal ---- */

/* Removes an object. A manager refuses while tasks use the object, so this is tried again until @until_us. */
static enum status object_remove_patiently(struct http *http, enum kind kind, int64_t until_us, struct error *err)
{
	for (;;) {
		struct error why AUTO_ERROR = { 0 };
		enum status rc = object_remove(http, kind, &why);

		if (!rc)
			return STATUS_OK;
		if (rc == STATUS_UNAVAILABLE || clock_mono_us(&system_clock) > until_us)
			return error_set(err, rc, NULL, "the %s " SWARM_AGENT " stays: %s", kind_names[kind], why.text);
		poll(NULL, 0, REMOVE_PAUSE_MS);
	}
}

enum status swarm_service_remove(struct http *http, bool *ret_found, struct error *err)
{
	const int64_t until_us = clock_mono_us(&system_clock) + REMOVE_PATIENCE_S * (int64_t)1000000;
	enum status rc = STATUS_OK;

	*ret_found = false;
	for (enum kind kind = SERVICE; !rc && kind < KINDS; kind++) {
		AUTO(json) json_t *there = NULL;

		rc = object_ask(http, kind, &there, err);
		if (!rc && there)
			rc = object_remove_patiently(http, kind, until_us, err);
		*ret_found |= there != NULL;
	}
	return rc;
}

/* ---- leases ---- */

static size_t devices_of(const json_t *container)
{
	const char *ids = json_text_at(json_object_get(container, "Labels"), DOCKER_LABEL_GPUS);
	size_t count = ids != NULL;

	for (; ids && *ids; ids++)
		count += *ids == ',';
	return count;
}

enum status swarm_leases_ask(struct http *http, struct swarm_leases *ret_leases, struct error *err)
{
	char filter[DOCKER_PATH_SIZE], path[DOCKER_PATH_SIZE + 64];
	struct swarm_leases leases = { 0 };
	const json_t *container;
	size_t index;

	docker_query_encode("{\"label\":[\"trainyard.instance\"],\"status\":[\"running\",\"paused\"]}", filter,
			    sizeof(filter));
	snprintf(path, sizeof(path), "/containers/json?filters=%s", filter);
	struct reply reply AUTO_REPLY = docker_ask(http, "GET", path, NULL);

	if (reply.status || reply.code != 200 || !json_is_array(reply.value))
		return reply_failure(&reply, err);
	json_array_foreach(reply.value, index, container) {
		struct replica_status replica;
		bool needs_inspection;

		if (!docker_container_listed(container, &replica, &needs_inspection))
			continue;
		leases.replicas++;
		leases.devices += devices_of(container);
	}
	*ret_leases = leases;
	return STATUS_OK;
}
