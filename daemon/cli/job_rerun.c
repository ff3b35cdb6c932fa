/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/job_rerun.h"

#include <ctype.h>
#include <string.h>

#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "daemon/base/text.h"
#include "daemon/cli/ask.h"
#include "daemon/cli/invocation.h"
#include "daemon/cli/job_create.h"
#include "daemon/main.h"

/* Returns the member with this name. In trainingTaskInputs of a pipeline it may also be spelled with underscores, as
 * Google's library for Python writes it. */
static json_t *member_find(const json_t *object, const char *name)
{
	struct text underscored AUTO_TEXT = { 0 };
	json_t *found = json_object_get(object, name);

	if (found)
		return found;
	for (; *name; name++)
		if (isupper((unsigned char)*name))
			text_printf(&underscored, "_%c", tolower((unsigned char)*name));
		else
			text_putc(&underscored, *name);
	return json_object_get(object, underscored.data);
}

static void member_set(json_t *object, const char *name, const char *underscored, const char *value)
{
	json_object_del(object, underscored);
	json_object_set_new(object, name, json_string(value));
}

/* Changes the programs of all worker pools in a Vertex AI job. */
static void vertex_change(const json_t *spec, const char *image, const json_t *args)
{
	json_t *pool;
	size_t index;

	json_array_foreach(member_find(spec, "workerPoolSpecs"), index, pool) {
		json_t *container = member_find(pool, "containerSpec"), *package = member_find(pool, "pythonPackageSpec");

		if (container && image)
			member_set(container, "imageUri", "image_uri", image);
		if (package && image)
			member_set(package, "executorImageUri", "executor_image_uri", image);
		if (args && (container || package))
			json_object_set(container ? container : package, "args", (json_t *)args);
	}
}

/* Changes an AI Platform job: each pool may have its own image, while the arguments are shared by all replicas. */
static void ml_change(json_t *input, const char *image, const json_t *args)
{
	static const char *const pools[] = { "masterConfig", "workerConfig", "parameterServerConfig",
					     "evaluatorConfig" };

	if (input && image && !json_object_get(input, pools[0]))
		json_object_set_new(input, pools[0], json_object());
	for (size_t i = 0; image && i < sizeof(pools) / sizeof(pools[0]); i++)
		if (json_object_get(input, pools[i]))
			json_object_set_new(json_object_get(input, pools[i]), "imageUri", json_string(image));
	if (args)
		json_object_set(input, "args", (json_t *)args);
}

/* Makes the request for a new job from an old job. Fields that the service has added stay, because it ignores them. */
static void body_change(const struct invocation *invocation, json_t *body, bool ml)
{
	const char *image = invocation_value(invocation, "image"),
		   *name = invocation_value(invocation, "name");
	const char *member = ml ? "jobId" : "displayName", *old = json_text_at(body, member);
	const json_t *inputs = json_object_get(body, "trainingTaskInputs");
	AUTO(string) char *again = name_draw(old ? old : "job");
	AUTO(json) json_t *args = invocation->command ? json_array() : NULL;

	for (const char *const *word = invocation->command; word && *word; word++)
		json_array_append_new(args, json_string(*word));
	json_object_del(body, "etag");
	json_object_set_new(body, member, json_string(name ? name : again));
	ml_change(json_object_get(body, "trainingInput"), image, args);
	vertex_change(json_object_get(body, "jobSpec"), image, args);
	vertex_change(json_object_get(body, "trialJobSpec"), image, args);
	vertex_change(inputs, image, args);
	vertex_change(member_find(inputs, "trialJobSpec"), image, args);
}

int rerun_main(struct invocation *invocation)
{
	struct error err AUTO_ERROR = { 0 };
	AUTO(client) struct client *client = NULL;
	AUTO(json) json_t *earlier = NULL;
	AUTO(json) json_t *body = NULL;
	AUTO(json) json_t *job = NULL;
	struct text path AUTO_TEXT = { 0 };
	const char *family;
	int exit_code = ask_open(invocation, &client);

	if (!exit_code)
		exit_code = ask_job(invocation, client, invocation->words[0], &earlier);
	if (exit_code)
		return exit_code;
	text_printf(&path, "/v1/%s", json_text_at(earlier, "name"));
	if (client_call(client, "GET", path.data, NULL, &body, &err))
		return ask_failure(client, &err);
	family = json_text_at(earlier, "family");
	body_change(invocation, body, family && strcmp(family, "jobs") == 0);
	exit_code = job_submit(client,
			       &(struct submission){ .collection = family ? family : "",
						     .project = json_text_at(earlier, "project"),
						     .region = json_text_at(earlier, "location"),
						     .body = body },
			       &job);
	return exit_code ? exit_code : job_attend(invocation, client, job);
}
