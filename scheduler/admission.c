/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/admission.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "scheduler/decision.h"
#include "scheduler/faults/faults.h"
#include "scheduler/job_entry.h"
#include "scheduler/job_run.h"
#include "scheduler/network_pool.h"
#include "scheduler/observe_networks.h"
#include "scheduler/plan/deviation.h"
#include "scheduler/plan/dialect.h"
#include "scheduler/plan/fleet.h"
#include "scheduler/reconciler.h"
#include "scheduler/reported_deviations.h"
#include "store/logs/logs.h"

enum {
	LOG_AGAIN_US =
		60000000, /* the reason that a job has waited for before is logged again only after this time */
	LOGGED_AT_ONCE = 64, /* how many jobs one walk logs reasons for; the next walk continues */
};

/* The networks and free address blocks of one node that are left in this walk, copied when the walk begins. */
struct walk_node {
	struct network_pool pool;
	unsigned free_blocks;
};

/* One walk along the queue. It takes what jobs get from its own copies of the nodes' resources. */
struct walk {
	const struct queue_view *view;
	struct admission *admission;
	struct rooms rooms; /* borrowed, except the texts of lacks */
	struct fleet fleet; /* the same nodes, less what this walk's jobs were given */
	struct walk_node *nodes;
	bool devices_held;   /* another instance has a GPU that this walk has chosen for a job */
	const char *claims_lack; /* why a node's GPUs cannot be claimed; NULL: no job wanted such GPUs */
	json_t *taken_vcpus; /* per project: vCPUs of its running jobs and of jobs admitted in this walk */
	bool closed;         /* no further job is admitted */
	bool looks; /* the walk continues in a moment, when the engine has answered about free networks or claimed GPUs */
	bool devices_short; /* no job that wants GPUs is admitted */
	json_t *projects;   /* projects without further admissions: an object with their names */
	unsigned logged;    /* number of jobs for which this walk has logged why they wait */
};

static struct decision *decision_of(struct walk *walk, struct job_run *run, enum job_state to)
{
	struct admission *admission = walk->admission;
	struct decision *decision;

	admission->decisions =
		memory_resize(admission->decisions, admission->count + 1, sizeof(*admission->decisions));
	decision = &admission->decisions[admission->count++];
	*decision = (struct decision){ .run = run };
	decision_change(decision, run, to);
	return decision;
}

/* ---- waiting jobs ---- */

static struct job_run *run_of(const struct walk *walk, struct job_entry *entry)
{
	return entry->run ? entry->run : walk->view->open(walk->view->arg, entry);
}

/* Whether nothing can be decided for the job now: it pauses, its log line is being stored, or it cannot be read. */
static bool is_busy(const struct walk *walk, const struct job_run *run)
{
	return !run || run->stale || run->hold_until_us > walk->view->mono_us;
}

static bool was_logged(const struct job_entry *entry)
{
	return entry->logged_wait_us[entry->logged_wait];
}

/* Logs why the job waits, when the wait begins and when the reason changes. */
static void wait_report(struct walk *walk, struct job_entry *entry, enum shortage shortage, const char *text)
{
	static const char *const words[SHORTAGE_KINDS][2] = {
		[SHORTAGE_NONE] = { "its turn", "its turn" },
		[SHORTAGE_ROOM] = { "room on this machine", "room on one of the nodes" },
		[SHORTAGE_DEVICES] = { "GPUs", "GPUs" },
		[SHORTAGE_PROJECT] = { "the project's quota", "the project's quota" },
		[SHORTAGE_HOST] = { "GPUs that this machine does not have", "GPUs that no node has" },
		[SHORTAGE_ENGINE] = { "the container engine", "a node's container engine" },
		[SHORTAGE_NETWORK] = { "a network", "a network" },
	};
	const int64_t logged_us = entry->logged_wait_us[shortage];
	struct decision *decision;
	struct job_run *run;

	if ((logged_us &&
	     (entry->logged_wait == shortage || walk->view->mono_us - logged_us < LOG_AGAIN_US)) ||
	    walk->logged == LOGGED_AT_ONCE)
		return;
	run = run_of(walk, entry);
	/* run_of() may have read the job from the store only now. If it was cancelled meanwhile, the run is stale. */
	if (is_busy(walk, run))
		return;
	decision = decision_of(walk, run, run->row->state);
	notes_say(&decision->says, SEVERITY_INFO,
		  run->row->state == JOB_QUEUED ? "The job is queued: it waits for %s. %s"
						: "The job waits for %s. %s",
		  words[shortage][walk->view->node_count > 1], text ? text : "");
	decision->logged_wait_us = walk->view->mono_us;
	decision->logged_wait = shortage;
	walk->logged++;
}

/* Logs how many jobs are before one that was not considered, because it must not overtake them. What this job lacks
 * itself is logged when it is considered. */
static void turn_report(struct walk *walk, struct job_entry *entry, size_t before)
{
	char text[64];

	if (was_logged(entry) || !before)
		return;
	snprintf(text, sizeof(text), before == 1 ? "%zu job is before it." : "%zu jobs are before it.",
		 before);
	wait_report(walk, entry, SHORTAGE_NONE, text);
}

/* True: jobs that wait for an engine keep later jobs waiting, because there is one node only. With several nodes, others
 * can run the later jobs. */
static bool engine_closes(const struct walk *walk)
{
	return walk->view->node_count == 1;
}

/* Whether the job's log says already that the job wants more than the present hosts have, or needs a node that is
 * away. */
static bool lacks_host(const struct walk *walk, const struct job_entry *entry)
{
	const enum shortage shortage = entry->logged_wait;

	return (shortage == SHORTAGE_HOST || (shortage == SHORTAGE_ENGINE && !engine_closes(walk))) &&
	       was_logged(entry) && entry->logged_wait_us[shortage] > walk->view->host_us;
}

static bool is_passed_over(struct walk *walk, struct job_entry *entry)
{
	if (lacks_host(walk, entry) || (entry->run && faults_hold(entry->run, walk->view->mono_us)))
		return true;
	if (walk->devices_short &&
	    placement_wants_devices(entry->accelerators, &walk->fleet.total.capacity)) {
		wait_report(walk, entry, SHORTAGE_DEVICES, "Jobs before it wait for GPUs, too.");
		return true;
	}
	if (json_object_get(walk->projects, entry->project)) {
		wait_report(walk, entry, SHORTAGE_PROJECT, "Jobs of the project before it wait for it, too.");
		return true;
	}
	return false;
}

static void note_shortage(struct walk *walk, const struct job_run *run, enum shortage shortage)
{
	switch (shortage) {
	case SHORTAGE_NONE:
		walk->closed = true;
		break;
	case SHORTAGE_ROOM:
	case SHORTAGE_NETWORK:
		walk->closed = fleet_keep(&walk->fleet, run->plan, shortage);
		break;
	case SHORTAGE_ENGINE:
		walk->closed = engine_closes(walk);
		break;
	case SHORTAGE_DEVICES:
		walk->devices_short = fleet_keep(&walk->fleet, run->plan, shortage);
		break;
	case SHORTAGE_PROJECT:
		json_object_set_new_nocheck(walk->projects, run->row->project, json_true());
		break;
	case SHORTAGE_HOST:
		break;
	}
}

/* ---- networks ---- */

/* Asks the node's engine whether it has a free address block for @run, unless the answer is known or awaited. */
static void network_seek(struct walk *walk, size_t node, const struct job_run *run)
{
	const struct network_look *look = walk->view->nodes[node].look;
	unsigned *look_for = &walk->admission->look_for[node];

	if (!look->asked && look->again_us <= walk->view->mono_us && !*look_for)
		*look_for = (unsigned)run->replica_count;
}

/* Asks the engine of each node that had no free address block. */
static void networks_seek(struct walk *walk, const struct job_run *run)
{
	for (size_t i = 0; i < walk->rooms.count; i++)
		if (walk->rooms.nodes[i].room.network_lack[0])
			network_seek(walk, i, run);
}

/* Finds a network for the job on the node: a pooled one, which is written to @assignment, or a free address block. False:
 * none is known yet, and the engine is asked for a block first. */
static bool network_find(struct walk *walk, size_t node, const struct job_run *run,
			 struct assignment *assignment)
{
	const struct network_look *look = walk->view->nodes[node].look;
	struct walk_node *of = &walk->nodes[node];
	const struct pooled_network *pooled = pooled_network_fit(&of->pool, run->replica_count);
	struct pooled_network taken;

	if (pooled) {
		assignment->network = pooled->status.job;
		assignment->network_turn = pooled->turn + 1;
		return pooled_network_take(&of->pool, assignment->network, &taken);
	}
	if (!look->asked && of->free_blocks && look->replicas >= run->replica_count &&
	    walk->view->mono_us < look->until_us) {
		of->free_blocks--;
		return true;
	}
	network_seek(walk, node, run);
	return false;
}

/* ---- admitted jobs ---- */

/* Adds the deviations that the daemon's options cause for each job. */
static void option_deviations_add(const struct reconciler *reconciler, json_t *deviations)
{
	if (reconciler->adc)
		deviation_add(
			deviations, DONE_OTHERWISE, "adc-given", NULL,
			"The replicas are given the developer's own credentials (--adc), not those of the "
			"job's service account.");
	if (reconciler->cut_off)
		deviation_add(deviations, DONE_OTHERWISE, "cut-off", NULL,
			      "The replicas are cut off from the outside (--egress none).");
}

/* The deviations of @all that are new: neither reported by another trial of the tuning job, nor by one admitted in this
 * walk. */
static json_t *deviations_fresh(const struct walk *walk, const struct decision *decision, json_t *all)
{
	json_t *fresh = deviations_unreported(decision->run->reported, all);

	for (size_t i = 0; i + 1 < walk->admission->count; i++) {
		const struct decision *before = &walk->admission->decisions[i];
		json_t *left;

		if (before->run->reported != decision->run->reported || !before->reported)
			continue;
		left = deviations_unreported(before->reported, fresh);
		json_decref(fresh);
		fresh = left;
	}
	return fresh;
}

static void deviations_report(const struct walk *walk, struct decision *decision)
{
	const struct job_run *run = decision->run;
	json_t *all = decision->assignment->deviations;
	AUTO(string) char *line = NULL;

	decision->reported = run->reported ? deviations_fresh(walk, decision, all) : NULL;
	line = deviations_line(run->plan->deviations, decision->reported ? decision->reported : all);
	if (line)
		notes_say(&decision->says, SEVERITY_NOTICE, "%s", line);
}

static int64_t taken_vcpus(const struct walk *walk, const char *project)
{
	return json_integer_value(json_object_get(walk->taken_vcpus, project)) +
	       json_integer_value(json_object_get(walk->view->project_vcpus, project));
}

/* Takes the job's resources from the walk's own copies, so that later jobs see what is left. */
static void room_use(struct walk *walk, const struct decision *decision, const unsigned *nodes)
{
	const struct job_run *run = decision->run;
	json_t *before = json_object_get(walk->taken_vcpus, run->row->project);

	fleet_use(&walk->fleet, run->plan, decision->assignment, nodes);
	json_object_set_new_nocheck(walk->taken_vcpus, run->row->project,
				    json_integer(json_integer_value(before) + plan_vcpus(run->plan)));
}

/* If there are several nodes, logs which nodes the job is on, and why not on others. */
static void placed_report(const struct walk *walk, struct decision *decision, const unsigned *nodes)
{
	struct assignment *assignment = decision->assignment;

	if (walk->fleet.count == 1)
		return;
	assignment->placed = fleet_text(&walk->fleet, decision->run->plan, nodes);
	notes_say(&decision->says, SEVERITY_INFO, "The job is placed. %s", assignment->placed);
}

/* Admits the job with @assignment; a job that has given up its place is admitted a second time. From here on its engine
 * may hold containers or networks of it. */
static void let_in(struct walk *walk, const unsigned *nodes, struct job_run *run,
		   struct assignment *assignment)
{
	struct decision *decision = decision_of(walk, run, JOB_PREPARING);

	option_deviations_add(walk->view->reconciler, assignment->deviations);
	/* Networks of its earlier attempts may still exist, with containers of a lost node. */
	if (run->row->started_us && !assignment->network)
		assignment->network = job_network_of_attempt(run->row->id, run->row->attempt);
	decision->assignment = assignment;
	if (!run->row->started_us)
		decision->change.started_us = walk->view->wall_us;
	decision->leases = assignment_leases(assignment, run->row->id, &decision->lease_count);
	deviations_report(walk, decision);
	if (!run->row->started_us)
		notes_say_all(&decision->says, SEVERITY_INFO, dialect_of(run->plan)->admitted);
	placed_report(walk, decision, nodes);
	room_use(walk, decision, nodes);
	/* If address blocks were short, the next job is admitted only when this one has its network. */
	walk->closed = walk->closed || walk->view->nodes[fleet_home(&walk->fleet, nodes)].networks_short;
}

/* Fails a job that no host can ever run. */
static void turn_away(struct walk *walk, struct job_run *run, const struct error *err)
{
	struct decision *decision = decision_of(walk, run, run->row->state);

	decision->change.decides = true;
	decision->change.outcome = JOB_FAILED;
	decision->change.outcome_code = STATUS_RESOURCE_EXHAUSTED;
	decision->outcome_message =
		memory_strdup(err->text ? err->text : "The job cannot run on this machine.");
}

/* ---- the walk ---- */

static size_t node_index(const struct walk *walk, const char *name)
{
	size_t i = walk->rooms.count;

	while (name && i > 1 && strcmp(walk->rooms.nodes[--i].name, name) != 0)
		continue;
	return name ? i : 0;
}

/* Claims the assigned devices for this daemon; the fleet counts those that cannot be had now as held. */
static enum claim devices_claim(struct walk *walk, const struct assignment *assignment)
{
	const struct queue_view *view = walk->view;
	enum claim worst = CLAIM_OURS;
	size_t count = 0;
	struct lease *wanted =
		view->claim && !assignment->shared ? assignment_leases(assignment, 0, &count) : NULL;

	for (size_t i = 0; i < count; i++) {
		const size_t node = node_index(walk, wanted[i].node);
		const enum claim claim = view->claim(view->arg, node, wanted[i].device);

		walk->devices_held = walk->devices_held || claim == CLAIM_REFUSED;
		if (claim == CLAIM_FAILED)
			walk->claims_lack = view->nodes[node].claims_lack;
		if (claim >= CLAIM_REFUSED)
			fleet_hold(&walk->fleet, node, wanted[i].device);
		if (claim > worst)
			worst = claim;
	}
	leases_free(wanted, count);
	return worst;
}

/* Finds room for the job, with devices that no other instance has. *ret_assignment NULL on success: the engine has not
 * answered yet whether another instance has them. */
static enum status place(struct walk *walk, const struct job_run *run, unsigned **ret_nodes,
			 struct assignment **ret_assignment, enum shortage *ret_shortage, struct error *err)
{
	for (;;) {
		AUTO(assignment) struct assignment *assignment = NULL;
		const enum status rc =
			fleet_place(&walk->fleet, run->plan, &assignment, ret_nodes, ret_shortage, err);

		walk->admission->claims_short = walk->admission->claims_short || (rc && walk->devices_held);
		if (rc && *ret_shortage == SHORTAGE_DEVICES && walk->devices_held)
			error_text_join(err, " ", "GPUs are held by another trainyard on this engine.");
		if (rc && *ret_shortage == SHORTAGE_DEVICES && walk->claims_lack) {
			error_text_join(err, " ", "GPUs cannot be claimed in the engine: ");
			error_text_join(err, "", walk->claims_lack);
		}
		if (rc)
			return rc;
		switch (devices_claim(walk, assignment)) {
		case CLAIM_OURS:
			*ret_assignment = TAKE(assignment);
			return STATUS_OK;
		case CLAIM_ASKED:
			return STATUS_OK;
		case CLAIM_REFUSED:
		case CLAIM_FAILED:
			free(TAKE(*ret_nodes));
			break;
		}
	}
}

static void visit(struct walk *walk, struct job_run *run)
{
	AUTO(assignment) struct assignment *assignment = NULL;
	enum shortage shortage = SHORTAGE_NONE;
	struct error err AUTO_ERROR = { 0 };
	AUTO(nodes) unsigned *nodes = NULL;

	walk->fleet.total.usage.project_vcpus = (unsigned)taken_vcpus(walk, run->row->project);
	switch (place(walk, run, &nodes, &assignment, &shortage, &err)) {
	case STATUS_OK:
		if (assignment && network_find(walk, fleet_home(&walk->fleet, nodes), run, assignment))
			let_in(walk, nodes, run, TAKE(assignment));
		else
			walk->closed = walk->looks = true;
		break;
	case STATUS_RESOURCE_EXHAUSTED:
		if (shortage == SHORTAGE_NETWORK)
			networks_seek(walk, run);
		wait_report(walk, run->entry, shortage, err.text);
		note_shortage(walk, run, shortage);
		break;
	case STATUS_UNAVAILABLE:
		wait_report(walk, run->entry, SHORTAGE_ENGINE, err.text);
		walk->closed = true;
		break;
	default:
		turn_away(walk, run, &err);
		break;
	}
}

/* Logs the positions of the jobs from @from on, which this walk does not visit. Most of them have logged a reason
 * already, and are skipped. */
static void turns_report(struct walk *walk, size_t from)
{
	const struct queue_view *view = walk->view;
	size_t *logged = &walk->admission->logged;

	while (*logged < view->count && was_logged(view->queue[*logged]))
		++*logged;
	if (from < *logged)
		from = *logged;
	for (size_t i = from; i < view->count && walk->logged < LOGGED_AT_ONCE; i++)
		turn_report(walk, view->queue[i], i);
}

/* Copies the nodes' free resources, and makes the fleet of them. */
static void walk_begin(struct walk *walk, const struct queue_view *view)
{
	walk->rooms.count = view->node_count;
	walk->rooms.nodes = memory_calloc(view->node_count, sizeof(*walk->rooms.nodes));
	walk->nodes = memory_calloc(view->node_count, sizeof(*walk->nodes));
	for (size_t i = 0; i < view->node_count; i++) {
		const struct node_view *node = &view->nodes[i];
		struct room *room = &walk->rooms.nodes[i].room;

		walk->nodes[i].pool = *node->pool;
		walk->nodes[i].free_blocks = node->look->free;
		walk->rooms.nodes[i].name = node->name;
		*room = *node->room;
		if (node->engine_lack)
			engine_lack_set(room, node->engine_lack);
	}
	walk->rooms.span = view->span;
	walk->fleet = fleet_of(&walk->rooms, false);
}

/* Frees the walk's own memory; the rooms' contents are borrowed. */
static void walk_end(struct walk *walk)
{
	fleet_deinit(&walk->fleet);
	free(walk->nodes);
	free(walk->rooms.nodes);
	json_decref(walk->taken_vcpus);
	json_decref(walk->projects);
}

struct admission admission_decide(const struct queue_view *view)
{
	struct admission admission = { .logged = view->logged,
				       .look_for = memory_calloc(view->node_count, sizeof(unsigned)) };
	struct walk walk = {
		.view = view, .admission = &admission, .taken_vcpus = json_object(), .projects = json_object()
	};
	size_t i = 0;

	walk_begin(&walk, view);
	for (; i < view->count && walk.logged < LOGGED_AT_ONCE; i++) {
		struct job_entry *entry = view->queue[i];

		/* A busy job keeps its position: no later job is admitted before it. */
		walk.closed = walk.closed || (entry->run && is_busy(&walk, entry->run));
		if (walk.closed)
			break;
		if (is_passed_over(&walk, entry))
			continue;
		walk.closed = is_busy(&walk, run_of(&walk, entry));
		if (walk.closed)
			break;
		visit(&walk, entry->run);
	}
	if (walk.closed && !walk.looks)
		turns_report(&walk, i);
	walk_end(&walk);
	return admission;
}

void admission_deinit(struct admission *admission)
{
	free(admission->decisions);
	free(admission->look_for);
}
