/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/faults/fault_registry.h: the rules of ordered faults as they stand, for all threads: the scheduler's, the engine's and
 * those of clients' calls. The store keeps them; the book is what is looked at. Without rules a look costs one atomic
 * read. Thread: any, unless it says otherwise. */
#include <jansson.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/error.h"
#include "scheduler/faults/fault.h"

struct fault_registry;
struct replica_line;
struct store;

/* Choice: more would make every line of a log expensive. */
enum { FAULT_RULES_MAX = 1000 };

/* What a rule that hit wants to happen. */
struct fault_order {
	int64_t rule;
	enum fault_kind kind;
	int exit_code;
	int64_t seconds_us;
	int http_status;
	int64_t bytes_per_s;
};

/* Takes up the rules that the store has. */
enum status fault_registry_open(struct store *store, uint64_t seed, struct fault_registry **ret_registry,
				struct error *err);
void fault_registry_free(struct fault_registry *registry);

/* Called after the rules have changed. At most two hooks; set before clients can change rules. */
void fault_registry_on_change(struct fault_registry *registry, void (*changed)(void *arg), void *arg);

/* @canonical: as fault_rule_read() takes it. INVALID_ARGUMENT; RESOURCE_EXHAUSTED: there are too many. */
enum status fault_registry_add(struct fault_registry *registry, const json_t *canonical, bool from_file,
			       int64_t *ret_id, struct error *err);
/* NOT_FOUND: there is none. */
enum status fault_registry_remove(struct fault_registry *registry, int64_t id, struct error *err);
enum status fault_registry_clear(struct fault_registry *registry, struct error *err);

/* Whether there is any rule. */
bool fault_registry_is_empty(const struct fault_registry *registry);
/* Whether the rule is there: what one does that was taken back is over. */
bool fault_registry_has(struct fault_registry *registry, int64_t id);

/* The first rule, by its number, that hits the context now: it has hit once more then, until it is given back. False: none
 * does; *ret_wait_us is how long until one may, INT64_MAX: unless something happens. A container that is already hit is
 * the caller's to leave out. */
bool fault_registry_take(struct fault_registry *registry, const struct fault_context *context,
			 struct fault_order *ret_order, int64_t *ret_wait_us);
/* The hit did not take place. */
void fault_registry_return(struct fault_registry *registry, int64_t rule);
/* A call's hit is stored at once; others are with their jobs. */
enum status fault_registry_count(struct fault_registry *registry, int64_t rule, struct error *err);

/* A line that was printed. True: it is the container's first that fits some rule's pattern, so that its job is to be
 * looked at. That is stored when it returns: a line that is stored is not read again. Thread: the engine's. */
bool fault_registry_line(struct fault_registry *registry, const struct replica_line *line);
