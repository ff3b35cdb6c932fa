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

/* Labels of a container. FILES: whether it got files of this machine as mounts or as copies. REPORTS: the directory
 * in it from which files have to be fetched; "": none. GPUS: the ids of its GPUs, separated by commas. A claim, which
 * is a volume, also has this label, with the id of the claimed GPU (docker_claims.h). */
#define DOCKER_LABEL_FILES   "trainyard.files"
#define DOCKER_LABEL_REPORTS "trainyard.reports"
#define DOCKER_LABEL_GPUS    "trainyard.gpus"
#define DOCKER_FILES_MOUNTED "mounted"
#define DOCKER_FILES_PUT     "put"

/* Write the names of containers, "ty-INSTANCE-JOB-ROLE-INDEX-aATTEMPT[-rRESTART]", and of networks, "ty-INSTANCE-JOB".
 * Choice: JOB is the key's number, so that operations need no look-up; the user's job id is in the labels. */
void docker_container_name(const char *instance, const struct replica_key *key, char name[DOCKER_NAME_SIZE]);
void docker_network_name(const char *instance, int64_t job, char name[DOCKER_NAME_SIZE]);
/* The name of the bridge of a job's network, which is an interface of the engine's machine. @second: returns a
 * second name, for an engine that still has a bridge of the first name without its network. */
void docker_network_device(const char *instance, int64_t job, bool second, char name[DOCKER_DEVICE_SIZE]);
/* Writes a replica's name for the daemon's log: "worker-3". */
void docker_replica_name(const struct replica_key *key, char name[32]);

/* Writes the filter {"label":["trainyard.instance=I", "trainyard.job=N"]}, percent-encoded for a query. @instance
 * NULL: any instance. @job NULL: any job. */
void docker_label_filter(const char *instance, const int64_t *job, char filter[DOCKER_PATH_SIZE]);
/* Percent-encodes @value into a query. */
void docker_query_encode(const char *value, char *encoded, size_t size);

/* The body of POST /containers/create, with copies of the spec's values. NULL: a text is not UTF-8. The caller owns
 * it. */
json_t *docker_container_body(const char *instance, const struct replica_spec *spec);
/* Limits the body's NanoCpus to the CPUs of the engine's host. */
void docker_container_clamp(json_t *body, unsigned cpu_count);
/* The address at which replicas reach the daemon. A network's label stores the kind for the network's whole life. */
enum docker_reach_kind {
	REACH_BRIDGE, /* the bridge's address, which is the first of the block */
	REACH_JOINED, /* the address after the bridge's, which belongs to the daemon's own container (docker_self.h) */
	REACH_TUNNEL, /* the address after the bridge's, which belongs to a tunnel's container (docker_tunnel.h) */
};

/* The body of POST /networks/create, as text. The gateway has the first address. @internal: the network has no route
 * to the outside; a bridge's gateway address still belongs to the host and answers. @bridge: ignored for an overlay. */
char *docker_network_body(const char *instance, int64_t job, enum engine_networks kind, const char *bridge,
			  struct subnet subnet, bool internal, enum docker_reach_kind reach);

/* The engine's message in the body of a failed call: {"message":…}, or plain text. */
void docker_message(const char *body, size_t length, char text[DOCKER_TEXT_SIZE]);
/* Maps the HTTP code of a failed call to a status. */
enum status docker_code_status(unsigned code);

/* Parses the body of an answer; NULL: it is not JSON, or of another type. The caller owns it. */
json_t *docker_parse(const char *body, size_t length, json_type type);

/* Reads the key from a container's labels. False: a label is missing or invalid. The labels may come from the
 * container's image: they are its own only if the container has the name that they imply. */
bool docker_key_read(const json_t *labels, struct replica_key *ret_key);
bool docker_key_equal(const struct replica_key *a, const struct replica_key *b);

/* Reads one element of GET /containers/json. False: it is not a replica. *ret_inspect: the container does not run,
 * so its end time and cause are missing in *ret_status; docker_container_inspected() reads them. */
bool docker_container_listed(const json_t *container, struct replica_status *ret_status, bool *ret_inspect);
/* Whether an element of GET /containers/json is a container that trainyard made. Labels alone do not prove it,
 * because they may come from the image. */
bool docker_container_is_made_here(const json_t *container);
/* Reads the answer of GET /containers/X/json. */
bool docker_container_inspected(const json_t *container, struct replica_status *ret_status);
/* True if the inspected container has the labels of @body. */
bool docker_container_is_of(const json_t *container, const json_t *body);

/* Reads a network from GET /networks, or from an inspection. */
bool docker_network_read(const json_t *network, struct network_status *ret_status);
/* The reach that the network was made with. If it is not REACH_BRIDGE, the network's reach.address belongs to a
 * container, and reach.device is unknown. */
enum docker_reach_kind docker_network_reach(const json_t *network);
/* True if the network's labels have @instance and @job. */
bool docker_network_is_of(const json_t *network, const char *instance, int64_t job);
/* Adds the IPv4 blocks of every network in @networks. */
void docker_networks_taken(const json_t *networks, struct subnet_list *list);
