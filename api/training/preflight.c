/* SPDX-License-Identifier: Apache-2.0 */
#include "api/training/preflight.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "api/training/context.h"
#include "api/training/image_name.h"
#include "daemon/base/memory.h"
#include "scheduler/plan/deviation.h"
#include "scheduler/plan/plan.h"
#include "store/objects/objects.h"

/* Source: https://cloud.google.com/vertex-ai/docs/training/create-custom-container (images are built for linux/amd64) */
static const char cloud_platform[] = "linux/amd64";

static void tell(json_t *deviations, enum deviation_kind kind, const char *code, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
static void tell(json_t *deviations, enum deviation_kind kind, const char *code, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	AUTO(string) char *text = memory_vprintf(format, values);
	va_end(values);
	deviation_add_another(deviations, kind, code, text);
}

static void facts_report(const struct pool *pool, const struct image_facts *facts, json_t *deviations)
{
	if (facts->lacks_program)
		tell(deviations, REFUSED_BY_CLOUD, "program-missing",
		     "The image %.200s has no file %.200s, with which its replicas begin: they would end with "
		     "exit code 127.",
		     pool->image, facts->program);
	if (pool->cloud_image) /* the cloud would run that image, not the inspected one */
		return;
	if (facts->platform[0] && strcmp(facts->platform, cloud_platform) != 0)
		tell(deviations, REFUSED_BY_CLOUD, "image-platform",
		     "The image %.200s is for %s, and the cloud runs images for %s: build it with --platform %s.",
		     pool->image, facts->platform, cloud_platform, cloud_platform);
	if (facts->is_local && image_origin(pool->image) == IMAGE_OF_GOOGLE)
		tell(deviations, IN_DOUBT_IN_CLOUD, "image-unpushed",
		     "The image %.200s was built on this machine: the cloud can pull it only after docker push.",
		     pool->image);
}

static bool runs_the_same(const struct pool *one, const struct pool *other)
{
	return one->count && strcmp(one->image, other->image) == 0 &&
	       (one->command == other->command || json_equal(one->command, other->command)) &&
	       (one->args == other->args || json_equal(one->args, other->args));
}

static void images_look(const struct training_context *context, const struct plan *plan, bool with_program,
			json_t *deviations)
{
	enum status rc = STATUS_OK;

	for (int role = 0; role < ROLE_COUNT && rc != STATUS_UNAVAILABLE; role++) {
		const struct pool *pool = &plan->pools[role];
		struct error unasked AUTO_ERROR = { 0 };
		struct image_facts facts;
		int first = 0;

		if (!pool->count)
			continue;
		while (first < role && !runs_the_same(&plan->pools[first], pool))
			first++;
		if (first < role)
			continue;
		rc = context->inspect_image(context->inspect_arg, pool->image, pool->command, pool->args,
					    with_program && !pool->python_module, &facts, &unasked);
		if (!rc)
			facts_report(pool, &facts, deviations);
	}
}

static void package_look(const struct training_context *context, const char *uri, json_t *deviations)
{
	static const char scheme[] = "gs://";
	const char *slash =
		strncmp(uri, scheme, strlen(scheme)) == 0 ? strchr(uri + strlen(scheme), '/') : NULL;
	struct object object AUTO_OBJECT = { 0 };
	struct error missing AUTO_ERROR = { 0 };

	if (!slash)
		return;
	AUTO(string)
	char *bucket = memory_strndup(uri + strlen(scheme), (size_t)(slash - uri) - strlen(scheme));

	if (object_get(context->objects, bucket, slash + 1, 0, &object, &missing) == STATUS_NOT_FOUND)
		tell(deviations, REFUSED_BY_CLOUD, "package-missing",
		     "The package %.500s is not there: replicas cannot fetch it.", uri);
}

void preflight_report(const struct training_context *context, const struct plan *plan, bool with_program,
		      json_t *deviations)
{
	const json_t *uri;
	size_t index;

	if (context->inspect_image)
		images_look(context, plan, with_program, deviations);
	for (int role = 0; role < ROLE_COUNT && context->objects; role++)
		json_array_foreach(plan->pools[role].count ? plan->pools[role].package_uris : NULL, index,
				   uri)
			package_look(context, json_string_value(uri), deviations);
}
