/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/plan/place_rule.h: which nodes jobs may run on, by the nodes' labels. Pure. Thread: any, one at a time. */
#include <jansson.h>
#include <stddef.h>

#include "daemon/base/error.h"
#include "scheduler/plan/plan.h"

/* A rule: replicas of a role or of a machine type go only to nodes with the label. */
struct place_rule {
	char *subject; /* "worker", "a2-highgpu-1g" */
	char *label, *value;
};

/* Reads "SUBJECT=LABEL:VALUE", as --place has it: "a2-highgpu-1g=gpu:a100", "ps=node:NAME". The label "node" is the
 * node's name. INVALID_ARGUMENT: another form. */
enum status place_rule_parse(const char *text, struct place_rule *ret_rule, struct error *err);
void place_rule_deinit(struct place_rule *rule);

/* The rules, and the labels of all nodes. */
struct place_rules {
	struct place_rule *rules;
	size_t rule_count;
	json_t *labels; /* by a node's name: an object of strings; NULL: no node has labels */
};

/* The labels of a node: @own if it has them, otherwise those of @placing; NULL: it has none. */
const json_t *place_labels(const struct place_rules *placing, const char *node, const json_t *own);
void place_rules_deinit(struct place_rules *placing);

/* The first rule by which replicas of the pool may not run on the node; NULL: they may. @labels: an object of strings, or
 * NULL. */
const struct place_rule *place_rule_broken(const struct place_rule *rules, size_t count, const char *node,
					   const json_t *labels, const struct pool *pool, enum role role);
