/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/job_run.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/memory.h"
#include "daemon/cli/ask.h"
#include "daemon/cli/image_build.h"
#include "daemon/cli/invocation.h"
#include "daemon/cli/job_create.h"
#include "daemon/cli/package.h"
#include "daemon/main.h"

const char *const run_apis[] = { "vertex", "ml", NULL };

/* RUNTIME_IMAGE is the name that deploy/runtime/build gives the image; the versions are those of AI Platform Training's
 * newest runtime. */
#define RUNTIME_IMAGE   "trainyard-runtime"
#define RUNTIME_VERSION "2.11"
#define PYTHON_VERSION  "3.7"

/* The options of the command line, for both APIs. */
struct run {
	const struct invocation *invocation;
	char *name;
	char *image; /* NULL: the runtime version's image */
	const char *machine, *output;
	const char *directory;      /* directory with a Dockerfile to build the image from; NULL: the image exists */
	const char *package;        /* folder of a Python package to run; NULL: the image's own program runs */
	char *package_uri, *module; /* set once the package is uploaded */
	char *gpu_type;             /* NULL: none */
	int64_t gpu_count, worker_count, ps_count;
	json_t *args, *environment;
	bool ml;
};

static void run_deinit(struct run *run)
{
	free(run->name);
	free(run->image);
	free(run->package_uri);
	free(run->module);
	free(run->gpu_type);
	json_decref(run->args);
	json_decref(run->environment);
}

/* Reads the type and the number of GPUs: "T4", "T4:2", "NVIDIA_TESLA_T4:1", or "2", which means two T4s. */
static enum status gpu_read(struct run *run, struct error *err)
{
	/* Source: https://cloud.google.com/vertex-ai/docs/training/configure-compute (read 2026-11-22) */
	static const struct {
		const char *model, *type, *machine;
	} models[] = { { "T4", "NVIDIA_TESLA_T4", "n1-standard-8" },
		       { "V100", "NVIDIA_TESLA_V100", "n1-standard-8" },
		       { "P100", "NVIDIA_TESLA_P100", "n1-standard-8" },
		       { "P4", "NVIDIA_TESLA_P4", "n1-standard-8" },
		       { "K80", "NVIDIA_TESLA_K80", "n1-standard-8" },
		       { "L4", "NVIDIA_L4", "g2-standard-12" },
		       { "A100", "NVIDIA_TESLA_A100", "a2-highgpu-1g" } };
	const char *given = invocation_value(run->invocation, "gpu");
	const char *colon = given ? strchr(given, ':') : NULL;
	const size_t length = colon ? (size_t)(colon - given) : given ? strlen(given) : 0;
	const bool number = given && isdigit((unsigned char)*given);
	const char *count = number ? given : colon ? colon + 1 : "1";
	char *end;

	if (!given)
		return STATUS_OK;
	run->gpu_count = strtoll(count, &end, 10);
	if (*end || run->gpu_count < 1 || !length)
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
				 "--gpu: \"%s\" is not TYPE:COUNT, as T4:1", given);
	run->gpu_type = number ? memory_strdup("T4") : memory_strndup(given, length);
	for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++)
		if (strcasecmp(models[i].model, run->gpu_type) == 0) {
			free(run->gpu_type);
			run->gpu_type = memory_strdup(models[i].type);
			run->machine = run->machine ? run->machine : models[i].machine;
		}
	return STATUS_OK;
}

static enum status environment_read(struct run *run, struct error *err)
{
	const char *given;

	for (size_t at = 0; (given = invocation_next(run->invocation, "env", &at)) != NULL;) {
		const char *equals = strchr(given, '=');
		AUTO(string)
		char *name = memory_strndup(given, equals ? (size_t)(equals - given) : strlen(given));
		const char *value = equals ? equals + 1 : getenv(name);

		if (!*name || !value)
			return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
					 "--env: \"%s\" is neither NAME=VALUE nor a variable that is set",
					 given);
		json_array_append_new(run->environment,
				      json_pack("{s:s, s:s}", "name", name, "value", value));
	}
	if (run->ml && json_array_size(run->environment))
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
				 "--env: jobs of AI Platform Training take none; leave out --api ml");
	return STATUS_OK;
}

/* Returns a job name from the last part of the image's name and the time, with letters that both APIs accept. The caller
 * frees. */
static char *image_name(const char *image)
{
	const char *last = strrchr(image, '/') ? strrchr(image, '/') + 1 : image;
	AUTO(string) char *stem = memory_printf("run_%.*s", (int)strcspn(last, ":@"), last);

	name_restrict(stem);
	return name_draw(stem);
}

/* Makes an image name from the directory's name, with letters that image names may have. */
static enum status tag_draw(const char *directory, char **ret_tag, struct error *err)
{
	AUTO(string) char *path = realpath(directory, NULL);
	const char *last = path ? strrchr(path, '/') + 1 : "";
	char *tag = memory_strdup(*last ? last : "image");

	if (!path) {
		free(tag);
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "--image-build: %s: %s", directory,
				 strerror(errno));
	}
	for (char *c = tag; *c; c++)
		*c = isalnum((unsigned char)*c) ? (char)tolower((unsigned char)*c) : '-';
	*ret_tag = memory_printf("%s:latest", tag + strspn(tag, "-"));
	free(tag);
	return STATUS_OK;
}

/* Finds the image to run, and the directory to build it from or the package to run in it. */
static enum status source_read(struct run *run, struct error *err)
{
	const char *image = run->invocation->words[0];

	run->package = invocation_value(run->invocation, "package");
	run->directory = invocation_value(run->invocation, "image-build");
	if (run->package && run->directory)
		return error_set(
			err, STATUS_INVALID_ARGUMENT, NULL,
			"--package and --image-build cannot be combined: an image that is built contains "
			"its program");
	if (!run->package && invocation_value(run->invocation, "module"))
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "--module needs --package DIR");
	if (image)
		run->image = memory_strdup(image);
	else if (run->directory)
		return tag_draw(run->directory, &run->image, err);
	else if (!run->package)
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
				 "which image? run IMAGE, or --package DIR or --image-build DIR");
	else if (!run->ml)
		run->image = memory_strdup(RUNTIME_IMAGE);
	return STATUS_OK;
}

static enum status run_read(struct run *run, struct error *err)
{
	const struct invocation *invocation = run->invocation;
	const char *name = invocation_value(invocation, "name"), *api = invocation_value(invocation, "api");
	enum status rc;

	run->machine = invocation_value(invocation, "machine");
	run->output = invocation_value(invocation, "gs");
	run->ml = api && strcmp(api, "ml") == 0;
	run->args = json_array();
	run->environment = json_array();
	for (const char *const *word = invocation->command; word && *word; word++)
		json_array_append_new(run->args, json_string(*word));
	rc = source_read(run, err);
	if (rc)
		return rc;
	run->name = name ? memory_strdup(name) : image_name(run->package ? run->package : run->image);
	rc = invocation_number(invocation, "workers", 0, &run->worker_count, err);
	if (!rc)
		rc = invocation_number(invocation, "ps", 0, &run->ps_count, err);
	if (!rc)
		rc = gpu_read(run, err);
	if (!run->machine)
		run->machine = "n1-standard-4";
	return rc ? rc : environment_read(run, err);
}

/* ---- the requests of both APIs ---- */

static json_t *vertex_pool(const struct run *run, int64_t count, bool gpus)
{
	json_t *machine = json_pack("{s:s}", "machineType", run->machine);
	json_t *program = json_pack("{s:s, s:O, s:O}", run->package ? "executorImageUri" : "imageUri",
				    run->image, "args", run->args, "env", run->environment);

	if (run->package) {
		json_object_set_new(program, "packageUris", json_pack("[s]", run->package_uri));
		json_object_set_new(program, "pythonModule", json_string(run->module));
	}

	if (gpus && run->gpu_type) {
		json_object_set_new(machine, "acceleratorType", json_string(run->gpu_type));
		json_object_set_new(machine, "acceleratorCount", json_integer(run->gpu_count));
	}
	return json_pack("{s:o, s:o, s:o}", "machineSpec", machine, "replicaCount",
			 json_sprintf("%lld", (long long)count),
			 run->package ? "pythonPackageSpec" : "containerSpec", program);
}

/* Makes the request of Vertex AI. The position of a pool tells its role, so parameter servers without workers need an
 * empty pool in the position of the workers. */
static json_t *vertex_body(const struct run *run)
{
	json_t *pools = json_array(), *spec = json_pack("{s:o}", "workerPoolSpecs", pools);

	json_array_append_new(pools, vertex_pool(run, 1, true));
	if (run->worker_count)
		json_array_append_new(pools, vertex_pool(run, run->worker_count, true));
	else if (run->ps_count)
		json_array_append_new(pools, json_object());
	if (run->ps_count)
		json_array_append_new(pools, vertex_pool(run, run->ps_count, false));
	if (run->output)
		json_object_set_new(spec, "baseOutputDirectory",
				    json_pack("{s:s}", "outputUriPrefix", run->output));
	return json_pack("{s:s, s:o}", "displayName", run->name, "jobSpec", spec);
}

static void ml_pool(const struct run *run, json_t *input, const char *role, int64_t count, bool gpus)
{
	json_t *config = run->image ? json_pack("{s:s}", "imageUri", run->image) : json_object();
	AUTO(string) char *type = memory_printf("%sType", role);
	AUTO(string) char *config_name = memory_printf("%sConfig", role);
	AUTO(string) char *count_name = memory_printf("%sCount", role);

	if (gpus && run->gpu_type)
		json_object_set_new(config, "acceleratorConfig",
				    json_pack("{s:s, s:o}", "type", run->gpu_type, "count",
					      json_sprintf("%lld", (long long)run->gpu_count)));
	json_object_set_new(input, type, json_string(run->machine));
	json_object_set_new(input, config_name, config);
	if (strcmp(role, "master") != 0)
		json_object_set_new(input, count_name, json_sprintf("%lld", (long long)count));
}

static json_t *ml_body(const struct run *run)
{
	json_t *input = json_pack("{s:s, s:s, s:O}", "region", submit_region(run->invocation), "scaleTier",
				  "CUSTOM", "args", run->args);

	ml_pool(run, input, "master", 1, true);
	if (run->worker_count)
		ml_pool(run, input, "worker", run->worker_count, true);
	if (run->ps_count)
		ml_pool(run, input, "parameterServer", run->ps_count, false);
	if (run->package) {
		json_object_set_new(input, "packageUris", json_pack("[s]", run->package_uri));
		json_object_set_new(input, "pythonModule", json_string(run->module));
	}
	if (!run->image) {
		json_object_set_new(input, "runtimeVersion", json_string(RUNTIME_VERSION));
		json_object_set_new(input, "pythonVersion", json_string(PYTHON_VERSION));
	}
	if (run->output)
		json_object_set_new(input, "jobDir", json_string(run->output));
	return json_pack("{s:s, s:o}", "jobId", run->name, "trainingInput", input);
}

/* ---- preparations ---- */

/* Builds the image, in the engine of the daemon's node main: /healthz has that engine's id. Other nodes copy it from
 * there. */
static enum status image_make(const struct run *run, struct client *client, struct error *err)
{
	static const char *const none[] = { NULL };
	struct config config AUTO_CONFIG = { 0 };
	enum status rc = config_read(&config, CONFIG_CLEAN, none, err);

	AUTO(json) json_t *health = NULL;

	if (!rc)
		rc = client_call(client, "GET", "/healthz", NULL, &health, err);
	return rc ? rc
		  : image_build(config.engine, json_text_at(json_object_get(health, "engine"), "id"),
				run->directory, run->image, err);
}

/* Uploads the package. Returns EXIT_GOOD; EXIT_USAGE: the package on this machine is wrong; EXIT_UNREACHED or
 * EXIT_NOT_STARTED. */
static int package_make(struct run *run, const char *project)
{
	struct error err AUTO_ERROR = { 0 };
	AUTO(client) struct client *storage = NULL;
	enum status rc;
	int exit_code = ask_storage_open(run->invocation, &storage);

	if (exit_code)
		return exit_code == EXIT_FAILED ? EXIT_NOT_STARTED : exit_code;
	rc = package_stage(storage,
			   &(struct package_options){ .directory = run->package,
						      .module = invocation_value(run->invocation, "module"),
						      .output = run->output,
						      .project = project,
						      .job = run->name },
			   &run->package_uri, &run->module, &err);
	if (rc == STATUS_INVALID_ARGUMENT)
		return main_usage_error("run ", &err);
	if (rc)
		return ask_failure(storage, &err) == EXIT_UNREACHED ? EXIT_UNREACHED : EXIT_NOT_STARTED;
	return EXIT_GOOD;
}

/* Makes what the job needs first: builds the image, or uploads the package. Returns an exit code as package_make(). */
static int source_make(struct run *run, struct client *client, const char *project)
{
	struct error err AUTO_ERROR = { 0 };
	enum status rc;

	if (run->package && !run->directory)
		return package_make(run, project);
	rc = run->directory ? image_make(run, client, &err) : STATUS_OK;
	if (!rc)
		return EXIT_GOOD;
	if (rc == STATUS_INVALID_ARGUMENT)
		return main_usage_error("run ", &err);
	if (client_is_unreached(client))
		return ask_failure(client, &err);
	fprintf(stderr, "trainyard: %s\n", err.text);
	return EXIT_NOT_STARTED;
}

int run_main(struct invocation *invocation)
{
	__attribute__((cleanup(run_deinit))) struct run run = { .invocation = invocation };
	struct error err AUTO_ERROR = { 0 };
	AUTO(client) struct client *client = NULL;
	AUTO(json) json_t *body = NULL;
	AUTO(string) char *project = NULL;
	AUTO(json) json_t *job = NULL;
	int exit_code;

	if (run_read(&run, &err))
		return main_usage_error("run ", &err);
	exit_code = ask_open(invocation, &client);
	if (exit_code)
		return exit_code;
	project = submit_project(invocation);
	exit_code = source_make(&run, client, project);
	if (exit_code)
		return exit_code;
	body = run.ml ? ml_body(&run) : vertex_body(&run);
	exit_code = job_submit(client,
			       &(struct submission){ .collection = run.ml ? "jobs" : "customJobs",
						     .project = project,
						     .region = submit_region(invocation),
						     .body = body },
			       &job);
	return exit_code ? exit_code : job_attend(invocation, client, job);
}
