/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/nodes.h: the machines that jobs run on: the engine of --engine, which comes first, and those of --node. */
#include <jansson.h>
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

/* Arrays of as many elements as there are nodes. */
struct daemon_nodes {
	size_t count;
	bool swarm; /* they are a swarm's */
	struct scheduler_node *named;
	const char **urls;           /* the configuration's */
	struct engine **engines;     /* NULL: not open */
	struct place_rules *placing; /* NULL: all jobs may run on all nodes */
	enum engine_networks makes;  /* of the first one; with overlays the others make none */
};

/* "NAME=URL": a name of lowercase letters, digits and hyphens, but not the first node's, and the URL of an engine. */
bool node_rule_valid(const char *value);
const char *node_rule_url(const char *rule);
/* "NAME=WHICH": WHICH is as inventory_parse() takes it, but ids are joined by '+'. */
bool node_gpus_rule_valid(const char *value);
/* "NAME=LABEL:VALUE": a place_rule with the name of a node as its subject. */
bool node_label_rule_valid(const char *value);
/* As place_rule_parse() takes it. */
bool place_rule_valid(const char *value);

/* By the options --engine, --gpus, --node, --node-gpus, --node-label, --place and --job-networks of @config, which must outlive the nodes.
 * INVALID_ARGUMENT: a name or an engine is named twice, GPUs or a label are given to a node that there is not, or the
 * kernel cannot encrypt overlays. */
enum status daemon_nodes_make(const struct config *config, struct daemon_nodes *ret_nodes, struct error *err);
void daemon_nodes_deinit(struct daemon_nodes *nodes);

/* Opens the engine of each node, with @options but their own URLs, and starts the scheduler, which was made with as many
 * nodes. */
enum status daemon_nodes_open(struct daemon_nodes *nodes, struct scheduler *scheduler,
			      const struct engine_options *options, struct error *err);
/* As struct engine_kind has it, for any kind. */
enum status engine_has_path(const char *url, const char *path, struct error *err);
void daemon_nodes_close(struct daemon_nodes *nodes);

/* The engine of the node that the replica is on; of a job that was not placed yet, the first node's. Thread: any. */
enum status daemon_nodes_engine(const struct daemon_nodes *nodes, struct store *store,
				const struct replica_key *replica, struct engine **ret_engine,
				struct error *err);
/* As engine_ops.inspect_image, of the first node that has the image. Thread: any. */
enum status daemon_nodes_inspect_image(const struct daemon_nodes *nodes, const char *image,
				       const json_t *command, const json_t *args, bool with_program,
				       struct image_facts *ret_facts, struct error *err);
