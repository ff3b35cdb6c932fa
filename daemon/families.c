/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/families.h"

#include <stdio.h>

#include "api/console/console.h"
#include "api/message/refusal.h"
#include "daemon/base/clock.h"
#include "daemon/base/memory.h"
#include "daemon/config.h"
#include "daemon/grpc_endpoint.h"
#include "daemon/nodes.h"
#include "daemon/retention.h"
#include "daemon/shell_terminals.h"
#include "scheduler/scheduler.h"
#include "store/objects/objects.h"
#include "store/store.h"

enum { FAMILIES_OF_STORAGE = 3 };

/* The APIs that have a discovery document. A request that names only a version gets the first API with that version. */
static const struct discovery_entry published[] = {
	{ &ml_api, ml_routes, NULL },
	{ &logging_api, logging_routes, NULL },
	{ &aiplatform_api, aiplatform_routes, NULL },
	{ &aiplatform_beta_api, aiplatform_beta_routes, NULL },
	{ &emulator_api, jobs_routes, fault_routes },
	{ NULL, NULL, NULL },
};
static const struct discovery_entry published_with_storage[] = {
	{ &ml_api, ml_routes, NULL },
	{ &logging_api, logging_routes, NULL },
	{ &aiplatform_api, aiplatform_routes, NULL },
	{ &aiplatform_beta_api, aiplatform_beta_routes, NULL },
	{ &storage_api, storage_routes, NULL },
	{ &emulator_api, jobs_routes, fault_routes },
	{ NULL, NULL, NULL },
};

/* ---- callbacks of contexts ---- */

static json_t *engine_json(const struct node_state *state)
{
	return json_pack("{s:b, s:s, s:s*}", "reachable", state->answers, "detail", state->text, "id",
			 state->id[0] ? state->id : NULL);
}

static bool any_is_ready(struct scheduler *scheduler)
{
	for (size_t i = 0; i < scheduler_node_count(scheduler); i++)
		if (scheduler_node_state(scheduler, i).ready)
			return true;
	return false;
}

/* Adds "engine", which describes the first node's engine, and with several nodes "nodes", which describes all of them. */
static void engines_report(struct scheduler *scheduler, json_t *answer, char **ret_reason)
{
	const size_t count = scheduler_node_count(scheduler);
	AUTO(json) json_t *nodes = json_array();
	struct text away AUTO_TEXT = { 0 };

	for (size_t i = 0; i < count; i++) {
		const struct node_state state = scheduler_node_state(scheduler, i);
		json_t *node = engine_json(&state);

		if (i == 0)
			json_object_set_new(answer, "engine", json_deep_copy(node));
		json_object_set_new(node, "name", json_string(state.name));
		json_array_append_new(nodes, node);
		if (state.answers)
			continue;
		if (count == 1)
			text_printf(&away, "The container engine does not answer, and jobs wait: %s",
				    state.text);
		else
			text_printf(&away,
				    "%sThe container engine of the node %s does not answer: %s.",
				    away.length ? " " : "", state.name, state.text);
	}
	if (count > 1)
		json_object_set(answer, "nodes", nodes);
	if (away.length)
		*ret_reason = text_take(&away);
}

static void health_details(void *arg, json_t *answer, char **ret_reason)
{
	const struct machinery *machinery = arg;

	engines_report(machinery->scheduler, answer, ret_reason);
	json_object_set_new(answer, "instance", json_string(store_instance(machinery->store)));
	if (machinery->retention)
		json_object_set_new(answer, "retention", retention_report(machinery->retention));
	if (machinery->storage_endpoint)
		json_object_set_new(answer, "storage",
				    json_pack("{s:s}", "endpoint", machinery->storage_endpoint));
	if (machinery->grpc)
		json_object_set_new(answer, "grpc", json_pack("{s:i}", "port", front_port(machinery->grpc)));
}

static bool jobs_ready(void *arg)
{
	const struct machinery *machinery = arg;

	return any_is_ready(machinery->scheduler);
}

static void engine_report(void *arg, bool *ret_reachable, bool *ret_ready)
{
	const struct machinery *machinery = arg;

	*ret_reachable = false;
	for (size_t i = 0; !*ret_reachable && i < scheduler_node_count(machinery->scheduler); i++)
		*ret_reachable = scheduler_node_state(machinery->scheduler, i).answers;
	*ret_ready = any_is_ready(machinery->scheduler);
}

static void nodes_each(void *arg, void (*write)(void *to, const char *name, bool reachable), void *to)
{
	const struct machinery *machinery = arg;
	const size_t count = scheduler_node_count(machinery->scheduler);

	for (size_t i = 0; count > 1 && i < count; i++) {
		const struct node_state state = scheduler_node_state(machinery->scheduler, i);

		write(to, state.name, state.answers);
	}
}

static enum status shell_open(void *arg, const struct replica_key *replica, const json_t *command,
			      enum shell_kind kind, struct shell_terminal **ret_terminal, struct error *err)
{
	const struct machinery *machinery = arg;
	struct engine *engine;
	const enum status rc = daemon_nodes_engine(machinery->nodes, machinery->store, replica, &engine, err);

	return rc ? rc : engine_shell_open(engine, replica, command, kind, ret_terminal, err);
}

static enum status rooms_of(void *arg, const char *project, struct rooms *ret_rooms, struct error *err)
{
	const struct machinery *machinery = arg;

	(void)err;
	*ret_rooms = scheduler_rooms(machinery->scheduler, project);
	return STATUS_OK;
}

static enum status inspect_image(void *arg, const char *image, const json_t *command, const json_t *args,
				 bool with_program, struct image_facts *ret_facts, struct error *err)
{
	const struct machinery *machinery = arg;

	return daemon_nodes_inspect_image(machinery->nodes, image, command, args, with_program, ret_facts,
					  err);
}

static char *shell_uri(void *arg, const char *host, int64_t job, enum role role, unsigned index)
{
	return web_shell_uri(store_secret(arg), host, job, role, index);
}

static enum status bucket_use(void *arg, const char *name, struct error *err)
{
	return bucket_ensure(arg, name, err);
}

static bool bucket_missing(void *arg, const char *name)
{
	struct bucket bucket AUTO_BUCKET = { 0 };

	return bucket_name_valid(name) && bucket_get(arg, name, &bucket, NULL) == STATUS_NOT_FOUND;
}

/* ---- contexts ---- */

static struct training_context training_context_of(const struct families_parts *parts)
{
	return (struct training_context){
		.store = parts->store,
		.clock = parts->clock,
		.quota = parts->quota,
		.counter = parts->counter,
		.project_id = parts->config->project,
		.project_number = parts->project_number,
		.rooms = rooms_of,
		.rooms_arg = parts->machinery,
		.main_node = parts->config->nodes.count || parts->config->swarm ? MAIN_NODE : NULL,
		.inspect_image = inspect_image,
		.inspect_arg = parts->machinery,
		.shell_uri = shell_uri,
		.shell_arg = parts->store,
#ifdef HAVE_CONSOLE
		.console_path = CONSOLE_PATH,
#endif
		.bucket_use = parts->objects ? bucket_use : NULL,
		.bucket_missing =
			parts->objects && parts->config->buckets == BUCKETS_AUTO ? bucket_missing : NULL,
		.bucket_arg = parts->objects,
		.trials_dir = parts->trials_dir,
		.objects = parts->objects,
	};
}

static struct ml_context ml_context_of(const struct families_parts *parts)
{
	return (struct ml_context){
		.training = training_context_of(parts),
		.settings = { .lenient = parts->config->validation == VALIDATION_LENIENT,
			      .images = parts->images,
			      .runtimes = parts->runtimes,
			      .tpu_config = parts->config->tpu_config },
	};
}

static struct aiplatform_context aiplatform_context_of(const struct families_parts *parts,
						       const char *version)
{
	return (struct aiplatform_context){
		.training = training_context_of(parts),
		.settings = { .lenient = parts->config->validation == VALIDATION_LENIENT,
			      .images = parts->images,
			      .runtimes = parts->runtimes,
			      .lone_is_workerpool0 =
				      parts->config->single_replica_name == SINGLE_WORKERPOOL0 },
		.version = version,
	};
}

static struct storage_context storage_context_of(const struct families_parts *parts)
{
	return (struct storage_context){
		.objects = parts->objects,
		.store = parts->store,
		.clock = parts->clock,
		.project_id = parts->config->project,
		.project_number = parts->project_number,
		.auto_buckets = parts->config->buckets == BUCKETS_AUTO,
	};
}

static void contexts_fill(struct families *families)
{
	const struct families_parts *parts = &families->parts;

	families->ml = ml_context_of(parts);
	families->aiplatform = aiplatform_context_of(parts, "v1");
	families->aiplatform_beta = aiplatform_context_of(parts, "v1beta1");
	families->logging = (struct logging_context){
		.store = parts->store,
		.clock = parts->clock,
		.project_id = parts->config->project,
		.project_number = parts->project_number,
	};
	families->storage_context = storage_context_of(parts);
	families->identity = (struct identity_context){ parts->store, parts->signing_key, parts->clock };
	families->discovery = (struct discovery){ parts->objects ? published_with_storage : published };
	families->health = (struct health){ PACKAGE_VERSION, parts->config->project, health_details,
					    jobs_ready, parts->machinery };
	families->metrics = (struct metrics){
		.version = PACKAGE_VERSION,
		.store = parts->store,
		.clock = parts->clock,
		.ledger = parts->ledger,
		.engine = engine_report,
		.nodes = nodes_each,
		.arg = parts->machinery,
	};
	families->jobs = (struct jobs_context){ parts->store,  &families->ml.training, &families->web_shell,
						parts->faults, parts->ledger,          parts->state };
	families->web_shell = (struct web_shell_context){
		.store = parts->store,
		.clock = &system_clock,
		.key = store_secret(parts->store),
		.sessions = parts->shell_sessions,
		.open = shell_open,
		.arg = parts->machinery,
	};
}

/* ---- families ---- */

static struct family *family_add(struct family *list, struct family family)
{
	while (list->name)
		list++;
	*list = family;
	return list;
}

static void vertex_add(struct families *families, const char *name, const char *under,
		       const struct route *routes, struct aiplatform_context *context,
		       const struct route *absent)
{
	const struct family family = {
		.name = name,
		.routes = routes,
		.context = context,
		.absent = absent,
		.under = under,
		.error_word = refusal_list,
	};

	family_add(families->served, family);
	family_add(families->by_rpc, family);
}

static struct family *storage_add(struct families *families, const char *name, const struct route *routes)
{
	return family_add(families->served, (struct family){
						    .name = name,
						    .routes = routes,
						    .context = &families->storage_context,
						    .lenient_query = true,
						    .blank_is_absent = true,
						    .fields_refuse = storage_fields_refuse,
						    .error_render = storage_error_render,
						    .error_status = storage_error_status,
					    });
}

static void storage_families_add(struct families *families)
{
	struct family *family = storage_add(families, "storage", storage_routes);

	families->storage = family;
	family->absent = storage_absent;
	/* With STORAGE_EMULATOR_HOST set, @google-cloud/storage leaves "/storage/v1" out of its paths.
	 * Source: its code, version 8.4 (storage.js: baseUrl) */
	family = storage_add(families, "storage-short", storage_routes);
	family->omitted = "/storage/v1";
	family = storage_add(families, "storage-plain", storage_plain_routes);
	family->last_resort = true;
	family->may_have = storage_plain_may_have;
	family->error_render = storage_plain_error_render;
}

void families_fill(struct families *families, const struct families_parts *parts)
{
	const struct family others[] = {
		{ "logging", logging_routes, &families->logging, logging_absent },
#ifdef HAVE_CONSOLE
		{ "console", console_routes, parts->console_sessions, .lenient_query = true },
#endif
		{ "emulator", health_routes, &families->health, NULL },
		{ "metrics", metrics_routes, &families->metrics, NULL },
		{ "jobs", jobs_routes, &families->jobs, NULL },
		{ "discovery", discovery_routes, &families->discovery, NULL },
		{ "ml-emulator", ml_emulator_routes, &families->ml, NULL },
		{ "shell", web_shell_routes, &families->web_shell, NULL },
		{ "identity", identity_routes, &families->identity, .lenient_query = true },
		{ "faults", fault_routes, parts->faults, NULL },
		{ "clock", clock_routes, parts->clock_context, NULL },
	};

	_Static_assert(FAMILIES_OF_VERTEX + 1 + sizeof(others) / sizeof(others[0]) + FAMILIES_OF_STORAGE <=
			       FAMILIES_MAX,
		       "more families than there is room for");
	*families = (struct families){ .parts = *parts };
	contexts_fill(families);
	/* Vertex AI and ml both have methods for "locations". Vertex AI is the first family, because its methods accept
	 * the parameters of both. */
	vertex_add(families, "aiplatform", AIPLATFORM_UNDER("/v1"), aiplatform_routes, &families->aiplatform,
		   aiplatform_absent);
	vertex_add(families, "aiplatform-beta", AIPLATFORM_UNDER("/v1beta1"), aiplatform_beta_routes,
		   &families->aiplatform_beta, aiplatform_beta_absent);
	family_add(families->served, (struct family){ "ml", ml_routes, &families->ml, ml_absent });
	vertex_add(families, "aiplatform-other", NULL, aiplatform_other_routes, &families->aiplatform, NULL);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		family_add(families->served, others[i]);
	family_add(families->by_rpc, others[0]); /* logging */
	if (parts->objects)
		storage_families_add(families);
}
