/* SPDX-License-Identifier: Apache-2.0 */

#include "scheduler/engine/docker.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>

#include "daemon/base/clock.h"
#include "daemon/base/instance_lock.h"
#include "daemon/base/memory.h"
#include "daemon/base/text.h"
#include "scheduler/engine/docker_archive.h"
#include "scheduler/engine/docker_attachment.h"
#include "scheduler/engine/docker_claims.h"
#include "scheduler/engine/docker_core.h"
#include "scheduler/engine/docker_create.h"
#include "scheduler/engine/docker_elsewhere.h"
#include "scheduler/engine/docker_endpoint.h"
#include "scheduler/engine/docker_group.h"
#include "scheduler/engine/docker_image.h"
#include "scheduler/engine/docker_inspection.h"
#include "scheduler/engine/docker_link.h"
#include "scheduler/engine/docker_listing.h"
#include "scheduler/engine/docker_logs.h"
#include "scheduler/engine/docker_network.h"
#include "scheduler/engine/docker_replica.h"
#include "scheduler/engine/docker_reports.h"
#include "scheduler/engine/docker_route.h"
#include "scheduler/engine/docker_terminal.h"
#include "scheduler/engine/docker_throttle.h"
#include "scheduler/engine/docker_tunnel.h"

enum { IDLE_WAIT_MS = 60 * 1000, TERMINAL_PATIENCE_MS = 10 * 1000 };

/* The commands that other threads have queued since the last asked_take(). */
struct asked {
	struct command *commands;
	bool resume;
};

static struct asked asked_take(struct docker *docker)
{
	struct asked asked;

	pthread_mutex_lock(&docker->lock);
	asked = (struct asked){ docker->commands, docker->resume_asked };
	docker->commands = NULL;
	docker->commands_end = &docker->commands;
	docker->closing = docker->close_asked;
	docker->resume_asked = false;
	pthread_mutex_unlock(&docker->lock);
	return asked;
}

static void commands_run(struct docker *docker)
{
	const struct asked asked = asked_take(docker);
	struct command *command = asked.commands;

	while (command) {
		struct command *next = command->next;

		if (!docker->closing)
			command->run(docker, command);
		command_deinit(command);
		free(command);
		command = next;
	}
	if (asked.resume && !docker->closing)
		followers_resume(docker);
}

static int wait_ms(const struct docker *docker)
{
	int64_t left_us;

	if (!docker->timers)
		return IDLE_WAIT_MS;
	left_us = docker->timers->at_us - clock_mono_us(&system_clock);
	if (left_us <= 0)
		return 0;
	return left_us >= IDLE_WAIT_MS * INT64_C(1000) ? IDLE_WAIT_MS : (int)(left_us / 1000) + 1;
}

/* Ends every task: its exchange is failed, or its timer fires early, and the task then frees itself. */
static void tasks_end(struct docker *docker)
{
	const bool was_up = link_is_up(docker);

	link_end(docker);
	link_signals_forget(docker);
	tunnels_close(docker);
	followers_close(docker);
	images_close(docker);
	while (timers_fire(docker) || http_fail_all(docker->http))
		;
	commands_run(docker);
	if (was_up)
		elsewhere_leave(docker);
}

static void *thread_main(void *arg)
{
	struct docker *docker = arg;

	pthread_setname_np(pthread_self(), "engine");
	link_begin(docker);
	for (;;) {
		commands_run(docker);
		if (docker->closing)
			break;
		timers_fire(docker);
		http_move(docker->http);
		http_wait(docker->http, wait_ms(docker)); /* http_move() may have set timers, so the time to wait is
							   * calculated after it */
	}
	tasks_end(docker);
	return NULL;
}

static struct docker *of(struct engine *engine)
{
	return (struct docker *)engine;
}

static void op_ensure_image(struct engine *engine, const char *image)
{
	docker_post(of(engine), &(struct command){ .run = image_ensure_run, .image = memory_strdup(image) });
}

static void op_create_network(struct engine *engine, int64_t job, unsigned address_count)
{
	docker_post(of(engine),
		    &(struct command){ .run = network_create_run, .job = job, .number = address_count });
}

static void op_look_for_networks(struct engine *engine, unsigned address_count)
{
	docker_post(of(engine), &(struct command){ .run = network_look_run, .number = address_count });
}

static void op_claim_devices(struct engine *engine, const json_t *devices, unsigned number)
{
	docker_post(of(engine), &(struct command){ .run = claims_order_run,
						   .body = json_deep_copy(devices),
						   .number = number });
}

static void op_remove_network(struct engine *engine, int64_t job)
{
	docker_post(of(engine), &(struct command){ .run = network_remove_run, .job = job });
}

static enum status op_carry_network(struct engine *engine, int64_t job, const struct connection_sink *sink,
				    struct error *err)
{
	return docker_carry_network(of(engine), job, sink, err);
}

static void op_create_replica(struct engine *engine, const struct replica_spec *spec)
{
	docker_post(of(engine),
		    &(struct command){ .run = replica_create_run,
				       .key = spec->key,
				       .body = docker_container_body(of(engine)->instance, spec) });
}

static void op_start_replica(struct engine *engine, const struct replica_key *key)
{
	docker_post(of(engine), &(struct command){ .run = replica_start_run, .key = *key });
}

static void op_stop_replica(struct engine *engine, const struct replica_key *key, unsigned grace_s)
{
	docker_post(of(engine), &(struct command){ .run = replica_stop_run, .key = *key, .number = grace_s });
}

static void op_remove_replica(struct engine *engine, const struct replica_key *key)
{
	docker_post(of(engine), &(struct command){ .run = replica_remove_run, .key = *key });
}

static void op_link_replica(struct engine *engine, const struct replica_key *key,
			    const struct replica_link *link)
{
	docker_post(of(engine),
		    &(struct command){ .run = attachment_run,
				       .key = *key,
				       .image = memory_strdup(link->network),
				       .body = attachment_body(of(engine)->instance, link, key) });
}

static void op_throttle_replica(struct engine *engine, const struct replica_key *key, unsigned bytes_per_s)
{
	docker_post(of(engine), &(struct command){ .run = throttle_run, .key = *key, .number = bytes_per_s });
}

static void op_follow_logs(struct engine *engine, const struct replica_key *key,
			   const struct log_position *from)
{
	docker_post(of(engine), &(struct command){ .run = follower_begin_run, .key = *key, .from = *from });
}

static void op_resume_logs(struct engine *engine)
{
	struct docker *docker = of(engine);

	pthread_mutex_lock(&docker->lock);
	docker->resume_asked = true;
	pthread_mutex_unlock(&docker->lock);
	http_wakeup(docker->http);
}

/* Copies the API version that the engine and this daemon agreed on. UNAVAILABLE: the engine has not answered yet. */
static enum status version_find(struct docker *docker, char version[sizeof(docker->spoken_version)],
				struct error *err)
{
	pthread_mutex_lock(&docker->lock);
	memcpy(version, docker->spoken_version, sizeof(docker->spoken_version));
	pthread_mutex_unlock(&docker->lock);
	return version[0] ? STATUS_OK
			  : error_set(err, STATUS_UNAVAILABLE, NULL, "the engine has not answered yet");
}

static enum status op_put_files(struct engine *engine, const struct replica_key *key,
				const struct engine_file *files, size_t count, struct error *err)
{
	struct docker *docker = of(engine);
	char container[DOCKER_NAME_SIZE], version[sizeof(docker->spoken_version)];
	enum status rc = version_find(docker, version, err);

	docker_container_name(docker->instance, key, container);
	return rc ? rc
		  : docker_put_files(&(struct archive_target){ docker->endpoint, version, container }, files,
				     count, err);
}

static enum status op_get_files(struct engine *engine, const struct replica_key *key, const char *path,
				size_t bytes_max, const struct file_sink *sink, struct error *err)
{
	struct docker *docker = of(engine);
	char container[DOCKER_NAME_SIZE], version[sizeof(docker->spoken_version)];
	enum status rc = version_find(docker, version, err);

	docker_container_name(docker->instance, key, container);
	return rc ? rc
		  : docker_get_files(&(struct archive_target){ docker->endpoint, version, container }, path,
				     bytes_max, sink, err);
}

static enum status op_inspect_image(struct engine *engine, const char *image, const json_t *command,
				    const json_t *args, bool with_program, struct image_facts *ret_facts,
				    struct error *err)
{
	struct docker *docker = of(engine);
	char version[sizeof(docker->spoken_version)];
	enum status rc = version_find(docker, version, err);

	return rc ? rc
		  : docker_inspect_image(&(struct inspection){ .endpoint = docker->endpoint,
							       .api_version = version,
							       .instance = docker->instance,
							       .image = image,
							       .command = command,
							       .args = args,
							       .with_program = with_program },
					 ret_facts, err);
}

static enum status op_open_terminal(struct engine *engine, const struct replica_key *key,
				    const json_t *command, enum terminal_kind kind,
				    struct terminal **ret_terminal, struct error *err)
{
	struct docker *docker = of(engine);
	char container[DOCKER_NAME_SIZE], version[sizeof(docker->spoken_version)];

	enum status rc = version_find(docker, version, err);

	if (rc)
		return rc;
	docker_container_name(docker->instance, key, container);
	return docker_terminal_open(&(struct terminal_target){ .endpoint = docker->endpoint,
							       .api_version = version,
							       .container = container,
							       .patience_ms = TERMINAL_PATIENCE_MS },
				    command, kind, ret_terminal, err);
}

static void list_run(struct docker *docker, struct command *command)
{
	(void)command;
	if (link_is_up(docker)) /* while the link is down, no listing is needed: each new connection begins with one */
		listing_ask(docker);
}

/* Without a dialer, the engine is reached directly, and the way to its machine counts as always open. */
static struct engine_way op_way(struct engine *engine)
{
	const struct endpoint_dialer *dialer = &endpoint_address(of(engine)->endpoint)->dialer;
	const int64_t now_us = clock_mono_us(&system_clock);
	int64_t closed_us = 0, open_us = now_us;

	if (dialer->way)
		dialer->way(dialer->arg, &closed_us, &open_us);
	return (struct engine_way){ closed_us ? now_us - closed_us : INT64_MAX,
				    open_us ? now_us - open_us : INT64_MAX };
}

static void op_list(struct engine *engine)
{
	docker_post(of(engine), &(struct command){ .run = list_run });
}

static void docker_free(struct docker *docker)
{
	reports_close(docker);
	claims_free(docker->claims);
	json_decref(docker->made);
	http_free(docker->http);
	pthread_mutex_destroy(&docker->lock);
	text_deinit(&docker->link.line);
	free(docker->notes);
	host_deinit(&docker->link.host);
	free(docker->instance);
	free(docker->place);
	free(docker->docker_config);
	endpoint_close(docker->endpoint);
	free(docker->state_dir);
	free(docker->reports_dir);
	free(docker->node);
	free(docker);
}

DEFINE_AUTO(docker, struct docker *, docker_free)

static void op_close(struct engine *engine)
{
	struct docker *docker = of(engine);

	group_leave(docker);
	pthread_mutex_lock(&docker->lock);
	docker->close_asked = true;
	pthread_mutex_unlock(&docker->lock);
	http_wakeup(docker->http);
	pthread_join(docker->thread, NULL);
	docker_free(docker);
}

static const struct engine_ops docker_ops = {
	.ensure_image = op_ensure_image,
	.create_network = op_create_network,
	.look_for_networks = op_look_for_networks,
	.claim_devices = op_claim_devices,
	.remove_network = op_remove_network,
	.carry_network = op_carry_network,
	.create_replica = op_create_replica,
	.start_replica = op_start_replica,
	.stop_replica = op_stop_replica,
	.remove_replica = op_remove_replica,
	.link_replica = op_link_replica,
	.throttle_replica = op_throttle_replica,
	.follow_logs = op_follow_logs,
	.resume_logs = op_resume_logs,
	.open_terminal = op_open_terminal,
	.put_files = op_put_files,
	.get_files = op_get_files,
	.inspect_image = op_inspect_image,
	.way = op_way,
	.list = op_list,
	.close = op_close,
};

static enum status options_check(const struct engine_options *options, struct subnet *ret_pool,
				 struct error *err)
{
	const char *instance = options->instance;

	if (!instance_valid(instance))
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
				 "instance %s: a name has 1 to 32 lowercase letters and digits", instance);
	if (!subnet_parse(options->networks, ret_pool) || ret_pool->bits > 26 || ret_pool->bits < 8)
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
				 "networks %s: give an IPv4 block between /8 and /26, such as 10.213.0.0/16",
				 options->networks);
	return STATUS_OK;
}

/* The limit of open log streams: one for each container, but at most half of this process's descriptors, because
 * calls to the engine and clients need some, too. */
static unsigned followers_most(void)
{
	struct rlimit descriptors;

	if (getrlimit(RLIMIT_NOFILE, &descriptors) || descriptors.rlim_cur / 2 > INT_MAX)
		return INT_MAX;
	return (unsigned)(descriptors.rlim_cur / 2);
}

/* Starts the engine's thread with all signals blocked: other threads of the daemon handle them. */
static int thread_start(struct docker *docker)
{
	sigset_t all, before;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&docker->thread, NULL, thread_main, docker);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}

enum status docker_open(const struct engine_options *options, const struct engine_sink *sink,
			struct engine **ret_engine, struct error *err)
{
	struct subnet pool = { 0 };
	enum status rc = options_check(options, &pool, err);
	int problem;

	if (rc)
		return rc;
	AUTO(docker) struct docker *docker = memory_calloc(1, sizeof(*docker));
	pthread_mutex_init(&docker->lock, NULL);
	docker->engine.ops = &docker_ops;
	docker->sink = *sink;
	docker->pool = pool;
	docker->offline = options->offline;
	docker->uses_swarm = options->swarm;
	docker->internal = options->internal;
	docker->makes = options->makes;
	memcpy(docker->carried_ports, options->carried_ports, sizeof(docker->carried_ports));
	docker->commands_end = &docker->commands;
	docker->instance = memory_strdup(options->instance);
	docker->place = elsewhere_place();
	docker->docker_config = memory_strdup(options->registry_config);
	docker->state_dir = memory_strdup(options->state_dir);
	docker->reports_dir = memory_strdup(options->reports_dir);
	docker->group = options->group;
	docker->node = memory_strdup(options->node);
	rc = route_endpoint_open(options->url, &docker->endpoint, err);
	if (!rc)
		rc = http_new(docker->endpoint, &docker->http, err);
	if (rc)
		return rc;
	http_set_limit(docker->http, LANE_START, 2 * (unsigned)get_nprocs());
	http_set_limit(docker->http, LANE_FOLLOW, followers_most());
	problem = thread_start(docker);
	if (problem)
		return error_set(err, STATUS_INTERNAL, NULL, "engine thread: %s", strerrordesc_np(problem));
	group_join(docker);
	*ret_engine = &TAKE(docker)->engine;
	return STATUS_OK;
}
