/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/swarm.h"

#include <string.h>

#include "daemon/base/memory.h"
#include "daemon/cli/ask.h"
#include "daemon/cli/invocation.h"
#include "daemon/cli/table.h"
#include "daemon/main.h"
#include "scheduler/engine/kernel_esp.h"
#include "scheduler/engine/swarm.h"

static const char *const state_names[] = {
	[HOST_UP] = "up", [HOST_DRAINED] = "drained", [HOST_DOWN] = "down"
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

static void node_put(struct table *table, const struct swarm_node *node)
{
	static const enum style styles[] = {
		[HOST_UP] = STYLE_GOOD, [HOST_DRAINED] = STYLE_BUSY, [HOST_DOWN] = STYLE_BAD
	};
	struct text memory AUTO_TEXT = { 0 }, labels AUTO_TEXT = { 0 };
	AUTO(string) char *cpus = node->host.known ? memory_printf("%u", node->host.cpus) : NULL;
	AUTO(string) char *gpus = node->host.known ? memory_printf("%zu", node->host.device_count) : NULL;

	if (node->host.known)
		size_append(&memory, node->host.memory_bytes);
	labels_append(&labels, node->labels);
	table_put(table, node->name, STYLE_NONE);
	table_put(table, state_names[node->state], styles[node->state]);
	table_put(table, node->is_manager ? "manager" : "worker", STYLE_NONE);
	table_put(table, cpus, STYLE_NONE);
	table_put(table, memory.data, STYLE_NONE);
	table_put(table, gpus, STYLE_NONE);
	table_put(table, node->address[0] ? node->address : NULL, STYLE_NONE);
	table_put(table, labels.data, STYLE_NONE);
}

static void table_print(struct text *text, const struct swarm *swarm)
{
	static const struct table_column columns[] = {
		{ .title = "NODE", .least = 16 },
		{ .title = "STATE" },
		{ .title = "ROLE" },
		{ .title = "CPUS", .right = true },
		{ .title = "MEMORY", .right = true },
		{ .title = "GPUS", .right = true },
		{ .title = "ADDRESS", .optional = true },
		{ .title = "LABELS", .optional = true, .notes = true },
		{ .title = NULL },
	};
	struct table table AUTO_TABLE = { .columns = columns };

	for (size_t i = 0; i < swarm->count; i++)
		node_put(&table, &swarm->nodes[i]);
	table_write(text, &table, stdout);
}

static json_t *nodes_json(const struct swarm *swarm)
{
	json_t *nodes = json_array();

	for (size_t i = 0; i < swarm->count; i++) {
		const struct swarm_node *node = &swarm->nodes[i];
		json_t *gpus = json_array();

		for (size_t k = 0; k < node->host.device_count; k++)
			json_array_append_new(gpus, json_string(node->host.devices[k]));
		json_array_append_new(nodes,
				      json_pack("{ss ss ss sb si sI so ss sO}", "node", node->name, "id",
						node->id, "state", state_names[node->state], "manager",
						node->is_manager, "cpus", (int)node->host.cpus, "memoryBytes",
						(json_int_t)node->host.memory_bytes, "gpus", gpus, "address",
						node->address, "labels", node->labels));
	}
	return nodes;
}

int swarm_main(struct invocation *invocation)
{
	const char *form = invocation_value(invocation, "output");
	struct swarm swarm AUTO_SWARM = { 0 };
	struct text text AUTO_TEXT = { 0 };
	struct error err AUTO_ERROR = { 0 };

	if (swarm_ask(invocation->config.engine, &swarm, &err))
		return main_failure(&err);
	if (form && strcmp(form, "json") == 0) {
		AUTO(json) json_t *nodes = nodes_json(&swarm);

		json_write(&text, nodes);
		text_putc(&text, '\n');
	} else if (form && strcmp(form, "name") == 0) {
		for (size_t i = 0; i < swarm.count; i++)
			text_printf(&text, "%s\n", swarm.nodes[i].name);
	} else {
		table_print(&text, &swarm);
		if (kernel_esp_check(&err) == STATUS_FAILED_PRECONDITION)
			text_printf(&text,
				    "\nNetworks between nodes cannot be encrypted from this machine: %s.\n",
				    err.text);
	}
	return main_output(&text);
}
