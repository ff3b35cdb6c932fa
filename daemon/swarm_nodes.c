/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/swarm_nodes.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/json.h"
#include "daemon/base/log.h"
#include "daemon/base/memory.h"
#include "daemon/config.h"
#include "daemon/nodes.h"
#include "scheduler/engine/docker_endpoint.h"
#include "scheduler/engine/docker_http.h"
#include "scheduler/engine/docker_reach.h"
#include "scheduler/engine/swarm.h"
#include "scheduler/engine/swarm_service.h"
#include "scheduler/scheduler.h"

static bool is_named(const struct config_list *nodes, const char *name)
{
	const size_t length = strlen(name);

	for (size_t i = 0; i < nodes->count; i++)
		if (strncmp(nodes->values[i], name, length) == 0 && nodes->values[i][length] == '=')
			return true;
	return false;
}

/* Makes a name of --node from that in the swarm: "gpu-1-example" from "GPU-1.example". */
static char *name_make(const struct swarm_node *node)
{
	char *name = memory_strdup(node->name);

	for (char *c = name; *c; c++)
		*c = isalnum((unsigned char)*c) ? (char)tolower((unsigned char)*c) : '-';
	return name;
}

static void labels_list(const struct swarm_node *node, const char *name, struct config *config)
{
	const char *label;
	const json_t *value;

	json_object_foreach((json_t *)node->labels, label, value) {
		AUTO(string) char *rule = memory_printf("%s=%s:%s", name, label, json_string_value(value));

		if (!strchr(label, ':') && node_label_rule_valid(rule))
			config_list_add(&config->node_labels, rule);
		else
			log_event(LOG_WARNING, "swarm-label-unused", "node=%s error=\"%s is no label for --place\"",
				  name, label);
	}
}

static void node_list(const struct swarm_node *node, const char *manager_url, struct config *config)
{
	AUTO(string) char *name = name_make(node);
	AUTO(string) char *url = memory_printf("swarm:%s:%s", node->id, manager_url);
	AUTO(string) char *rule = memory_printf("%s=%s", name, url);
	AUTO(string) char *plain = memory_printf("%s=%s", node->id, url);
	const bool is_good = node_rule_valid(rule) && !is_named(&config->nodes, name);

	config_list_add(&config->nodes, is_good ? rule : plain);
	labels_list(node, is_good ? name : node->id, config);
}

void swarm_nodes_list(const struct swarm *swarm, const char *own, const char *manager_url,
		      struct config *config)
{
	for (size_t i = 0; i < swarm->count; i++)
		if (strcmp(swarm->nodes[i].id, own) == 0)
			labels_list(&swarm->nodes[i], MAIN_NODE, config);
		else
			node_list(&swarm->nodes[i], manager_url, config);
}

/* Returns the labels that --place can name; owned by the caller. */
static json_t *labels_take(const struct swarm_node *node)
{
	json_t *labels = json_object(), *value;
	const char *label;

	json_object_foreach((json_t *)node->labels, label, value) {
		if (!strchr(label, ':'))
			json_object_set_new(labels, label, json_string(json_string_value(value)));
	}
	return labels;
}

static enum status node_join(const struct swarm_node *node, const char *url, struct daemon_nodes *nodes,
			     struct scheduler *scheduler, struct error *err)
{
	AUTO(string) char *name = name_make(node);
	AUTO(string) char *rule = memory_printf("%s=%s", name, url);
	AUTO(json) json_t *labels = labels_take(node);
	const bool is_good = node_rule_valid(rule) && !daemon_nodes_have(nodes, name, NULL);

	return daemon_nodes_join(nodes, scheduler, is_good ? name : node->id, url, labels, err);
}

enum status swarm_nodes_join(const struct swarm *swarm, const char *manager_url, struct daemon_nodes *nodes,
			     struct scheduler *scheduler, struct error *err)
{
	enum status rc = STATUS_OK;

	for (size_t i = 0; !rc && i < swarm->count; i++) {
		const struct swarm_node *node = &swarm->nodes[i];
		AUTO(string) char *url = memory_printf("swarm:%s:%s", node->id, manager_url);

		if (strcmp(node->id, swarm->own) != 0 && !daemon_nodes_have(nodes, NULL, url))
			rc = node_join(node, url, nodes, scheduler, err);
	}
	return rc;
}

const char *swarm_manager_url(const char *url)
{
	const char *id = strncmp(url, "swarm:", 6) == 0 ? url + 6 : NULL, *end = id ? strchr(id, ':') : NULL;

	return end ? end + 1 : NULL;
}

static bool is_gone(const struct swarm *swarm, const char *url)
{
	const char *id = url + 6;

	for (size_t i = 0; i < swarm->count; i++) {
		const size_t length = strlen(swarm->nodes[i].id);

		if (strncmp(swarm->nodes[i].id, id, length) == 0 && id[length] == ':')
			return swarm->nodes[i].is_gone;
	}
	return true;
}

void swarm_nodes_report(const struct swarm *swarm, const char *manager_url, const struct daemon_nodes *nodes,
			struct scheduler *scheduler)
{
	for (size_t i = 1; i < nodes->count; i++) {
		const char *url = swarm_manager_url(nodes->urls[i]);

		if (url && strcmp(url, manager_url) == 0)
			scheduler_node_gone(scheduler, i, is_gone(swarm, nodes->urls[i]));
	}
}

enum status swarm_nodes_add(struct config *config, struct error *err)
{
	AUTO(endpoint) struct endpoint *endpoint = NULL;
	AUTO(http) struct http *http = NULL;
	AUTO(string) char *image = NULL;
	struct swarm swarm AUTO_SWARM = { 0 };
	enum status rc = STATUS_OK;

	if (!config->swarm)
		return rc;
	rc = docker_connect(config->engine, &endpoint, &http, err);
	if (!rc)
		rc = swarm_ask(http, &swarm, err);
	if (!rc)
		rc = swarm_service_image(http, &image, err);
	if (rc == STATUS_NOT_FOUND)
		return error_set(err, STATUS_FAILED_PRECONDITION, NULL,
				 "--engine swarm: the swarm has no agents: `trainyard swarm up` starts one on each node");
	if (rc)
		return error_wrap(err, "--engine swarm");
	swarm_nodes_list(&swarm, swarm.own, config->engine, config);
	return STATUS_OK;
}
