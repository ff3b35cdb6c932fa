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
#include "scheduler/reconciler.h"
#include "scheduler/reported_deviations.h"
#include "store/logs/logs.h"

enum {
	LOG_AGAIN_US =
		60000000, /* the reason that a job has waited for before is logged again only after this time */
	LOGGED_AT_ONCE = 64, /* how many jobs one walk logs reasons for; the next walk continues */
};

/* One walk along the queue. What its jobs take is taken of its own copies. */
struct walk {
	const struct queue_view *view;
	struct admission *admission;
	struct room room;
	struct lease *leases; /* of the room; texts of added ones belong to their decisions, or to the host */
	json_t *taken_vcpus;  /* by project: the view's, plus those of admitted jobs */
	struct network_pool pool;
	unsigned free_blocks;
	bool closed; /* no further job is admitted */
	bool looks;  /* the walk continues in a moment, when the engine has answered about free networks */
	bool devices_short; /* no job that wants GPUs is admitted */
	size_t held;        /* how many leases of the room belong to other processes */
	json_t *projects;   /* projects without further admissions: an object with their names */
	unsigned logged;    /* why they wait */
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

/* ---- those that wait ---- */

static struct job_run *run_of(const struct walk *walk, struct job_entry *entry)
{
	return entry->run ? entry->run : walk->view->open(walk->view->arg, entry);
}

/* It rests for a moment, its line is being stored, or it cannot be read. */
static bool is_busy(const struct walk *walk, const struct job_run *run)
{
	return !run || run->stale || run->hold_until_us > walk->view->mono_us;
}

static bool was_logged(const struct job_entry *entry)
{
	return entry->logged_wait_us[entry->logged_wait];
}

/* The log says why the job waits when it begins to, and when that changes. */
static void wait_report(struct walk *walk, struct job_entry *entry, enum shortage shortage, const char *text)
{
	static const char *const words[SHORTAGE_KINDS] = {
		[SHORTAGE_NONE] = "its turn",
		[SHORTAGE_ROOM] = "room on this machine",
		[SHORTAGE_DEVICES] = "GPUs",
		[SHORTAGE_PROJECT] = "the project's quota",
		[SHORTAGE_HOST] = "GPUs that this machine does not have",
		[SHORTAGE_ENGINE] = "the container engine",
		[SHORTAGE_NETWORK] = "a network",
	};
	const int64_t logged_us = entry->logged_wait_us[shortage];
	struct decision *decision;
	struct job_run *run;

	if ((logged_us &&
	     (entry->logged_wait == shortage || walk->view->mono_us - logged_us < LOG_AGAIN_US)) ||
	    walk->logged == LOGGED_AT_ONCE)
		return;
	run = run_of(walk, entry);
	if (!run)
		return;
	decision = decision_of(walk, run, run->row->state);
	notes_say(&decision->says, SEVERITY_INFO, "The job is queued: it waits for %s. %s", words[shortage],
		  text ? text : "");
	decision->logged_wait_us = walk->view->mono_us;
	decision->logged_wait = shortage;
	walk->logged++;
}

/* The job was not considered, because it must not overtake earlier ones. What it lacks itself is logged when it is
 * considered. */
static void turn_report(struct walk *walk, struct job_entry *entry, size_t before)
{
	char text[64];

	if (was_logged(entry) || !before)
		return;
	snprintf(text, sizeof(text), before == 1 ? "%zu job is before it." : "%zu jobs are before it.",
		 before);
	wait_report(walk, entry, SHORTAGE_NONE, text);
}

/* That it wants more than the host has was found of this host already. */
static bool lacks_host(const struct walk *walk, const struct job_entry *entry)
{
	return entry->logged_wait == SHORTAGE_HOST && was_logged(entry) &&
	       entry->logged_wait_us[SHORTAGE_HOST] > walk->view->host_us;
}

static bool is_passed_over(struct walk *walk, struct job_entry *entry)
{
	if (lacks_host(walk, entry) || (entry->run && faults_hold(entry->run, walk->view->mono_us)))
		return true;
	if (walk->devices_short && placement_wants_devices(entry->accelerators, &walk->room.capacity)) {
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
	case SHORTAGE_ROOM:
	case SHORTAGE_ENGINE:
	case SHORTAGE_NETWORK:
		walk->closed = true;
		break;
	case SHORTAGE_DEVICES:
		walk->devices_short = true;
		break;
	case SHORTAGE_PROJECT:
		json_object_set_new_nocheck(walk->projects, run->row->project, json_true());
		break;
	case SHORTAGE_HOST:
		break;
	}
}

/* ---- networks ---- */

/* Asks whether there is a block for @run, unless that is known or asked already. */
static void network_seek(struct walk *walk, const struct job_run *run)
{
	const struct network_look *look = walk->view->look;

	if (!look->asked && look->again_us <= walk->view->mono_us && !walk->admission->look_for)
		walk->admission->look_for = (unsigned)run->replica_count;
}

/* Finds a pooled network, stored in @assignment, or a free block. False: the engine is first asked whether there is
 * one. */
static bool network_find(struct walk *walk, const struct job_run *run, struct assignment *assignment)
{
	const struct network_look *look = walk->view->look;
	const struct pooled_network *pooled = pooled_network_fit(&walk->pool, run->replica_count);
	struct pooled_network taken;

	if (pooled) {
		assignment->network = pooled->status.job;
		assignment->network_turn = pooled->turn + 1;
		return pooled_network_take(&walk->pool, assignment->network, &taken);
	}
	if (!look->asked && walk->free_blocks && look->replicas >= run->replica_count &&
	    walk->view->mono_us < look->until_us) {
		walk->free_blocks--;
		return true;
	}
	network_seek(walk, run);
	return false;
}

/* ---- admitted jobs ---- */

/* Deviations that apply to every job of this daemon. */
static void surroundings_report(const struct reconciler *reconciler, json_t *deviations)
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

/* The deviations that neither a sibling has reported nor one admitted in this walk reports. */
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

/* Adds to the walk's own copy of the room; the devices' names are borrowed. */
static void leases_add(struct walk *walk, const struct lease *added, size_t count)
{
	struct usage *usage = &walk->room.usage;
	struct lease *leases;

	if (!count)
		return;
	leases = memory_calloc(usage->lease_count + count, sizeof(*leases));
	if (usage->lease_count)
		memcpy(leases, usage->leases, usage->lease_count * sizeof(*leases));
	memcpy(leases + usage->lease_count, added, count * sizeof(*leases));
	free(walk->leases);
	walk->leases = leases;
	usage->leases = walk->leases;
	usage->lease_count += count;
}

/* Takes from the walk's own copy of the room, for later jobs. */
static void room_use(struct walk *walk, const struct decision *decision)
{
	const struct job_run *run = decision->run;
	struct usage *usage = &walk->room.usage;
	json_t *before = json_object_get(walk->taken_vcpus, run->row->project);

	plan_usage_add(run->plan, decision->assignment, usage);
	json_object_set_new_nocheck(walk->taken_vcpus, run->row->project,
				    json_integer(json_integer_value(before) + plan_vcpus(run->plan)));
	leases_add(walk, decision->leases, decision->lease_count);
}

/* With what was assigned to it: from here on the engine may hold something of it. */
static void let_in(struct walk *walk, struct job_run *run, struct assignment *assignment)
{
	struct decision *decision = decision_of(walk, run, JOB_PREPARING);

	surroundings_report(walk->view->reconciler, assignment->deviations);
	decision->assignment = assignment;
	decision->change.started_us = walk->view->wall_us;
	decision->leases = assignment_leases(assignment, run->row->id, &decision->lease_count);
	deviations_report(walk, decision);
	notes_say_all(&decision->says, SEVERITY_INFO, dialect_of(run->plan)->admitted);
	room_use(walk, decision);
	/* If address blocks were short, the next job is admitted only when this one has its network. */
	walk->closed = walk->closed || walk->view->networks_short;
}

/* This host can never run it. */
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

/* The name of a device in the room, which the walk may borrow. */
static const char *device_name(const struct walk *walk, const char *device)
{
	const struct host *host = &walk->room.capacity.host;

	for (size_t i = 0; i < host->device_count; i++)
		if (strcmp(host->devices[i], device) == 0)
			return host->devices[i];
	return NULL;
}

/* Claims what was assigned. The walk's room has a lease of each device that another process has. False: there was one. */
static bool devices_claim(struct walk *walk, const struct assignment *assignment)
{
	const struct queue_view *view = walk->view;
	size_t count = 0, held = 0;
	struct lease *wanted =
		view->claim && !assignment->shared ? assignment_leases(assignment, 0, &count) : NULL;

	for (size_t i = 0; i < count; i++) {
		struct lease foreign = { .device = (char *)device_name(walk, wanted[i].device) };

		if (!foreign.device || view->claim(view->arg, wanted[i].device))
			continue;
		leases_add(walk, &foreign, 1);
		held++;
	}
	leases_free(wanted, count);
	walk->held += held;
	return held == 0;
}

/* Finds room, with devices that no other process has. */
static enum status place(struct walk *walk, const struct job_run *run, struct assignment **ret_assignment,
			 enum shortage *ret_shortage, struct error *err)
{
	for (;;) {
		AUTO(assignment) struct assignment *assignment = NULL;
		const enum status rc = placement_find(run->plan, &walk->room, &assignment, ret_shortage, err);

		if (rc && walk->held && *ret_shortage == SHORTAGE_DEVICES) {
			walk->admission->claims_short = true;
			error_text_join(err, " ", "GPUs are held by another trainyard of this machine.");
		}
		if (rc)
			return rc;
		if (devices_claim(walk, assignment)) {
			*ret_assignment = TAKE(assignment);
			return STATUS_OK;
		}
	}
}

static void visit(struct walk *walk, struct job_run *run)
{
	AUTO(assignment) struct assignment *assignment = NULL;
	enum shortage shortage = SHORTAGE_NONE;
	struct error err AUTO_ERROR = { 0 };

	walk->room.usage.project_vcpus = (unsigned)taken_vcpus(walk, run->row->project);
	switch (place(walk, run, &assignment, &shortage, &err)) {
	case STATUS_OK:
		if (network_find(walk, run, assignment))
			let_in(walk, run, TAKE(assignment));
		else
			walk->closed = walk->looks = true;
		break;
	case STATUS_RESOURCE_EXHAUSTED:
		if (shortage == SHORTAGE_NETWORK)
			network_seek(walk, run);
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

/* Later jobs are not visited. Most of them have logged their reason, and are skipped without a walk. */
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

struct admission admission_decide(const struct queue_view *view)
{
	struct admission admission = { .logged = view->logged };
	struct walk walk = { .view = view,
			     .admission = &admission,
			     .room = *view->room,
			     .taken_vcpus = json_object(),
			     .pool = *view->pool,
			     .free_blocks = view->look->free,
			     .projects = json_object() };
	size_t i = 0;

	for (; i < view->count && walk.logged < LOGGED_AT_ONCE; i++) {
		struct job_entry *entry = view->queue[i];

		/* A busy job keeps its position. */
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
	json_decref(walk.taken_vcpus);
	json_decref(walk.projects);
	free(walk.leases);
	return admission;
}

void admission_deinit(struct admission *admission)
{
	free(admission->decisions);
}
