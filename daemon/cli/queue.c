/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/queue.h"

#include <string.h>

#include "daemon/base/memory.h"
#include "daemon/cli/ask.h"
#include "daemon/cli/invocation.h"
#include "daemon/cli/table.h"
#include "daemon/main.h"

enum { INDENT = 8 };

/* Returns the text for a job: its name, for example "train", or "search trial 3". Of a resource name only the last part. */
static char *job_text(const json_t *job)
{
	const char *name = json_text_at(job, "displayName"), *trial = json_text_at(job, "trial");

	if (!name)
		name = json_text_at(job, "job");
	if (name && strrchr(name, '/'))
		name = strrchr(name, '/') + 1;
	return memory_printf("%s%s%s", name ? name : "", trial ? " trial " : "", trial ? trial : "");
}

static char *count_text(const json_t *job, const char *member)
{
	const int64_t count = json_int_at(job, member, 0);

	return count ? memory_printf("%lld", (long long)count) : NULL;
}

/* Asks the daemon for @path. Returns EXIT_GOOD and the answer, or as ask_failure(). */
static int answer_ask(const struct invocation *invocation, const char *path, struct client **ret_client,
		      json_t **ret_answer)
{
	struct error err AUTO_ERROR = { 0 };
	const int exit_code = ask_open(invocation, ret_client);

	if (exit_code)
		return exit_code;
	if (client_call(*ret_client, "GET", path, NULL, ret_answer, &err))
		return ask_failure(*ret_client, &err);
	return EXIT_GOOD;
}

/* ---- queue ---- */

static const struct table_column queue_columns[] = {
	{ .title = "PLACE", .right = true },
	{ .title = "JOB", .least = 16 },
	{ .title = "WAITS", .right = true },
	{ .title = "PRIORITY", .right = true, .optional = true },
	{ .title = "REPLICAS", .right = true },
	{ .title = "VCPUS", .right = true, .optional = true },
	{ .title = "GPUS", .right = true, .optional = true },
	{ .title = "GIVES UP IN", .right = true, .optional = true },
	{ .title = "REASON", .notes = true },
	{ .title = NULL },
};

static void reason_put(struct table *table, const json_t *job)
{
	const char *reason = json_text_at(job, "reason"), *behind = json_text_at(job, "behind");
	const char *last = behind ? strrchr(behind, '/') : NULL;
	AUTO(string)
	char *reported =
		behind ? memory_printf("behind %s: %s", last ? last + 1 : behind, reason ? reason : "")
		       : memory_strdup(reason);

	if (json_true_at(job, "startsNow"))
		table_put(table, "there is room: it starts at once", STYLE_GOOD);
	else
		table_put(table, reported, STYLE_DIM);
}

static void waiting_put(struct table *table, const json_t *job, int64_t now_us)
{
	AUTO(string) char *place = count_text(job, "place"), *name = job_text(job);
	AUTO(string) char *priority = count_text(job, "priority");
	AUTO(string) char *replicas = count_text(job, "replicaCount");
	AUTO(string) char *vcpus = count_text(job, "vcpuCount"), *gpus = count_text(job, "gpuCount");
	const char *expires = json_text_at(job, "expireTime");
	struct text waits AUTO_TEXT = { 0 }, left AUTO_TEXT = { 0 };

	age_append(&waits, json_text_at(job, "createTime"), now_us);
	if (expires)
		duration_append(&left, time_read(expires, now_us) - now_us);
	table_put(table, place, STYLE_NONE);
	table_put(table, name, STYLE_NONE);
	table_put(table, waits.data, STYLE_NONE);
	table_put(table, priority, STYLE_NONE);
	table_put(table, replicas, STYLE_NONE);
	table_put(table, vcpus, STYLE_NONE);
	table_put(table, gpus, STYLE_NONE);
	table_put(table, left.data, STYLE_NONE);
	reason_put(table, job);
}

/* Appends "3 of 20 jobs"; @most NULL: there is no limit, and only the used number is appended. */
static void share_write(struct text *text, const char *used, const char *most, const char *unit)
{
	text_printf(text, "%s%s%s%s %s", text->length ? ", " : "", used, most ? " of " : "", most ? most : "",
		    unit);
}

/* Appends the used room: "1 of 8 jobs, 2 of 64 containers, 4 of 8 CPUs, 15.0 GiB of 30.0 GiB memory". */
static void room_write(struct text *text, const json_t *room)
{
	const char *node = json_text_at(room, "node");
	struct text reported AUTO_TEXT = { 0 }, bytes AUTO_TEXT = { 0 }, bytes_most AUTO_TEXT = { 0 };
	const double vcpus_most = json_number_value(json_object_get(room, "maxVcpus"));
	AUTO(string) char *jobs = memory_printf("%lld", (long long)json_int_at(room, "jobs", 0));
	AUTO(string) char *containers = memory_printf("%lld", (long long)json_int_at(room, "containers", 0));
	AUTO(string) char *jobs_most = count_text(room, "maxJobs");
	AUTO(string) char *containers_most = count_text(room, "maxContainers");
	AUTO(string)
	char *vcpus = memory_printf("%.4g", json_number_value(json_object_get(room, "vcpus")));
	AUTO(string) char *most = vcpus_most > 0 ? memory_printf("%.4g", vcpus_most) : NULL;

	size_append(&bytes, json_int_at(room, "memoryBytes", 0));
	if (json_int_at(room, "maxMemoryBytes", 0))
		size_append(&bytes_most, json_int_at(room, "maxMemoryBytes", 0));
	share_write(&reported, jobs, jobs_most, "jobs");
	share_write(&reported, containers, containers_most, "containers");
	share_write(&reported, vcpus, most, "vCPUs");
	share_write(&reported, bytes.data, bytes_most.data, "memory");
	if (json_text_at(room, "problem"))
		text_printf(&reported, "; %s", json_text_at(room, "problem"));
	text_printf(text, "%s%s: ", terminal_style(stdout, STYLE_DIM), node ? node : "in use");
	text_wrap(text, reported.data, INDENT);
	text_printf(text, "%s\n", terminal_style(stdout, STYLE_NONE));
}

static const struct table_column prepared_columns[] = {
	{ .title = "PREPARED", .least = 16 },
	{ .title = "SINCE", .right = true },
	{ .title = "IMAGE", .optional = true },
	{ .title = "REASON", .notes = true },
	{ .title = NULL },
};

/* Appends the jobs in preparation, and searches with a trial that waits for its image. */
static void prepared_write(struct text *text, const json_t *listed, int64_t now_us)
{
	struct table table AUTO_TABLE = { .columns = prepared_columns };
	const json_t *job;
	size_t index;

	json_array_foreach(json_object_get(listed, "jobs"), index, job) {
		const json_t *pull = json_object_get(json_object_get(job, "progress"), "imagePull");
		const char *name = json_text_at(job, "displayName"), *state = json_text_at(job, "state");
		struct text since AUTO_TEXT = { 0 }, bar AUTO_TEXT = { 0 };

		if (!pull && (!state || strcmp(state, "PREPARING") != 0))
			continue;
		age_append(&since, json_text_at(job, "startTime"), now_us);
		pull_append(&bar, pull);
		table_put(&table, name ? name : json_text_at(job, "id"), STYLE_NONE);
		table_put(&table, since.data, STYLE_NONE);
		table_put(&table, bar.data, STYLE_BUSY);
		table_put(&table, json_text_at(job, "reason"), STYLE_DIM);
	}
	if (table.cell_count)
		table_write(text, &table, stdout);
}

static void queue_write(struct text *text, const json_t *queue, int64_t now_us)
{
	struct table table AUTO_TABLE = { .columns = queue_columns };
	const json_t *jobs = json_object_get(queue, "jobs"), *room = json_object_get(queue, "room"), *job, *node;
	const int64_t more = json_int_at(queue, "waitingCount", 0) - (int64_t)json_array_size(jobs);
	size_t index;

	if (room)
		room_write(text, room);
	json_array_foreach(json_object_get(queue, "nodes"), index, node)
		room_write(text, node);
	json_array_foreach(jobs, index, job)
		waiting_put(&table, job, now_us);
	if (table.cell_count)
		table_write(text, &table, stdout);
	else
		text_puts(text, "No job waits.\n");
	if (more > 0)
		text_printf(text, "%lld more wait.\n", (long long)more);
}

int queue_main(struct invocation *invocation)
{
	AUTO(client) struct client *client = NULL;
	AUTO(json) json_t *queue = NULL;
	AUTO(json) json_t *started = NULL;
	struct error err AUTO_ERROR = { 0 };
	struct text text AUTO_TEXT = { 0 };
	const json_t *job;
	size_t index;
	const int exit_code = answer_ask(invocation, "/_trainyard/v1/queue", &client, &queue);

	if (exit_code)
		return exit_code;
	if (invocation_prints(invocation, "json"))
		return json_print(queue);
	if (invocation_prints(invocation, "name")) {
		json_array_foreach(json_object_get(queue, "jobs"), index, job)
			text_printf(&text, "%s\n", json_text_at(job, "job"));
		return main_output(&text);
	}
	if (client_call(client, "GET",
			"/_trainyard/v1/jobs?filter=state%3DPREPARING%20OR%20state%3DRUNNING", NULL, &started, &err))
		return ask_failure(client, &err);
	queue_write(&text, queue, ask_now(client));
	prepared_write(&text, started, ask_now(client));
	return main_output(&text);
}

/* ---- gpus ---- */

static const struct table_column gpu_columns[] = {
	{ .title = "GPU", .least = 12 },
	{ .title = "NODE", .optional = true },
	{ .title = "STATE" },
	{ .title = "JOB", .least = 16 },
	{ .title = "REPLICA", .optional = true },
	{ .title = "SINCE", .right = true, .optional = true },
	{ .title = NULL },
};

/* Adds one row for each replica that holds the GPU. */
static void gpu_put(struct table *table, const json_t *gpu, int64_t now_us)
{
	const json_t *holders = json_object_get(gpu, "holders");
	const size_t count = json_array_size(holders);

	for (size_t i = 0; i == 0 || i < count; i++) {
		const json_t *holder = json_array_get(holders, i);
		AUTO(string) char *job = holder ? job_text(holder) : NULL;
		struct text since AUTO_TEXT = { 0 };

		if (holder)
			age_append(&since, json_text_at(holder, "startTime"), now_us);
		table_put(table, json_text_at(gpu, "id"), STYLE_NONE);
		table_put(table, json_text_at(gpu, "node"), STYLE_NONE);
		table_put(table,
			  !holder     ? "free"
			  : count > 1 ? "shared"
				      : "held",
			  holder ? STYLE_BUSY : STYLE_GOOD);
		table_put(table, job, STYLE_NONE);
		table_put(table, json_text_at(holder, "replica"), STYLE_NONE);
		table_put(table, since.data, STYLE_NONE);
	}
}

/* The description of an --accelerator-policy: what happens to jobs that request more GPUs than there are. */
static const char *policy_text(const char *policy)
{
	static const char *const reported[][2] = {
		{ "PRETEND", "Jobs that ask for more GPUs than there are run without any." },
		{ "REQUIRE", "Jobs that ask for more GPUs than there are are refused." },
		{ "WAIT", "Jobs that ask for more GPUs than there are wait." },
		{ "SHARE", "Several replicas share a GPU." },
	};

	for (size_t i = 0; policy && i < sizeof(reported) / sizeof(reported[0]); i++)
		if (strcmp(reported[i][0], policy) == 0)
			return reported[i][1];
	return "The engine does not answer: its GPUs are not known now.";
}

int gpus_main(struct invocation *invocation)
{
	struct table table AUTO_TABLE = { .columns = gpu_columns };
	AUTO(client) struct client *client = NULL;
	AUTO(json) json_t *answer = NULL;
	struct text text AUTO_TEXT = { 0 };
	const json_t *gpu;
	size_t index;
	int64_t now_us;
	const int exit_code = answer_ask(invocation, "/_trainyard/v1/gpus", &client, &answer);

	if (exit_code)
		return exit_code;
	if (invocation_prints(invocation, "json"))
		return json_print(answer);
	now_us = ask_now(client);
	json_array_foreach(json_object_get(answer, "gpus"), index, gpu)
		if (invocation_prints(invocation, "name"))
			text_printf(&text, "%s\n", json_text_at(gpu, "id"));
		else
			gpu_put(&table, gpu, now_us);
	if (invocation_prints(invocation, "name"))
		return main_output(&text);
	if (table.cell_count)
		table_write(&text, &table, stdout);
	else
		text_puts(&text, "There are no GPUs to give away.\n");
	text_puts(&text, terminal_style(stdout, STYLE_DIM));
	text_wrap(&text, policy_text(json_text_at(answer, "policy")), 0);
	text_printf(&text, "%s\n", terminal_style(stdout, STYLE_NONE));
	return main_output(&text);
}
