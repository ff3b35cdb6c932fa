/* SPDX-License-Identifier: Apache-2.0 */
#include "api/emulator/fault_method.h"

#include <string.h>

#include "api/http/router.h"
#include "api/training/quota.h"
#include "daemon/base/json.h"
#include "daemon/base/nearest.h"
#include "scheduler/faults/fault.h"

#define COUNT_OF(ARRAY) (sizeof(ARRAY) / sizeof((ARRAY)[0]))

/* The prefix of the paths of the emulator's own calls, in any family. */
static const char own[] = "/_trainyard/";

/* The families with calls that a fault may be about, and the beginnings of their methods' names. */
static const struct {
	const char *family, *api;
} apis[] = {
	{ "ml", "ml" },
	{ "aiplatform", "aiplatform" },
	{ "aiplatform-beta", "aiplatform" },
	{ "aiplatform-other", "aiplatform" },
	{ "logging", "logging" },
	{ "storage", "storage" },
	{ "storage-short", "storage" },
	{ "storage-plain", "storage" },
};

/* Rows that are in no discovery document, by how their paths begin; the first that fits counts. "" is any method. */
static const struct {
	const char *path, *http_method, *name;
} unpublished[] = {
	{ "/upload/", "", "objects.insert" },
	{ "/resumable/", "", "objects.insert" },
	{ "/download/", "", "objects.get" },
	{ "/storage/v1/b/{bucket}/o", "POST", "objects.insert" },
	{ "/{bucket}/{object", "GET", "objects.get" },
	{ "/{bucket}/{object", "DELETE", "objects.delete" },
	{ "/{bucket}/{object", "", "objects.insert" },
	{ "/{bucket}", "HEAD", "buckets.get" },
	{ "/{bucket}", "", "objects.list" },
	{ "/batch", "", "batch" },
};

/* Choice: the error is about the quota of CPUs, because every job needs CPUs. */
static const char too_many_cpus[] = QUOTA_METRICS_SENTENCE QUOTA_TRAINING_METRIC "cpus";

static const struct creation creating[] = {
	{ "ml.projects.jobs.create", NULL },
	{ "aiplatform.projects.locations.customJobs.create", too_many_cpus },
	{ "aiplatform.projects.locations.hyperparameterTuningJobs.create", too_many_cpus },
	{ "aiplatform.projects.locations.trainingPipelines.create", too_many_cpus },
};

const struct creation *creation_of(const char *method)
{
	for (size_t i = 0; i < COUNT_OF(creating); i++)
		if (strcmp(creating[i].method, method) == 0)
			return &creating[i];
	return NULL;
}

static const char *unpublished_name(const struct route *route)
{
	for (size_t i = 0; i < COUNT_OF(unpublished); i++)
		if (strncmp(route->path, unpublished[i].path, strlen(unpublished[i].path)) == 0 &&
		    (!*unpublished[i].http_method || strcmp(route->method, unpublished[i].http_method) == 0))
			return unpublished[i].name;
	return NULL;
}

static const char *api_of(const struct family *family)
{
	for (size_t i = 0; i < COUNT_OF(apis); i++)
		if (strcmp(apis[i].family, family->name) == 0)
			return apis[i].api;
	return NULL;
}

void fault_method_write(struct text *text, const struct family *family, const struct route *route)
{
	const char *name = route->doc ? route->doc->id : unpublished_name(route);
	const char *api = api_of(family);

	if (!api || strncmp(route->path, own, strlen(own)) == 0)
		return;
	text_printf(text, "%s.", api);
	if (name)
		text_puts(text, name);
	else
		route_name_write(text, route);
}

/* Whether a family before @family answers the row's calls. */
static bool is_answered_before(const struct family *families, const struct family *family,
			       const struct route *row)
{
	for (const struct family *before = families; before < family; before++)
		for (const struct route *route = before->routes; route->method; route++)
			if (strcmp(route->path, row->path) == 0 && strcmp(route->method, row->method) == 0)
				return true;
	return false;
}

/* What a rule requires of a method: a name that matches the pattern; that it creates jobs; that its calls have a
 * project. */
struct wanted {
	const char *pattern;
	bool creates, names_project;
};

/* Whether the calls have a project. Those of storage and logging have neither a project nor a job. */
static bool is_of_project(const char *name)
{
	return strncmp(name, "ml.", strlen("ml.")) == 0 ||
	       strncmp(name, "aiplatform.", strlen("aiplatform.")) == 0;
}

static bool row_fits(const struct family *families, const struct family *family, const struct route *row,
		     const struct wanted *wanted)
{
	struct text name AUTO_TEXT = { 0 };

	fault_method_write(&name, family, row);
	return name.length && fault_glob_fits(wanted->pattern, name.data) &&
	       (!wanted->creates || creation_of(name.data)) &&
	       (!wanted->names_project || is_of_project(name.data)) &&
	       !is_answered_before(families, family, row);
}

static bool some_row_fits(const struct family *families, const struct wanted *wanted)
{
	for (const struct family *family = families; family->name; family++)
		for (const struct route *route = family->routes; route->method; route++)
			if (row_fits(families, family, route, wanted))
				return true;
	return false;
}

static enum status method_refuse(const struct family *families, const struct wanted *wanted,
				 struct error *err)
{
	struct nearest nearest = { .wanted = wanted->pattern };
	struct text names[2] = { { 0 }, { 0 } }; /* the most similar so far, and the current one */
	char hint[NEAREST_HINT_SIZE];

	for (const struct family *family = families; family->name; family++)
		for (const struct route *route = family->routes; route->method; route++) {
			text_clear(&names[1]);
			fault_method_write(&names[1], family, route);
			if (!names[1].length || (wanted->creates && !creation_of(names[1].data)))
				continue;
			nearest_look(&nearest, names[1].data);
			if (nearest.found != names[1].data)
				continue;
			text_clear(&names[0]);
			text_puts(&names[0], nearest.found);
			nearest.found = names[0].data;
		}
	nearest_hint(&nearest, "", hint);
	text_deinit(&names[0]);
	text_deinit(&names[1]);
	return error_add(err, STATUS_INVALID_ARGUMENT, "method",
			 wanted->creates ? "trainyard has no method that creates jobs with the name \"%s\"%s"
					 : "trainyard has no method with the name \"%s\"%s",
			 wanted->pattern, *hint ? hint : ".");
}

enum status fault_method_check(const struct family *families, const json_t *canonical, struct error *err)
{
	const char *fault = json_text_at(canonical, "fault");
	struct wanted wanted = { .pattern = json_text_at(canonical, "method"),
				 .creates = fault && strcmp(fault, fault_kind_name(FAULT_QUOTA)) == 0 };

	if (!wanted.pattern)
		return STATUS_OK;
	if (!some_row_fits(families, &wanted))
		return method_refuse(families, &wanted, err);
	wanted.names_project = json_text_at(canonical, "project") || json_text_at(canonical, "job");
	if (!some_row_fits(families, &wanted))
		return error_add(err, STATUS_INVALID_ARGUMENT, "method",
				 "Calls of \"%s\" belong to no project and no job: leave out both members.",
				 wanted.pattern);
	return STATUS_OK;
}
