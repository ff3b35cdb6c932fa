/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/job_rerun.h"

#include <string.h>
#include <time.h>

#include "daemon/base/memory.h"
#include "daemon/cli/ask.h"
#include "daemon/cli/invocation.h"
#include "daemon/cli/job_create.h"
#include "daemon/main.h"

enum { NAME_KEPT = 80 };

/* Returns the name followed by the time, with letters that both APIs accept in a name. The caller frees. */
static char *name_again(const char *name)
{
	const time_t now = time(NULL);
	struct tm local;
	char stamp[32];

	localtime_r(&now, &local);
	strftime(stamp, sizeof(stamp), "%Y%m%d_%H%M%S", &local);
	return memory_printf("%.*s_%s", NAME_KEPT, name, stamp);
}

static void program_change(json_t *container, const char *image, const json_t *args)
{
	if (image)
		json_object_set_new(container, "imageUri", json_string(image));
	if (args)
		json_object_set(container, "args", (json_t *)args);
}

/* Changes the containers of all worker pools in a Vertex AI job. */
static void vertex_change(json_t *spec, const char *image, const json_t *args)
{
	json_t *pool;
	size_t index;

	json_array_foreach(json_object_get(spec, "workerPoolSpecs"), index, pool) {
		json_t *container = json_object_get(pool, "containerSpec");

		if (container)
			program_change(container, image, args);
	}
}

/* Changes an AI Platform job: each pool has its own image, while the arguments are shared by all replicas. */
static void ml_change(json_t *input, const char *image, const json_t *args)
{
	static const char *const pools[] = { "masterConfig", "workerConfig", "parameterServerConfig",
					     "evaluatorConfig" };

	for (size_t i = 0; image && i < sizeof(pools) / sizeof(pools[0]); i++)
		if (json_object_get(input, pools[i]))
			program_change(json_object_get(input, pools[i]), image, NULL);
	if (args)
		json_object_set(input, "args", (json_t *)args);
}

/* Makes the request for a new job from an old job. Fields that the service has added stay, because it ignores them. */
static void body_change(const struct invocation *invocation, json_t *body, bool ml)
{
	const char *image = invocation_value(invocation, "image"),
		   *name = invocation_value(invocation, "name");
	const char *member = ml ? "jobId" : "displayName", *old = json_text_at(body, member);
	AUTO(string) char *again = name_again(old ? old : "job");
	AUTO(json) json_t *args = invocation->command ? json_array() : NULL;

	for (const char *const *word = invocation->command; word && *word; word++)
		json_array_append_new(args, json_string(*word));
	json_object_del(body, "etag");
	json_object_set_new(body, member, json_string(name ? name : again));
	ml_change(json_object_get(body, "trainingInput"), image, args);
	vertex_change(json_object_get(body, "jobSpec"), image, args);
	vertex_change(json_object_get(body, "trialJobSpec"), image, args);
	vertex_change(json_object_get(body, "trainingTaskInputs"), image, args);
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
