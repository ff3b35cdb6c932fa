/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/nodes.h: the machines that jobs run on: the engine of --engine, which comes first, and those of --node. */
#include <jansson.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/error.h"
#include "scheduler/engine/engine.h"

struct config;
struct place_rules;
struct image_facts;
struct replica_key;
struct scheduler;
struct scheduler_node;
struct store;

/* The pointers named, urls and engines are arrays of count elements, with room for size. */
struct daemon_nodes {
	atomic_size_t count; /* grows while nodes join */
	size_t size, first_count; /* first_count: without the nodes that joined later */
	bool swarm; /* the nodes are those of a Docker Swarm */
	struct scheduler_node *named;
	const char **urls;           /* strings of the configuration; those of nodes that joined later are owned */
	struct engine **engines;     /* NULL: not open */
	struct place_rules *placing; /* NULL: all jobs may run on all nodes */
	enum engine_networks makes;  /* kind of networks that the first node makes; with overlays, the other nodes make
	                              * none */
	struct engine_options options; /* of all engines, without the URL; borrowed */
	struct engine_group *group;    /* of the engines; NULL: not open */
};

/* True for "NAME=URL": a name of lowercase letters, digits and hyphens, but not the first node's, and the URL of an
 * engine. */
bool node_rule_valid(const char *value);
const char *node_rule_url(const char *rule);
/* Returns true for "NAME=WHICH": WHICH as for inventory_parse(), but with ids joined by '+'. */
bool node_gpus_rule_valid(const char *value);
/* Returns true for "NAME=LABEL:VALUE": a rule for place_rule_parse() with a node's name in front. */
bool node_label_rule_valid(const char *value);
/* Returns true if place_rule_parse() accepts @value. */
bool place_rule_valid(const char *value);

/* Makes the nodes from the options --engine, --gpus, --node, --node-gpus, --node-label, --place and --job-networks of
 * @config, which must outlive them. INVALID_ARGUMENT: two nodes have the same name or engine, GPUs or a label are given
 * to an unknown node, or the kernel cannot encrypt overlays. */
enum status daemon_nodes_make(const struct config *config, struct daemon_nodes *ret_nodes, struct error *err);
void daemon_nodes_deinit(struct daemon_nodes *nodes);

/* What the configuration lets jobs use of each node. @project_vcpus: limit of vCPUs for all jobs of a project together;
 * 0: no limit. */
struct capacity daemon_nodes_capacity(const struct daemon_nodes *nodes, const struct config *config,
				      unsigned project_vcpus);
/* Opens the engine of each node and starts the scheduler, which must have been made with the same number of nodes.
 * @options apply to all nodes, except the URL. */
enum status daemon_nodes_open(struct daemon_nodes *nodes, struct scheduler *scheduler,
			      const struct engine_options *options, struct error *err);
/* Adds a node while the scheduler runs. Takes references of its own. RESOURCE_EXHAUSTED: there are too many nodes;
 * other errors are those of open() in struct engine_kind. Thread: one at a time; other threads see the node when it is
 * complete. */
enum status daemon_nodes_join(struct daemon_nodes *nodes, struct scheduler *scheduler, const char *name,
			      const char *url, json_t *labels, struct error *err);
/* Whether a node has this name or this URL. Thread: that of daemon_nodes_join(). */
bool daemon_nodes_have(const struct daemon_nodes *nodes, const char *name, const char *url);
/* Calls has_path() of the engine kind (struct engine_kind) of @url. */
enum status engine_has_path(const char *url, const char *path, struct error *err);
void daemon_nodes_close(struct daemon_nodes *nodes);

/* Finds the engine of the node that runs the replica; for a job without a node yet, the engine of the first node.
 * Thread: any. */
enum status daemon_nodes_engine(const struct daemon_nodes *nodes, struct store *store,
				const struct replica_key *replica, struct engine **ret_engine,
				struct error *err);
/* Like engine_ops.inspect_image, on the first node that has the image. Thread: any. */
enum status daemon_nodes_inspect_image(const struct daemon_nodes *nodes, const char *image,
				       const json_t *command, const json_t *args, bool with_program,
				       struct image_facts *ret_facts, struct error *err);
