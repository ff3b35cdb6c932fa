/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/swarm.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/base/memory.h"
#include "daemon/cli/ask.h"
#include "daemon/cli/invocation.h"
#include "daemon/cli/swarm_up.h"
#include "daemon/cli/table.h"
#include "daemon/main.h"
#include "scheduler/engine/docker_endpoint.h"
#include "scheduler/engine/docker_http.h"
#include "scheduler/engine/docker_reach.h"
#include "scheduler/engine/kernel_esp.h"
#include "scheduler/engine/swarm.h"
#include "scheduler/engine/swarm_agents.h"
#include "scheduler/engine/swarm_service.h"

static const char *const state_names[] = {
	[HOST_UP] = "up", [HOST_DRAINED] = "drained", [HOST_DOWN] = "down"
};

static const char *const agent_names[] = {
	[AGENT_NONE] = "none", [AGENT_STARTS] = "starting", [AGENT_FAILS] = "failed", [AGENT_RUNS] = "up"
};

/* Facts about a node's agent, in addition to struct swarm_node. */
struct agent_view {
	const struct swarm_agent *agent; /* NULL: none */
	bool answers;                    /* the agent answers; leases is set only then */
	struct swarm_leases leases;
};

/* "gpu=a100, zone=b" */
static void labels_append(struct text *text, const json_t *labels)
{
	const char *name;
	const json_t *value;

	json_object_foreach((json_t *)labels, name, value) {
		text_printf(text, "%s%s=%s", text->length ? ", " : "", name, json_string_value(value));
	}
}

static void node_put(struct table *table, const struct swarm_node *node, const struct agent_view *view)
{
	static const enum style agent_styles[] = {
		[AGENT_STARTS] = STYLE_BUSY, [AGENT_FAILS] = STYLE_BAD, [AGENT_RUNS] = STYLE_GOOD
	};
	const enum agent_state agent = view->agent ? view->agent->state : AGENT_NONE;
	static const enum style styles[] = {
		[HOST_UP] = STYLE_GOOD, [HOST_DRAINED] = STYLE_BUSY, [HOST_DOWN] = STYLE_BAD
	};
	struct text memory AUTO_TEXT = { 0 }, labels AUTO_TEXT = { 0 };
	AUTO(string) char *cpus = node->host.known ? memory_printf("%u", node->host.cpus) : NULL;
	AUTO(string) char *gpus = node->host.known ? memory_printf("%zu", node->host.device_count) : NULL;

	AUTO(string) char *held = view->answers ? memory_printf("%zu", view->leases.devices) : NULL;
	AUTO(string) char *replicas = view->answers ? memory_printf("%zu", view->leases.replicas) : NULL;

	if (node->host.known)
		size_append(&memory, node->host.memory_bytes);
	labels_append(&labels, node->labels);
	table_put(table, node->name, STYLE_NONE);
	table_put(table, state_names[node->state], styles[node->state]);
	table_put(table, node->is_manager ? "manager" : "worker", STYLE_NONE);
	table_put(table, agent == AGENT_NONE ? NULL : agent_names[agent], agent_styles[agent]);
	table_put(table, cpus, STYLE_NONE);
	table_put(table, memory.data, STYLE_NONE);
	table_put(table, gpus, STYLE_NONE);
	table_put(table, held, STYLE_NONE);
	table_put(table, replicas, STYLE_NONE);
	table_put(table, node->address[0] ? node->address : NULL, STYLE_NONE);
	table_put(table, labels.data, STYLE_NONE);
}

static void table_print(struct text *text, const struct swarm *swarm, const struct agent_view *views)
{
	static const struct table_column columns[] = {
		{ .title = "NODE", .least = 16 },
		{ .title = "STATE" },
		{ .title = "ROLE" },
		{ .title = "AGENT", .optional = true },
		{ .title = "CPUS", .right = true },
		{ .title = "MEMORY", .right = true },
		{ .title = "GPUS", .right = true },
		{ .title = "HELD", .right = true, .optional = true },
		{ .title = "REPLICAS", .right = true, .optional = true },
		{ .title = "ADDRESS", .optional = true },
		{ .title = "LABELS", .optional = true, .notes = true },
		{ .title = NULL },
	};
	struct table table AUTO_TABLE = { .columns = columns };

	for (size_t i = 0; i < swarm->count; i++)
		node_put(&table, &swarm->nodes[i], &views[i]);
	table_write(text, &table, stdout);
}

static json_t *nodes_json(const struct swarm *swarm, const struct agent_view *views)
{
	json_t *nodes = json_array();

	for (size_t i = 0; i < swarm->count; i++) {
		const struct swarm_node *node = &swarm->nodes[i];
		json_t *gpus = json_array();

		for (size_t k = 0; k < node->host.device_count; k++)
			json_array_append_new(gpus, json_string(node->host.devices[k]));
		json_t *item = json_pack("{ss ss ss sb si sI so ss sO ss}", "node", node->name, "id", node->id, "state",
					 state_names[node->state], "manager", node->is_manager, "cpus",
					 (int)node->host.cpus, "memoryBytes", (json_int_t)node->host.memory_bytes, "gpus",
					 gpus, "address", node->address, "labels", node->labels, "agent",
					 agent_names[views[i].agent ? views[i].agent->state : AGENT_NONE]);

		if (views[i].agent && views[i].agent->state == AGENT_FAILS)
			json_object_set_new(item, "agentProblem", json_string(views[i].agent->problem));
		if (views[i].answers) {
			json_object_set_new(item, "heldGpus", json_integer((json_int_t)views[i].leases.devices));
			json_object_set_new(item, "replicas", json_integer((json_int_t)views[i].leases.replicas));
		}
		json_array_append_new(nodes, item);
	}
	return nodes;
}

/* Asks the agent for its leases. A node that is down is not asked, although its last known agent state may be
 * AGENT_RUNS. */
static void view_fill(const char *url, const struct swarm_node *node, struct agent_view *view)
{
	AUTO(endpoint) struct endpoint *endpoint = NULL;
	AUTO(http) struct http *http = NULL;
	AUTO(string) char *agent_url = memory_printf("swarm:%s:%s", node->id, url);

	view->answers = view->agent && view->agent->state == AGENT_RUNS && node->state != HOST_DOWN &&
			docker_connect(agent_url, &endpoint, &http, NULL) == STATUS_OK &&
			swarm_leases_ask(http, &view->leases, NULL) == STATUS_OK;
}

static void problems_print(struct text *text, const struct swarm *swarm, const struct agent_view *views)
{
	struct error err AUTO_ERROR = { 0 };

	for (size_t i = 0; i < swarm->count; i++)
		if (views[i].agent && views[i].agent->state == AGENT_FAILS)
			text_printf(text, "\nThe agent of %s: %s\n", swarm->nodes[i].name, views[i].agent->problem);
		else if (views[i].agent && views[i].agent->state == AGENT_RUNS && !views[i].answers &&
			 swarm->nodes[i].state != HOST_DOWN)
			text_printf(text, "\nThe agent of %s does not answer.\n", swarm->nodes[i].name);
	if (kernel_esp_check(&err) == STATUS_FAILED_PRECONDITION)
		text_printf(text, "\nNetworks between nodes cannot be encrypted from this machine: %s.\n", err.text);
}

static void status_write(struct text *text, const char *form, const struct swarm *swarm,
			 const struct agent_view *views)
{
	if (form && strcmp(form, "json") == 0) {
		AUTO(json) json_t *nodes = nodes_json(swarm, views);

		json_write(text, nodes);
		text_putc(text, '\n');
	} else if (form && strcmp(form, "name") == 0) {
		for (size_t i = 0; i < swarm->count; i++)
			text_printf(text, "%s\n", swarm->nodes[i].name);
	} else {
		table_print(text, swarm, views);
		problems_print(text, swarm, views);
	}
}

static int status_show(struct invocation *invocation)
{
	const char *url = invocation->config.engine;
	AUTO(endpoint) struct endpoint *endpoint = NULL;
	AUTO(http) struct http *http = NULL;
	struct swarm swarm AUTO_SWARM = { 0 };
	struct swarm_agents agents AUTO_AGENTS = { 0 };
	struct text text AUTO_TEXT = { 0 };
	struct error err AUTO_ERROR = { 0 };
	struct agent_view *views;

	if (docker_connect(url, &endpoint, &http, &err) || swarm_ask(http, &swarm, &err) ||
	    swarm_agents_ask(http, NULL, &agents, &err))
		return main_failure(&err);
	views = memory_calloc(swarm.count + 1, sizeof(*views));
	for (size_t i = 0; i < swarm.count; i++) {
		views[i].agent = swarm_agent_of(&agents, swarm.nodes[i].id);
		view_fill(url, &swarm.nodes[i], &views[i]);
	}
	status_write(&text, invocation_value(invocation, "output"), &swarm, views);
	free(views);
	return main_output(&text);
}

int swarm_main(struct invocation *invocation)
{
	const char *word = invocation->words[0];

	if (strcmp(word, "up") == 0)
		return swarm_up(invocation);
	return strcmp(word, "down") == 0 ? swarm_down(invocation) : status_show(invocation);
}
