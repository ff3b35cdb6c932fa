/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/clean.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/clock.h"
#include "daemon/base/instance_lock.h"
#include "daemon/base/memory.h"
#include "daemon/base/text.h"
#include "daemon/base/tree.h"
#include "daemon/cli/invocation.h"
#include "daemon/config.h"
#include "daemon/gcs/gcs_endpoint.h"
#include "daemon/gcs/gcs_orphans.h"
#include "daemon/main.h"
#include "daemon/nodes.h"
#include "daemon/swarm_nodes.h"
#include "scheduler/engine/engine.h"
#include "store/state_dir.h"

DEFINE_AUTO(directory, DIR *, closedir)

struct clean {
	const struct config *config;
	const char *wanted; /* name of the instance given on the command line; NULL: clean the instance of the state
	                     * directory */
	bool lists, only_looks, forced;
	bool quiet; /* prints only problems */
	char instance[STATE_INSTANCE_SIZE];
	char *state_dir; /* absolute path of the instance's state directory; NULL: it is unknown, or does not exist */
	int lock, presence;
	size_t count; /* number of things printed */
};

static void clean_deinit(struct clean *clean)
{
	free(clean->state_dir);
	if (clean->presence >= 0)
		close(clean->presence);
	if (clean->lock >= 0)
		close(clean->lock);
}

#define AUTO_CLEAN __attribute__((cleanup(clean_deinit)))

/* ---- the command line ---- */

static enum status options_read(const struct invocation *invocation, struct clean *clean, struct error *err)
{
	clean->wanted = invocation_value(invocation, "instance");
	clean->lists = invocation_flag(invocation, "list");
	clean->only_looks = invocation_flag(invocation, "dry-run");
	clean->forced = invocation_flag(invocation, "force");
	if (clean->wanted && !instance_valid(clean->wanted))
		return error_set(
			err, STATUS_INVALID_ARGUMENT, NULL,
			"--instance: \"%s\" is not a name of lowercase letters and digits, as --list prints them",
			clean->wanted);
	if (clean->lists && (clean->wanted || clean->only_looks))
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "--list cannot be combined with --%s",
				 clean->wanted ? "instance" : "dry-run");
	return STATUS_OK;
}

/* ---- messages ---- */

/* Prints a name that the engine reported. Control characters are replaced, so that they do not reach a terminal. */
static void plain_print(FILE *file, const char *name)
{
	AUTO(string) char *plain = memory_strdup(name);

	text_make_harmless(plain);
	fputs(plain, file);
}

static void thing_report(struct clean *clean, const char *kind, const char *name, const char *job_id,
			 const char *problem)
{
	FILE *file = problem ? stderr : stdout;

	clean->count++;
	if (clean->quiet && !problem)
		return;
	fprintf(file, "%s %s ",
		problem             ? "trainyard: cannot remove"
		: clean->only_looks ? "would remove"
				    : "removed",
		kind);
	plain_print(file, name);
	if (*job_id) {
		fputs(" of job ", file);
		plain_print(file, job_id);
	}
	if (problem) {
		fputs(": ", file);
		plain_print(file, problem);
	}
	putc('\n', file);
	fflush(file);
}

static void orphan_report(void *arg, const struct orphan *item, const char *problem)
{
	thing_report(arg, orphan_kind_names[item->kind], item->name, item->job_id, problem);
}

static void thing_removed_report(void *arg, const char *kind, const char *name, const char *problem)
{
	thing_report(arg, kind, name, "", problem);
}

/* ---- engines ---- */

typedef enum status engine_visit(struct clean *clean, const struct engine_kind *engine, const char *url,
				 struct error *err);

/* Visits the engine of each node, the first one last, because a network of a swarm cannot be removed while containers of
 * other nodes are in it. Goes on after an engine that does not answer. The first failure is the result. */
static enum status engines_visit(struct clean *clean, engine_visit *visit, struct error *err)
{
	const struct config *config = clean->config;
	enum status first = STATUS_OK;

	for (size_t left = config->nodes.count + 1; left > 0; left--) {
		const size_t i = left - 1;
		const char *url = i ? node_rule_url(config->nodes.values[i - 1]) : config->engine;
		const struct engine_kind *engine = engine_kind_of(url);
		struct error cause AUTO_ERROR = { 0 };
		enum status rc = engine->reach(url, &cause);

		if (!rc)
			rc = visit(clean, engine, url, &cause);
		if (rc && !first)
			first = error_move(err, &cause);
	}
	return first;
}

/* ---- --list ---- */

static void age_print(int64_t since_s)
{
	static const struct {
		int64_t seconds;
		const char *name;
	} units[] = { { 86400, "day" }, { 3600, "hour" }, { 60, "minute" }, { 1, "second" } };
	int64_t age_s = clock_wall_us(&system_clock) / 1000000 - since_s;
	size_t i = 0;

	if (!since_s || age_s < 0)
		return;
	while (age_s < units[i].seconds && units[i].seconds > 1)
		i++;
	age_s /= units[i].seconds;
	printf("  oldest %" PRId64 " %s%s", age_s, units[i].name, age_s == 1 ? "" : "s");
}

static void instance_print(const struct orphan_count *count)
{
	printf("%s  %zu container%s (%zu running)  %zu network%s  %zu volume%s", count->instance,
	       count->containers, count->containers == 1 ? "" : "s", count->running, count->networks,
	       count->networks == 1 ? "" : "s", count->volumes, count->volumes == 1 ? "" : "s");
	age_print(count->oldest_s);
	printf("  %s\n", instance_lock_seen(count->instance) ? "its daemon runs" : "no daemon here");
}

static enum status engine_list(struct clean *clean, const struct engine_kind *engine, const char *url,
			       struct error *err)
{
	struct orphans list AUTO_ORPHANS = { 0 };
	const enum status rc = engine->list(url, NULL, &list, err);

	if (!rc && list.count && clean->config->nodes.count)
		printf("at %s:\n", url);
	for (size_t at = 0; !rc && at < list.count;) {
		struct orphan_count count;

		at = orphans_count(&list, at, &count);
		instance_print(&count);
	}
	return rc;
}

static int list_main(struct clean *clean)
{
	struct error err AUTO_ERROR = { 0 };

	if (engines_visit(clean, engine_list, &err))
		return main_failure(&err);
	return fflush(stdout) == 0 ? EXIT_GOOD : EXIT_FAILED;
}

/* ---- the instance ---- */

/* Finds the instance: the one that the command line names, else that of the state directory; the directory is used only
 * if it belongs to that instance. *ret_any false: neither an instance nor a directory was found. */
static enum status instance_find(struct clean *clean, bool *ret_any, struct error *err)
{
	/* Resolve symbolic links once: they could be changed while this command runs. */
	AUTO(string) char *real = realpath(clean->config->state_dir, NULL);
	char kept[STATE_INSTANCE_SIZE] = "";
	enum status rc = state_dir_instance(real ? real : clean->config->state_dir, kept, err);

	*ret_any = clean->wanted || !rc;
	if (rc && !clean->wanted)
		return rc == STATUS_NOT_FOUND ? STATUS_OK : rc;
	if (!rc && (!clean->wanted || strcmp(clean->wanted, kept) == 0)) {
		if (!real)
			return error_set(err, STATUS_UNAVAILABLE, NULL, "cannot find %s",
					 clean->config->state_dir);
		clean->state_dir = TAKE(real);
	}
	snprintf(clean->instance, sizeof(clean->instance), "%s", clean->wanted ? clean->wanted : kept);
	if (instance_valid(clean->instance))
		return STATUS_OK;
	return error_set(err, STATUS_FAILED_PRECONDITION, NULL,
			 "%s has no instance's name in it, because no daemon has used it",
			 clean->config->state_dir);
}

/* Takes the locks of the state directory and the instance: while they are held, no daemon of the instance can start. */
static enum status instance_hold(struct clean *clean, struct error *err)
{
	enum status rc = clean->state_dir ? state_dir_lock(clean->state_dir, &clean->lock, err) : STATUS_OK;

	if (!rc)
		rc = instance_lock_take(clean->instance, clean->forced ? INSTANCE_BESIDE_ALL : INSTANCE_ALONE,
					&clean->presence, err);
	return rc;
}

/* ---- cleaning ---- */

static enum status engine_look(struct clean *clean, const struct engine_kind *engine, const char *url,
			       struct error *err)
{
	struct orphans list AUTO_ORPHANS = { 0 };
	enum status rc = engine->list(url, clean->instance, &list, err);

	for (size_t i = 0; !rc && i < list.count; i++)
		orphan_report(clean, &list.items[i], NULL);
	return rc;
}

static enum status engine_sweep(struct clean *clean, const struct engine_kind *engine, const char *url,
				struct error *err)
{
	return engine->sweep(url, clean->instance, &(struct sweep_report){ orphan_report, clean }, err);
}

/* Removes the files by which other programs find the daemon, because no daemon runs now. */
static void signposts_clean(struct clean *clean)
{
	static const char *const names[] = { "address", GCS_SOCKET, GCS_RULES };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct text path AUTO_TEXT = { 0 };

		text_printf(&path, "%s/%s", clean->state_dir, names[i]);
		if ((clean->only_looks ? access(path.data, F_OK) : unlink(path.data)) == 0)
			thing_removed_report(clean, "file", path.data, NULL);
	}
	if (!clean->only_looks)
		state_dir_sweep(clean->state_dir);
}

static bool trial_clean(struct clean *clean, const char *place, const char *name)
{
	struct text path AUTO_TEXT = { 0 };
	const char *problem = NULL;

	text_printf(&path, "%s/%s", place, name);
	if (!clean->only_looks && !tree_remove(path.data, SIZE_MAX))
		problem = strerror(errno);
	thing_removed_report(clean, "directory", path.data, problem);
	return !problem;
}

/* Removes the trials' directories. The daemon removes them itself, except for files that a container's program created as
 * root. */
static bool trials_clean(struct clean *clean)
{
	AUTO(string) char *place = memory_printf("%s/trials", clean->state_dir);
	AUTO(directory) DIR *listing = opendir(place);
	const struct dirent *entry;
	bool is_clean = true;

	if (!listing && errno == ENOENT)
		return true;
	while (listing && (errno = 0, entry = readdir(listing)) != NULL)
		if (entry->d_name[0] != '.')
			is_clean = trial_clean(clean, place, entry->d_name) && is_clean;
	if (errno == 0)
		return is_clean;
	thing_removed_report(clean, "directory", place, strerror(errno));
	return false;
}

static enum status state_clean(struct clean *clean, struct error *err)
{
	const bool is_clean = trials_clean(clean);

	if (!gcs_orphans_clear(clean->state_dir, clean->only_looks,
			       &(struct gcs_orphans_report){ thing_removed_report, clean }) ||
	    !is_clean)
		return error_set(err, STATUS_FAILED_PRECONDITION, NULL,
				 "not everything of %s could be removed, as the lines above say",
				 clean->state_dir);
	signposts_clean(clean);
	return STATUS_OK;
}

static enum status instance_clean(struct clean *clean, struct error *err)
{
	enum status rc = engines_visit(clean, clean->only_looks ? engine_look : engine_sweep, err);

	if (!rc && clean->state_dir)
		rc = state_clean(clean, err);
	if (rc || clean->count)
		return rc;
	if (!clean->state_dir)
		return error_set(
			err, STATUS_NOT_FOUND, NULL,
			"no instance %s: the engine has nothing of it, and %s is not its state directory; "
			"trainyard clean --list names those that the engine has something of",
			clean->instance, clean->config->state_dir);
	if (!clean->quiet)
		printf("nothing is left of instance %s\n", clean->instance);
	return STATUS_OK;
}

static struct clean clean_of(const struct config *config)
{
	return (struct clean){ .config = config, .lock = -1, .presence = -1 };
}

int clean_main(struct invocation *invocation)
{
	struct clean clean AUTO_CLEAN = clean_of(&invocation->config);
	struct error err AUTO_ERROR = { 0 };
	bool any = false;

	if (options_read(invocation, &clean, &err))
		return main_usage_error("clean ", &err);
	if (swarm_nodes_add(&invocation->config, &err))
		return main_failure(&err);
	if (clean.lists)
		return list_main(&clean);
	if (instance_find(&clean, &any, &err))
		return main_failure(&err);
	if (!any) {
		printf("nothing is left: no daemon has used %s\n", clean.config->state_dir);
		return EXIT_GOOD;
	}
	if (instance_hold(&clean, &err) || instance_clean(&clean, &err))
		return main_failure(&err);
	return fflush(stdout) == 0 ? EXIT_GOOD : EXIT_FAILED;
}

/* Removes the files of this machine even if the engine does not answer, because a mount that stays in the state
 * directory would keep it from being removed. An engine that does not answer is no failure for an instance that never
 * had a job: it has no mount and nothing in the engine. */
static enum status quiet_clean(struct clean *clean, struct error *err)
{
	const bool had_jobs = state_dir_had_jobs(clean->config->state_dir);
	bool any = false;
	enum status rc = instance_find(clean, &any, err), state_rc = STATUS_OK;

	if (!rc && any)
		rc = instance_hold(clean, err);
	if (rc || !any)
		return rc;
	rc = engines_visit(clean, engine_sweep, err);
	if (rc == STATUS_UNAVAILABLE && !had_jobs)
		rc = STATUS_OK;
	if (clean->state_dir && had_jobs)
		state_rc = state_clean(clean, rc ? NULL : err);
	else if (clean->state_dir)
		signposts_clean(clean);
	return rc ? rc : state_rc;
}

int clean_quietly(const struct config *config, bool removes_state)
{
	struct clean clean AUTO_CLEAN = clean_of(config);
	struct error err AUTO_ERROR = { 0 };
	int exit_code = EXIT_GOOD;

	clean.quiet = true;
	if (quiet_clean(&clean, &err)) {
		exit_code = main_failure(&err);
		if (*clean.instance)
			fprintf(stderr, "trainyard: trainyard clean --instance %s removes what is left\n",
				clean.instance);
	}
	if (!removes_state || tree_remove(config->state_dir, SIZE_MAX))
		return exit_code;
	error_set(&err, STATUS_FAILED_PRECONDITION, NULL, "%s cannot be removed: %s", config->state_dir,
		  strerror(errno));
	return main_failure(&err);
}
