/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "daemon/base/memory.h"
#include "daemon/base/text.h"
#include "scheduler/plan/dialect.h"
#include "scheduler/plan/fleet_parts.h"

enum { NAMED = 3 };

DEFINE_AUTO(reasons, struct node_reason *, free)
DEFINE_AUTO(used, bool *, free)

/* ---- where replicas go ---- */

static void replicas_print(const struct plan *plan, const unsigned *nodes, unsigned node, struct text *text)
{
	const char *before = "";

	for (int role = 0; role < ROLE_COUNT; role++) {
		const unsigned count = plan->pools[role].count;
		unsigned first = 0, end;

		for (; first < count; first = end) {
			for (end = first; end < count && nodes[end] == nodes[first];)
				end++;
			if (nodes[first] != node)
				continue;
			text_printf(text, "%s%s-%u", before, role_name((enum role)role), first);
			if (end - first > 1)
				text_printf(text, " to %s-%u", role_name((enum role)role), end - 1);
			before = ", ";
		}
		nodes += count;
	}
}

static bool *placed_print(const struct fleet *fleet, const struct plan *plan, const unsigned *nodes,
			  struct text *text)
{
	bool *used = memory_calloc(fleet->count + 1, sizeof(*used));
	const unsigned count = nodes ? plan_replica_count(plan) : 0;

	for (unsigned i = 0; i < count; i++) {
		if (used[nodes[i]])
			continue;
		used[nodes[i]] = true;
		text_puts(text, text->length ? "; on " : "On ");
		text_printf(text, "%s: ", fleet->nodes[nodes[i]].name);
		replicas_print(plan, nodes, nodes[i], text);
	}
	text_puts(text, count ? "." : "");
	return used;
}

/* ---- the reasons against the other nodes ---- */

static bool reasons_alike(const struct node_reason *one, const struct node_reason *other)
{
	return one->lack == other->lack && one->rule == other->rule &&
	       (one->lack < NODE_LACKS_LABEL || one->role == other->role);
}

/* The end of a sentence about one node, and about several. The nodes' names come before it. */
static const struct {
	const char *one, *several;
} words[NODE_LACKS] = {
	[NODE_LACKS_NOTHING] = { "has room for some replicas, but not for all",
				 "have room for some replicas, but not for all" },
	[NODE_IS_UNKNOWN] = { "has not reported its size", "have not reported their sizes" },
	[NODE_IS_DOWN] = { "is down", "are down" },
	[NODE_LACKS_MANAGER] = { "waits for the first node, which makes the networks",
				 "wait for the first node, which makes the networks" },
	[NODE_IS_DRAINED] = { "is drained", "are drained" },
	[NODE_LACKS_NETWORK] = { "has no network for it", "have no networks for it" },
	[NODE_IS_FULL] = { "runs as many jobs as it may", "run as many jobs as they may" },
	[NODE_IS_KEPT] = { "is kept for a job before it", "are kept for jobs before it" },
	[NODE_LACKS_LABEL] = { "lacks the label", "lack the label" },
	[NODE_LACKS_MODEL] = { "has other GPUs than", "have other GPUs than" },
	[NODE_LACKS_DEVICES] = { "has too few free GPUs", "have too few free GPUs" },
	[NODE_LACKS_CPUS] = { "has too few free CPUs", "have too few free CPUs" },
	[NODE_LACKS_MEMORY] = { "has too little free memory", "have too little free memory" },
	[NODE_LACKS_CONTAINERS] = { "runs as many containers as it may",
				    "run as many containers as they may" },
};

/* Prints the end of the sentence: the numbers or names behind the reason. */
static void detail_print(const struct fleet *fleet, const struct plan *plan, size_t index,
			 const struct node_reason *reason, size_t count, struct text *text)
{
	const struct fleet_node *node = &fleet->nodes[index];
	const char *role = role_name(reason->role);
	const char *most = count > 1 ? " at most" : "";

	switch (reason->lack) {
	case NODE_IS_DOWN:
		if (count == 1 && node->engine_lack[0])
			text_printf(text, " (%s)", node->engine_lack);
		break;
	case NODE_LACKS_NETWORK:
		if (count == 1 && node->network_lack[0])
			text_printf(text, " (%s)", node->network_lack);
		break;
	case NODE_IS_FULL:
		text_printf(text, " (%u)", fleet->limits.max_jobs);
		break;
	case NODE_LACKS_LABEL:
		text_printf(text, " %s:%s (--place %s=%s:%s)", reason->rule->label, reason->rule->value,
			    reason->rule->subject, reason->rule->label, reason->rule->value);
		break;
	case NODE_LACKS_MODEL:
		text_printf(text, " %s, which a %s takes", plan->pools[reason->role].accelerator_type, role);
		break;
	case NODE_LACKS_DEVICES:
		text_printf(text, " (%lld%s; each %s takes %lld)", (long long)reason->free, most, role,
			    (long long)reason->wanted);
		break;
	case NODE_LACKS_CPUS:
		text_printf(text, " (%g%s; each %s takes %g)", (double)reason->free / 1000, most, role,
			    (double)reason->wanted / 1000);
		break;
	case NODE_LACKS_MEMORY:
		text_printf(text, " (%lld MiB%s; each %s takes %lld)", (long long)reason->free, most, role,
			    (long long)reason->wanted);
		break;
	default:
		break;
	}
}

/* Appends one sentence about all nodes with the same reason as node @first, and marks these nodes in @said. */
static void group_print(const struct fleet *fleet, const struct plan *plan, struct node_reason *reasons,
			bool *said, size_t first, struct text *text)
{
	struct node_reason reason = reasons[first];
	struct text names AUTO_TEXT = { 0 };
	size_t count = 0;

	for (size_t i = first; i < fleet->count; i++) {
		if (said[i] || !reasons_alike(&reasons[i], &reason))
			continue;
		said[i] = true;
		if (reasons[i].free > reason.free)
			reason.free = reasons[i].free;
		if (reasons[i].wanted > reason.wanted)
			reason.wanted = reasons[i].wanted;
		if (count++ < NAMED)
			text_printf(&names, "%s%s", count > 1 ? ", " : "", fleet->nodes[i].name);
	}
	if (count > NAMED)
		text_printf(&names, " and %zu more", count - NAMED);
	text_printf(text, "%s%s %s", text->length ? " " : "", names.data,
		    count == 1 ? words[reason.lack].one : words[reason.lack].several);
	detail_print(fleet, plan, first, &reason, count, text);
	text_putc(text, '.');
}

char *fleet_text(const struct fleet *fleet, const struct plan *plan, const unsigned *nodes)
{
	AUTO(reasons)
	struct node_reason *reasons = memory_calloc(fleet->count + 1, sizeof(*reasons));
	AUTO(assignment) struct assignment *assignment = assignment_new();
	struct text text AUTO_TEXT = { 0 };
	AUTO(used) bool *said = placed_print(fleet, plan, nodes, &text);
	struct demand demand;

	fleet_sizes_fit(fleet, plan, assignment);
	demand = fleet_demand(fleet, plan, assignment, fleet_attaches(fleet, plan));
	for (size_t i = 0; i < fleet->count; i++)
		if (!said[i])
			reasons[i] = fleet_reason(fleet, &demand, i);
	/* A node with room for the job gets no sentence: it is not used only because fewer nodes are enough. */
	for (size_t i = 0; nodes && i < fleet->count; i++)
		said[i] = said[i] || reasons[i].lack == NODE_LACKS_NOTHING;
	for (size_t i = 0; i < fleet->count; i++)
		if (!said[i])
			group_print(fleet, plan, reasons, said, i, &text);
	text_puts(&text, text.length ? "" : "There is no node.");
	return text_take(&text);
}
