/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/faults/fault_registry.h: the current rules of fault injection, for the threads of the scheduler, the engine
 * and clients' calls. The store keeps the rules; the registry is the copy in memory. Without rules a look-up costs one
 * atomic read. Thread: any, unless a function says otherwise. */
#include <jansson.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/error.h"
#include "scheduler/faults/fault.h"

struct fault_registry;
struct replica_line;
struct store;

/* The maximum number of rules. Choice: with more, the check of every output line would become expensive. */
enum { FAULT_RULES_MAX = 1000 };

/* The fault that a rule injects, with the values of the rule's members of the same names. */
struct fault_order {
	int64_t rule; /* id of the rule */
	enum fault_kind kind;
	int exit_code;
	int64_t seconds_us;
	int http_status;
	int64_t bytes_per_s;
};

/* Loads the rules of the store. */
enum status fault_registry_open(struct store *store, uint64_t seed, struct fault_registry **ret_registry,
				struct error *err);
void fault_registry_free(struct fault_registry *registry);

/* Adds a hook that is called after the rules have changed. At most two hooks; to be set before clients can change rules. */
void fault_registry_on_change(struct fault_registry *registry, void (*changed)(void *arg), void *arg);

/* Adds a rule. @canonical: as for fault_rule_read(). INVALID_ARGUMENT: bad rule; RESOURCE_EXHAUSTED: too many rules. */
enum status fault_registry_add(struct fault_registry *registry, const json_t *canonical, bool from_file,
			       int64_t *ret_id, struct error *err);
/* Removes a rule. NOT_FOUND: there is no such rule. */
enum status fault_registry_remove(struct fault_registry *registry, int64_t id, struct error *err);
enum status fault_registry_clear(struct fault_registry *registry, struct error *err);

/* Whether there are no rules. */
bool fault_registry_is_empty(const struct fault_registry *registry);
/* Whether the rule still exists. When it is removed, its effects end. */
bool fault_registry_has(struct fault_registry *registry, int64_t id);

/* Finds the rule with the lowest number that applies to the context now, and counts one use of it. If the fault is not
 * injected after all, call fault_registry_return(). False: no rule applies; *ret_wait_us: how long until one may apply
 * by time alone; INT64_MAX: none will. The caller does not ask for a container that has a fault already. */
bool fault_registry_take(struct fault_registry *registry, const struct fault_context *context,
			 struct fault_order *ret_order, int64_t *ret_wait_us);
/* Takes back a use counted by fault_registry_take(), because the fault was not injected. */
void fault_registry_return(struct fault_registry *registry, int64_t rule);
/* Stores that a call has used the rule. Uses by jobs need no such call: they are stored with the jobs' injections. */
enum status fault_registry_count(struct fault_registry *registry, int64_t rule, struct error *err);

/* Compares a line that a container has printed with the rules' patterns. True: it is the container's first line that
 * matches a rule's pattern, so the job has to be looked at. The match is stored when this returns, because a stored line
 * is not read again. Thread: the engine's. */
bool fault_registry_line(struct fault_registry *registry, const struct replica_line *line);
