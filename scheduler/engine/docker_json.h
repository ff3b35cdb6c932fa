/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_json.h: the Engine API's bodies, names and answers as values of ours.
 * Pure. Whatever a body holds, reading it ends in a value or in a refusal. Thread: any. */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/error.h"
#include "scheduler/engine/docker_subnet.h"
#include "scheduler/engine/engine.h"

enum { DOCKER_NAME_SIZE = 128, DOCKER_PATH_SIZE = 1024, DOCKER_TEXT_SIZE = 1024, DOCKER_DEVICE_SIZE = 16 };

/* How a container was given files of this machine, and where in it files are that are wanted here ("": nowhere). */
#define DOCKER_LABEL_FILES   "trainyard.files"
#define DOCKER_LABEL_REPORTS "trainyard.reports"
#define DOCKER_FILES_MOUNTED "mounted"
#define DOCKER_FILES_PUT     "put"

/* "ty-INSTANCE-JOB-ROLE-INDEX-aATTEMPT" and "ty-INSTANCE-JOB". Choice: made of the key alone, so that
 * each operation knows the name without asking; the job's own id is in the labels. */
void docker_container_name(const char *instance, const struct replica_key *key, char name[DOCKER_NAME_SIZE]);
void docker_network_name(const char *instance, int64_t job, char name[DOCKER_NAME_SIZE]);
/* The bridge that a job's network is made with: an interface of the engine's machine. @second: the one to
 * have where the engine keeps the first for a network that it does not know. */
void docker_network_device(const char *instance, int64_t job, bool second, char name[DOCKER_DEVICE_SIZE]);
/* "worker-3", for the daemon's log. */
void docker_replica_name(const struct replica_key *key, char name[32]);

/* {"label":["trainyard.instance=I", and with @job "trainyard.job=N"]}, percent-encoded for a query. @instance NULL: of
 * any. */
void docker_label_filter(const char *instance, const int64_t *job, char filter[DOCKER_PATH_SIZE]);
/* Percent-encodes @value into a query. */
void docker_query_encode(const char *value, char *encoded, size_t size);

/* Body of POST /containers/create; deep copies. NULL when a text is not UTF-8. Caller owns. */
json_t *docker_container_body(const char *instance, const struct replica_spec *spec);
/* Limits the body's NanoCpus to what the engine's host has. */
void docker_container_clamp(json_t *body, unsigned cpu_count);
/* Body of POST /networks/create, as text. The gateway is the first address.
 * @joined: the daemon's own container is to be in it, at the address after that (docker_self.h).
 * @internal: without a way to the outside. The gateway's address is the host's all the same, and answers. */
char *docker_network_body(const char *instance, int64_t job, const char *bridge, struct subnet subnet,
			  bool internal, bool joined);

/* The engine's message in the body of a failed call: {"message":…}, or plain text. */
void docker_message(const char *body, size_t length, char text[DOCKER_TEXT_SIZE]);
/* What the code of a failed call means to the scheduler. */
enum status docker_code_status(unsigned code);

/* Parses an answer's body; NULL when it is no JSON or of another type. Caller owns. */
json_t *docker_parse(const char *body, size_t length, json_type type);

/* The key in a container's labels; false when they are not all there. They speak for a container that has the name which
 * they make: of any other they may be its image's. */
bool docker_key_read(const json_t *labels, struct replica_key *ret_key);
bool docker_key_equal(const struct replica_key *a, const struct replica_key *b);

/* One element of GET /containers/json; false: it is no replica. *ret_inspect: it does not run, and only
 * docker_container_inspected() tells all of what it is: *ret_status lacks when it ended, and what of. */
bool docker_container_listed(const json_t *container, struct replica_status *ret_status, bool *ret_inspect);
/* Of such an element: whether it was made as we make them. Labels that it has of its image do not tell. */
bool docker_container_is_made_here(const json_t *container);
/* Answer of GET /containers/X/json. */
bool docker_container_inspected(const json_t *container, struct replica_status *ret_status);
/* True when the container, as inspected, carries the labels of the body it was to be made of. */
bool docker_container_is_of(const json_t *container, const json_t *body);

/* A network of GET /networks, or of an inspection. */
bool docker_network_read(const json_t *network, struct network_status *ret_status);
/* Whether it was made for the daemon's own container to be in it: then reach.address is the container's, and reach.device is
 * not known. */
bool docker_network_is_joined(const json_t *network);
/* True when its labels are those of @instance and @job. */
bool docker_network_is_of(const json_t *network, const char *instance, int64_t job);
/* Adds the IPv4 blocks of every network in @networks. */
void docker_networks_taken(const json_t *networks, struct subnet_list *list);

enum docker_action {
	ACTION_OTHER,
	ACTION_START,
	ACTION_KILL, /* a signal, whichever */
	ACTION_DIE,
	ACTION_DESTROY,
	ACTION_PAUSE,
	ACTION_UNPAUSE,
	ACTION_RENAME
};

/* One line of GET /events that concerns a container of ours, by its labels and its name. */
struct docker_event {
	enum docker_action action;
	char id[80];
	struct replica_status status; /* key; of a pause or its end also paused */
	uint64_t signals; /* KILL: the bit of its signal; all bits: the engine does not name one */
	/* The image has a label "signal", which the engine writes over its own word: signals tells nothing. Not of a KILL,
	 * which always has the word. */
	bool has_signal_label;
};
bool docker_event_read(const char *line, size_t length, struct docker_event *ret_event);
