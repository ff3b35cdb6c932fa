/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_json.h: converts between the Engine API's bodies, names and answers and our types. Pure. Any
 * body can be read: the result is a value or a refusal. Thread: any. */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/error.h"
#include "scheduler/engine/docker_subnet.h"
#include "scheduler/engine/engine.h"

enum { DOCKER_NAME_SIZE = 128, DOCKER_PATH_SIZE = 1024, DOCKER_TEXT_SIZE = 1024, DOCKER_DEVICE_SIZE = 16 };

/* How the container got files of this machine, and which directory's files are to be fetched from it ("": none). */
#define DOCKER_LABEL_FILES   "trainyard.files"
#define DOCKER_LABEL_REPORTS "trainyard.reports"
#define DOCKER_FILES_MOUNTED "mounted"
#define DOCKER_FILES_PUT     "put"

/* "ty-INSTANCE-JOB-ROLE-INDEX-aATTEMPT" and "ty-INSTANCE-JOB". Choice: derived from the key alone, so that operations
 * need not look the name up; the job's own id is in the labels. */
void docker_container_name(const char *instance, const struct replica_key *key, char name[DOCKER_NAME_SIZE]);
void docker_network_name(const char *instance, int64_t job, char name[DOCKER_NAME_SIZE]);
/* The name of the bridge of a job's network, an interface of the engine's machine. @second: the name to use if the
 * engine still has the first for a network that it has forgotten. */
void docker_network_device(const char *instance, int64_t job, bool second, char name[DOCKER_DEVICE_SIZE]);
/* "worker-3", for the daemon's log. */
void docker_replica_name(const struct replica_key *key, char name[32]);

/* {"label":["trainyard.instance=I", and with @job "trainyard.job=N"]}, percent-encoded for a query. @instance NULL: any
 * instance. */
void docker_label_filter(const char *instance, const int64_t *job, char filter[DOCKER_PATH_SIZE]);
/* Percent-encodes @value into a query. */
void docker_query_encode(const char *value, char *encoded, size_t size);

/* Body of POST /containers/create; deep copies. NULL: a text is not UTF-8. The caller owns it. */
json_t *docker_container_body(const char *instance, const struct replica_spec *spec);
/* Limits the body's NanoCpus to the CPUs of the engine's host. */
void docker_container_clamp(json_t *body, unsigned cpu_count);
/* Where replicas find the daemon. A network's label says it, for as long as there is the network. */
enum docker_reach_kind {
	REACH_BRIDGE, /* at the bridge's address: the first of the block */
	REACH_JOINED, /* at the next one, which the daemon's own container has (docker_self.h) */
	REACH_TUNNEL, /* likewise, which a tunnel's container has (docker_tunnel.h) */
};

/* Body of POST /networks/create, as text. The gateway has the first address. @internal: no route to the outside; a
 * bridge's gateway address still belongs to the host and answers. @bridge: not for an overlay. */
char *docker_network_body(const char *instance, int64_t job, enum engine_networks kind, const char *bridge,
			  struct subnet subnet, bool internal, enum docker_reach_kind reach);

/* The engine's message in the body of a failed call: {"message":…}, or plain text. */
void docker_message(const char *body, size_t length, char text[DOCKER_TEXT_SIZE]);
/* The status for the code of a failed call. */
enum status docker_code_status(unsigned code);

/* Parses the body of an answer; NULL: it is not JSON, or of another type. The caller owns it. */
json_t *docker_parse(const char *body, size_t length, json_type type);

/* Reads the key from a container's labels; false: some are missing. The labels are ours only if the container has the
 * name that they imply; otherwise they may come from its image. */
bool docker_key_read(const json_t *labels, struct replica_key *ret_key);
bool docker_key_equal(const struct replica_key *a, const struct replica_key *b);

/* Reads one element of GET /containers/json; false: it is not a replica. *ret_inspect: the container does not run, and
 * *ret_status lacks its end time and cause, which docker_container_inspected() reads. */
bool docker_container_listed(const json_t *container, struct replica_status *ret_status, bool *ret_inspect);
/* Whether such an element was made by us. Labels alone do not prove it, because they may come from its image. */
bool docker_container_is_made_here(const json_t *container);
/* Reads the answer of GET /containers/X/json. */
bool docker_container_inspected(const json_t *container, struct replica_status *ret_status);
/* True if the inspected container has the labels of @body. */
bool docker_container_is_of(const json_t *container, const json_t *body);

/* Reads a network from GET /networks, or from an inspection. */
bool docker_network_read(const json_t *network, struct network_status *ret_status);
/* What it was made for. If not REACH_BRIDGE, reach.address is a container's, and reach.device is not known. */
enum docker_reach_kind docker_network_reach(const json_t *network);
/* True if its labels are those of @instance and @job. */
bool docker_network_is_of(const json_t *network, const char *instance, int64_t job);
/* Adds the IPv4 blocks of every network in @networks. */
void docker_networks_taken(const json_t *networks, struct subnet_list *list);
