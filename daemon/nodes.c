/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/nodes.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/base/memory.h"
#include "daemon/config.h"
#include "scheduler/engine/kernel_esp.h"
#include "scheduler/plan/assignment.h"
#include "scheduler/plan/place_rule.h"
#include "scheduler/scheduler.h"
#include "store/jobs/jobs.h"

enum { NAME_BYTES_MAX = 40, LATER_MAX = 1024 };

/* ---- the options ---- */

/* Returns the length of the name before the '='; 0: there is no valid name. */
static size_t name_length(const char *rule)
{
	const size_t length = strspn(rule, "abcdefghijklmnopqrstuvwxyz0123456789-");

	if (!length || length > NAME_BYTES_MAX || rule[0] == '-')
		return 0;
	return rule[length] == '=' ? length : 0;
}

const char *node_rule_url(const char *rule)
{
	return rule + name_length(rule) + 1;
}

bool node_rule_valid(const char *value)
{
	const size_t length = name_length(value);
	const bool is_main = length == strlen(MAIN_NODE) && strncmp(value, MAIN_NODE, length) == 0;

	return length && !is_main && engine_kind_of(node_rule_url(value)) != NULL;
}

static enum status rule_inventory(const char *rule, struct inventory *ret_inventory)
{
	AUTO(string) char *which = memory_strdup(node_rule_url(rule));

	for (char *c = which; *c; c++)
		*c = *c == '+' ? ',' : *c;
	return inventory_parse(which, ret_inventory, NULL);
}

bool node_gpus_rule_valid(const char *value)
{
	struct inventory inventory = { 0 };
	const bool valid = name_length(value) && rule_inventory(value, &inventory) == STATUS_OK;

	inventory_deinit(&inventory);
	return valid;
}

bool place_rule_valid(const char *value)
{
	struct place_rule rule = { 0 };
	const bool valid = place_rule_parse(value, &rule, NULL) == STATUS_OK;

	place_rule_deinit(&rule);
	return valid;
}

bool node_label_rule_valid(const char *value)
{
	return name_length(value) && place_rule_valid(value);
}

/* Returns the index of the node with that name; @nodes->count: no node has it. */
static size_t node_find(const struct daemon_nodes *nodes, const char *name, size_t length)
{
	size_t i = 0;

	while (i < nodes->count &&
	       (strlen(nodes->named[i].name) != length || strncmp(nodes->named[i].name, name, length) != 0))
		i++;
	return i;
}

/* Adds a node. Takes over the contents of @inventory. */
static void node_add(struct daemon_nodes *nodes, const char *name, size_t length, const char *url,
		     const struct inventory *inventory)
{
	const size_t at = nodes->count++;

	nodes->named = memory_resize(nodes->named, nodes->count, sizeof(*nodes->named));
	nodes->urls = memory_resize(nodes->urls, nodes->count, sizeof(*nodes->urls));
	nodes->engines = memory_resize(nodes->engines, nodes->count, sizeof(*nodes->engines));
	nodes->named[at] = (struct scheduler_node){ memory_strndup(name, length), *inventory };
	nodes->urls[at] = url;
	nodes->engines[at] = NULL;
}

static enum status rule_take(struct daemon_nodes *nodes, const char *rule, struct error *err)
{
	const size_t length = name_length(rule);
	const char *url = node_rule_url(rule);

	if (node_find(nodes, rule, length) < nodes->count)
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "--node: %.*s is named twice",
				 (int)length, rule);
	for (size_t i = 0; i < nodes->count; i++)
		if (strcmp(nodes->urls[i], url) == 0)
			return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
					 "--node: %.*s and %s are the same engine, %s", (int)length, rule,
					 nodes->named[i].name, url);
	node_add(nodes, rule, length, url, &(struct inventory){ .automatic = true });
	return STATUS_OK;
}

static enum status gpus_take(struct daemon_nodes *nodes, const char *rule, struct error *err)
{
	const size_t length = name_length(rule), at = node_find(nodes, rule, length);

	if (at == 0 || at == nodes->count)
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
				 "--node-gpus: there is no --node %.*s=URL", (int)length, rule);
	inventory_deinit(&nodes->named[at].inventory);
	return rule_inventory(rule, &nodes->named[at].inventory);
}

static enum status label_take(struct daemon_nodes *nodes, json_t *labels, const char *text, struct error *err)
{
	struct place_rule rule = { 0 };
	enum status rc = STATUS_OK;
	json_t *of;

	if (node_find(nodes, text, name_length(text)) == nodes->count)
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
				 "--node-label: there is no --node %.*s=URL", (int)name_length(text), text);
	rc = place_rule_parse(text, &rule, err);
	of = rc ? NULL : json_object_get(labels, rule.subject);
	if (!rc && !of) {
		of = json_object();
		json_object_set_new(labels, rule.subject, of);
	}
	if (!rc && json_object_set_new(of, rule.label, json_string(rule.value)) != 0)
		rc = error_set(err, STATUS_INVALID_ARGUMENT, NULL, "--node-label: \"%s\" is not UTF-8", text);
	place_rule_deinit(&rule);
	return rc;
}

static enum status place_rules_make(struct daemon_nodes *nodes, const struct config *config,
				    struct error *err)
{
	struct place_rules *placing = memory_calloc(1, sizeof(*placing));
	enum status rc = STATUS_OK;

	nodes->placing = placing;
	placing->labels = json_object();
	placing->rules = memory_calloc(config->place.count + 1, sizeof(*placing->rules));
	for (size_t i = 0; !rc && i < config->node_labels.count; i++)
		rc = label_take(nodes, placing->labels, config->node_labels.values[i], err);
	for (size_t i = 0; !rc && i < config->place.count; i++) {
		rc = place_rule_parse(config->place.values[i], &placing->rules[i], err);
		placing->rule_count += !rc;
	}
	return rc;
}

/* Chooses the kind of job networks: with one node always bridges, because no network spans several nodes, unless others
 * may join. */
static enum status networks_choose(struct daemon_nodes *nodes, const struct config *config, struct error *err)
{
	nodes->makes = nodes->count > 1 || nodes->swarm ? (enum engine_networks)config->job_networks
						       : ENGINE_BRIDGES;
	if (nodes->makes != ENGINE_OVERLAYS || kernel_esp_check(NULL) != STATUS_FAILED_PRECONDITION)
		return STATUS_OK;
	return error_set(
		err, STATUS_INVALID_ARGUMENT, NULL,
		"--job-networks overlays: this machine's kernel cannot encrypt networks (ESP). Load its "
		"modules (modprobe esp4), or give plain-overlays");
}

/* Makes room for nodes that join later: other threads read the arrays, so they must stay where they are. */
static void nodes_finish(struct daemon_nodes *nodes)
{
	const size_t size = nodes->count + (nodes->swarm ? LATER_MAX : 0);

	nodes->first_count = nodes->count;
	nodes->size = size;
	nodes->named = memory_resize(nodes->named, size, sizeof(*nodes->named));
	nodes->urls = memory_resize(nodes->urls, size, sizeof(*nodes->urls));
	nodes->engines = memory_resize(nodes->engines, size, sizeof(*nodes->engines));
}

enum status daemon_nodes_make(const struct config *config, struct daemon_nodes *ret_nodes, struct error *err)
{
	struct inventory inventory = { 0 };
	struct daemon_nodes nodes = { .swarm = config->swarm };
	enum status rc = inventory_parse(config->gpus, &inventory, err);

	node_add(&nodes, MAIN_NODE, strlen(MAIN_NODE), config->engine, &inventory);
	for (size_t i = 0; !rc && i < config->nodes.count; i++)
		rc = rule_take(&nodes, config->nodes.values[i], err);
	for (size_t i = 0; !rc && i < config->node_gpus.count; i++)
		rc = gpus_take(&nodes, config->node_gpus.values[i], err);
	if (!rc)
		rc = place_rules_make(&nodes, config, err);
	if (!rc)
		rc = networks_choose(&nodes, config, err);
	nodes_finish(&nodes);
	if (rc)
		daemon_nodes_deinit(&nodes);
	else
		*ret_nodes = nodes;
	return rc;
}

struct capacity daemon_nodes_capacity(const struct daemon_nodes *nodes, const struct config *config,
				      unsigned project_vcpus)
{
	return (struct capacity){
		.fit = (enum machine_fit)config->machine_fit,
		.accelerators = (enum accelerator_policy)config->accelerators,
		.max_jobs = (unsigned)config->max_active_jobs,
		.max_containers = (unsigned)config->max_containers,
		.max_vcpus = (unsigned)config->max_vcpus,
		.max_memory_bytes = config->max_memory_mib << 20,
		.project_vcpus = project_vcpus,
		.placing = nodes->placing,
	};
}

void daemon_nodes_deinit(struct daemon_nodes *nodes)
{
	for (size_t i = 0; i < nodes->count; i++) {
		free((char *)nodes->named[i].name);
		inventory_deinit(&nodes->named[i].inventory);
		if (i >= nodes->first_count)
			free((char *)nodes->urls[i]);
	}
	if (nodes->placing)
		place_rules_deinit(nodes->placing);
	free(nodes->placing);
	free(nodes->named);
	free(nodes->urls);
	free(nodes->engines);
	*nodes = (struct daemon_nodes){ 0 };
}

/* ---- the engines ---- */

static enum status engine_open(struct daemon_nodes *nodes, size_t node, const char *name, struct scheduler *scheduler,
			       struct error *err)
{
	const struct engine_sink sink = scheduler_sink(scheduler, node);
	struct engine_options options = nodes->options;

	options.url = nodes->urls[node];
	options.makes = nodes->makes == ENGINE_BRIDGES || node == 0 ? nodes->makes : ENGINE_GUEST;
	options.swarm = nodes->swarm;
	options.group = nodes->group;
	options.node = name;
	return engine_kind_of(options.url)->open(&options, &sink, &nodes->engines[node], err);
}

enum status daemon_nodes_open(struct daemon_nodes *nodes, struct scheduler *scheduler,
			      const struct engine_options *options, struct error *err)
{
	enum status rc = STATUS_OK;

	nodes->options = *options;
	nodes->group = engine_group_new();
	for (size_t i = 0; !rc && i < nodes->count; i++)
		rc = engine_open(nodes, i, nodes->named[i].name, scheduler, err);
	return rc ? rc : scheduler_start(scheduler, nodes->engines, err);
}

bool daemon_nodes_have(const struct daemon_nodes *nodes, const char *name, const char *url)
{
	for (size_t i = 0; i < nodes->count; i++)
		if ((name && strcmp(nodes->named[i].name, name) == 0) ||
		    (url && nodes->urls[i] && strcmp(nodes->urls[i], url) == 0))
			return true;
	return false;
}

enum status daemon_nodes_join(struct daemon_nodes *nodes, struct scheduler *scheduler, const char *name,
			      const char *url, json_t *labels, struct error *err)
{
	const size_t at = nodes->count;
	size_t node;
	enum status rc;

	if (at == nodes->size || !scheduler_node_make(scheduler, name, labels, &node))
		return error_set(err, STATUS_RESOURCE_EXHAUSTED, NULL,
				 "too many nodes have joined since the start; the next start counts them all");
	nodes->urls[at] = memory_strdup(url);
	rc = engine_open(nodes, at, name, scheduler, err);
	if (rc) {
		free((char *)nodes->urls[at]);
		return rc;
	}
	nodes->named[at] = (struct scheduler_node){ memory_strdup(name), { .automatic = true } };
	nodes->count = at + 1;
	scheduler_node_join(scheduler, node, nodes->engines[at]);
	return STATUS_OK;
}

enum status engine_has_path(const char *url, const char *path, struct error *err)
{
	return engine_kind_of(url)->has_path(url, path, err);
}

void daemon_nodes_close(struct daemon_nodes *nodes)
{
	for (size_t i = 0; i < nodes->count; i++) {
		if (nodes->engines[i])
			nodes->engines[i]->ops->close(nodes->engines[i]);
		nodes->engines[i] = NULL;
	}
	engine_group_free(TAKE(nodes->group));
}

/* ---- the nodes of jobs ---- */

enum status daemon_nodes_engine(const struct daemon_nodes *nodes, struct store *store,
				const struct replica_key *replica, struct engine **ret_engine,
				struct error *err)
{
	AUTO(job) struct job *row = NULL;
	AUTO(assignment) struct assignment *assignment = NULL;
	const char *name = NULL;
	size_t node = 0;
	enum status rc = STATUS_OK;

	if (nodes->count > 1)
		rc = job_get_by_id(store, replica->job, &row, err);
	if (!rc && row && row->assignment)
		rc = assignment_from_text(row->assignment, &assignment, err);
	if (rc)
		return rc;
	if (assignment)
		name = assignment_node(assignment, replica->role, replica->index);
	if (name)
		node = node_find(nodes, name, strlen(name));
	if (node == nodes->count)
		return error_set(err, STATUS_NOT_FOUND, NULL,
				 "the job was on the node %s, which no --node names", name);
	*ret_engine = nodes->engines[node];
	return STATUS_OK;
}

enum status daemon_nodes_inspect_image(const struct daemon_nodes *nodes, const char *image,
				       const json_t *command, const json_t *args, bool with_program,
				       struct image_facts *ret_facts, struct error *err)
{
	enum status rc = STATUS_NOT_FOUND;

	for (size_t i = 0; rc == STATUS_NOT_FOUND && i < nodes->count; i++) {
		struct engine *engine = nodes->engines[i];

		rc = engine->ops->inspect_image(engine, image, command, args, with_program, ret_facts, err);
	}
	return rc;
}
