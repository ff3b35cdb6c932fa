/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/swarm_up.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/clock.h"
#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "daemon/cli/invocation.h"
#include "daemon/main.h"
#include "daemon/nodes.h"
#include "scheduler/engine/docker_endpoint.h"
#include "scheduler/engine/docker_http.h"
#include "scheduler/engine/docker_reach.h"
#include "scheduler/engine/kernel_esp.h"
#include "scheduler/engine/swarm.h"
#include "scheduler/engine/swarm_agents.h"
#include "scheduler/engine/swarm_image.h"
#include "scheduler/engine/swarm_service.h"
#include "store/keys/authority.h"

enum { LOOK_MS = 200, VISITORS_MAX = 16, NOTICE_US = 5000000 };
#define SECOND_US INT64_C(1000000)

struct up {
	const struct invocation *invocation;
	const char *url; /* the manager's */
	struct endpoint *endpoint;
	struct http *http;
	struct swarm swarm;
	struct swarm_agents before, now; /* the agents of this image at the beginning of the wait, and now */
	struct swarm_image made;
	char image[SWARM_IMAGE_ID_SIZE];
	int64_t until_us;
};

static void up_deinit(struct up *up)
{
	swarm_deinit(&up->swarm);
	swarm_agents_deinit(&up->before);
	swarm_agents_deinit(&up->now);
	swarm_image_deinit(&up->made);
	http_free(up->http);
	endpoint_close(up->endpoint);
}

#define AUTO_UP __attribute__((cleanup(up_deinit)))

/* ---- the image ---- */

static enum status image_give_to(const char *url, const struct swarm_image *image, struct error *err)
{
	AUTO(endpoint) struct endpoint *endpoint = NULL;
	AUTO(http) struct http *http = NULL;
	char id[SWARM_IMAGE_ID_SIZE];
	enum status rc = docker_connect(url, &endpoint, &http, err);

	return rc ? rc : swarm_image_give(http, image, id, err);
}

/* Sends the image to the nodes through the agents that run now, before new agents replace them. */
static enum status image_give_to_agents(struct up *up, struct error *err)
{
	struct swarm_agents agents AUTO_AGENTS = { 0 };
	AUTO(string) char *runs = NULL;
	enum status rc = swarm_service_image(up->http, &runs, NULL);

	if (rc || (runs && strcmp(runs, up->image) == 0))
		return rc == STATUS_NOT_FOUND ? STATUS_OK : rc;
	rc = swarm_agents_ask(up->http, NULL, &agents, err);
	for (size_t i = 0; !rc && i < up->swarm.count; i++) {
		const struct swarm_node *node = &up->swarm.nodes[i];
		const struct swarm_agent *agent = swarm_agent_of(&agents, node->id);
		AUTO(string) char *url = memory_printf("swarm:%s:%s", node->id, up->url);

		if (node->state == HOST_DOWN || !agent || agent->state != AGENT_RUNS)
			continue;
		rc = image_give_to(url, &up->made, err);
		if (rc)
			error_wrap(err, "node %s", node->name);
	}
	return rc;
}

static enum status image_hand_on(struct up *up, struct error *err)
{
	const struct config_list *nodes = &up->invocation->config.nodes;
	const char *named = invocation_value(up->invocation, "image");
	enum status rc;

	if (named) {
		snprintf(up->image, sizeof(up->image), "%s", named);
		return strlen(named) < sizeof(up->image)
			       ? STATUS_OK
			       : error_set(err, STATUS_INVALID_ARGUMENT, NULL, "--image: the name is too long");
	}
	rc = swarm_image_make(&up->made, err);
	if (!rc)
		rc = swarm_image_give(up->http, &up->made, up->image, err);
	for (size_t i = 0; !rc && i < nodes->count; i++) {
		rc = image_give_to(node_rule_url(nodes->values[i]), &up->made, err);
		if (rc)
			error_wrap(err, "--node %s", nodes->values[i]);
	}
	return rc ? rc : image_give_to_agents(up, err);
}

/* ---- the agents ---- */

static void keys_write(const struct text *key, const struct text *certificate, const struct text *trusted,
		       struct text *ret_keys)
{
	AUTO(json)
	json_t *keys = json_pack("{ss ss ss}", "key", key->data, "certificate", certificate->data, "trusted",
				 trusted->data);

	json_write(ret_keys, keys);
}

static const char *socket_of(const struct up *up)
{
	const char *socket = invocation_value(up->invocation, "socket");

	return socket ? socket : "/var/run/docker.sock";
}

static enum status agents_make(struct up *up, struct error *err)
{
	const int64_t now_s = clock_wall_us(&system_clock) / SECOND_US;
	struct text keys[2] = { { 0 } }, certificates[2] = { { 0 } }, both[2] = { { 0 } };
	struct swarm_making making = { .image = up->image,
				       .socket = socket_of(up),
				       .is_encrypted = !invocation_flag(up->invocation, "unencrypted") };
	enum status rc = STATUS_OK;

	for (size_t i = 0; !rc && i < 2; i++)
		rc = certificate_self_signed(i ? "trainyard daemon" : "trainyard agent", now_s, &keys[i],
					     &certificates[i], err);
	for (size_t i = 0; !rc && i < 2; i++)
		keys_write(&keys[i], &certificates[i], &certificates[!i], &both[i]);
	making.agent_keys = both[0].data;
	making.daemon_keys = both[1].data;
	if (!rc)
		rc = swarm_service_make(up->http, &making, err);
	for (size_t i = 0; i < 2; i++) {
		text_deinit(&keys[i]);
		text_deinit(&certificates[i]);
		text_deinit(&both[i]);
	}
	return rc;
}

/* Returns true if the node's agent runs, or failed after the wait began. Engines keep some failed tasks, so a failure
 * that @before has already is ignored. */
static bool is_settled(const struct up *up, const struct swarm_node *node)
{
	const struct swarm_agent *agent = swarm_agent_of(&up->now, node->id);
	const struct swarm_agent *before = swarm_agent_of(&up->before, node->id);

	if (node->state == HOST_DOWN)
		return true;
	if (!agent || agent->state == AGENT_RUNS || agent->state == AGENT_STARTS || agent->state == AGENT_NONE)
		return agent && agent->state == AGENT_RUNS;
	return !before || strcmp(agent->failed, before->failed) != 0;
}

static enum status agents_await(struct up *up, struct error *err)
{
	const struct swarm_version version = { up->image, socket_of(up) };
	enum status rc = swarm_agents_ask(up->http, &version, &up->before, err);

	while (!rc) {
		size_t settled = 0;

		swarm_agents_deinit(&up->now);
		rc = swarm_agents_ask(up->http, &version, &up->now, err);
		for (size_t i = 0; !rc && i < up->swarm.count; i++)
			settled += is_settled(up, &up->swarm.nodes[i]);
		if (rc || settled == up->swarm.count || clock_mono_us(&system_clock) > up->until_us)
			break;
		poll(NULL, 0, LOOK_MS);
	}
	return rc;
}

/* ---- results ---- */

static void failure_print(const struct up *up, const struct swarm_node *node, const struct swarm_agent *agent)
{
	const char *problem = agent && agent->problem[0] ? agent->problem : "it has not started in time";

	fprintf(stderr, "trainyard: the node %s has no agent: %s\n", node->name, problem);
	if (!strcasestr(problem, "no such image") || !up->made.name[0])
		return;
	fprintf(stderr,
		"  Give it the image; the agent starts by itself then. Either `docker save %s | ssh %s docker load`,\n"
		"  or name the node's engine: `trainyard swarm up --node %s=ssh://USER@%s`.\n",
		up->made.name, node->name, node->name, node->name);
}

/* Asks the node's engine through the agent, again and again until it answers, but not after up->until_us. An agent that
 * has just started does not listen at once, and the network reaches it a little later still. */
static enum status agent_reach(const struct up *up, const char *url, struct error *err)
{
	for (;;) {
		struct error why AUTO_ERROR = { 0 };
		enum status rc = docker_reach(url, &why);

		if (!rc)
			return STATUS_OK;
		if (clock_mono_us(&system_clock) > up->until_us)
			return error_set(err, rc, NULL, "%s", main_words(&why));
		poll(NULL, 0, LOOK_MS);
	}
}

#define WHAT_HAS_TO_PASS                                                                                     \
	"  Between nodes, UDP port 4789 has to pass, and without --unencrypted ESP (IP protocol 50), which each "   \
	"kernel has to have.\n"

/* A node that is asked through its agent. */
struct visit {
	const struct swarm_node *node;
	bool is_asked; /* its agent runs */
	atomic_bool is_over;
	bool is_reached; /* set before is_over, as @err is */
	struct error err;
};

struct visits {
	const struct up *up;
	struct visit *items; /* one for each node of the swarm */
	atomic_size_t next;
};

/* Asks the next nodes that no other thread asks. */
static void *visitor_main(void *arg)
{
	struct visits *visits = arg;
	const struct up *up = visits->up;

	for (size_t at; (at = atomic_fetch_add(&visits->next, 1)) < up->swarm.count;) {
		struct visit *visit = &visits->items[at];
		AUTO(string) char *url = memory_printf("swarm:%s:%s", visit->node->id, up->url);

		visit->is_reached = visit->is_asked && agent_reach(up, url, &visit->err) == STATUS_OK;
		atomic_store(&visit->is_over, true);
	}
	return NULL;
}

/* Waits for all visits. After some seconds, names the nodes that do not answer yet: the wait may be long, and succeeds
 * if the user lets the packets through meanwhile. */
static void visits_await(const struct visits *visits)
{
	const struct up *up = visits->up;
	const int64_t notice_us = clock_mono_us(&system_clock) + NOTICE_US;
	bool is_reported = false;

	for (;;) {
		const int64_t now_us = clock_mono_us(&system_clock);
		size_t over = 0;

		for (size_t i = 0; i < up->swarm.count; i++) {
			const bool is_over = atomic_load(&visits->items[i].is_over);

			over += is_over;
			if (!is_over && !is_reported && now_us > notice_us)
				fprintf(stderr,
					"trainyard: the agent of the node %s runs, but does not answer yet; waiting "
					"for %lld s at most\n" WHAT_HAS_TO_PASS,
					visits->items[i].node->name,
					now_us < up->until_us ? (long long)((up->until_us - now_us) / SECOND_US) : 0);
		}
		is_reported = is_reported || now_us > notice_us;
		if (over == up->swarm.count)
			return;
		poll(NULL, 0, LOOK_MS);
	}
}

/* Asks all nodes with an agent side by side, and waits for the answers. */
static void visits_make(struct visits *visits)
{
	pthread_t threads[VISITORS_MAX];
	size_t count = 0;

	while (count < VISITORS_MAX && count < visits->up->swarm.count &&
	       pthread_create(&threads[count], NULL, visitor_main, visits) == 0)
		count++;
	if (!count)
		visitor_main(visits);
	visits_await(visits);
	while (count)
		pthread_join(threads[--count], NULL);
}

/* Returns true if the node's engine answers through the agent, or is not expected to. */
static bool visit_print(const struct up *up, const struct visit *visit)
{
	const struct swarm_node *node = visit->node;

	if (node->state == HOST_DOWN)
		fprintf(stderr, "trainyard: the node %s is down; its agent starts when it is back\n", node->name);
	else if (!visit->is_asked)
		failure_print(up, node, swarm_agent_of(&up->now, node->id));
	else if (!visit->is_reached)
		fprintf(stderr, "trainyard: the agent of the node %s runs, but is not reached: %s\n" WHAT_HAS_TO_PASS,
			node->name, main_words(&visit->err));
	return node->state == HOST_DOWN || visit->is_reached;
}

static int result_print(const struct up *up)
{
	struct visits visits = { .up = up,
				 .items = memory_calloc(up->swarm.count + 1, sizeof(*visits.items)) };
	size_t reached = 0;

	for (size_t i = 0; i < up->swarm.count; i++) {
		const struct swarm_node *node = &up->swarm.nodes[i];
		const struct swarm_agent *agent = swarm_agent_of(&up->now, node->id);

		visits.items[i].node = node;
		visits.items[i].is_asked = node->state != HOST_DOWN && agent && agent->state == AGENT_RUNS;
	}
	visits_make(&visits);
	for (size_t i = 0; i < up->swarm.count; i++) {
		reached += visit_print(up, &visits.items[i]);
		error_deinit(&visits.items[i].err);
	}
	free(visits.items);
	printf("%zu of %zu nodes have an agent that answers.\n", reached, up->swarm.count);
	return reached == up->swarm.count ? EXIT_GOOD : EXIT_FAILED;
}

/* Checks that this machine's kernel can encrypt networks, if the manager is this machine. For a manager on another
 * machine nothing is checked, because the kernel there cannot be asked. */
static enum status encryption_check(const struct up *up, struct error *err)
{
	enum status rc;

	if (invocation_flag(up->invocation, "unencrypted") ||
	    endpoint_address(up->endpoint)->kind != ENDPOINT_UNIX)
		return STATUS_OK;
	rc = kernel_esp_check(err);
	return rc == STATUS_FAILED_PRECONDITION ? rc : STATUS_OK;
}

int swarm_up(struct invocation *invocation)
{
	struct up up AUTO_UP = { .invocation = invocation, .url = invocation->config.engine };
	struct error err AUTO_ERROR = { 0 };
	int64_t limit_us = 60 * SECOND_US;

	if (invocation_duration(invocation, "timeout", &limit_us, &err))
		return main_usage_error("swarm ", &err);
	up.until_us = clock_mono_us(&system_clock) + limit_us;
	if (docker_connect(up.url, &up.endpoint, &up.http, &err) || swarm_ask(up.http, &up.swarm, &err) ||
	    encryption_check(&up, &err) || image_hand_on(&up, &err) || agents_make(&up, &err) ||
	    agents_await(&up, &err))
		return main_failure(&err);
	return result_print(&up);
}

/* ---- swarm down ---- */

static enum status images_remove(const char *url, size_t *removed, struct error *err)
{
	AUTO(endpoint) struct endpoint *endpoint = NULL;
	AUTO(http) struct http *http = NULL;
	enum status rc = docker_connect(url, &endpoint, &http, err);

	return rc ? rc : swarm_images_remove(http, removed, err);
}

int swarm_down(struct invocation *invocation)
{
	const struct config_list *nodes = &invocation->config.nodes;
	AUTO(endpoint) struct endpoint *endpoint = NULL;
	AUTO(http) struct http *http = NULL;
	struct swarm swarm AUTO_SWARM = { 0 };
	struct error err AUTO_ERROR = { 0 };
	size_t images = 0;
	bool found = false;

	if (docker_connect(invocation->config.engine, &endpoint, &http, &err) || swarm_ask(http, &swarm, &err) ||
	    swarm_service_remove(http, &found, &err) || swarm_images_remove(http, &images, &err))
		return main_failure(&err);
	for (size_t i = 0; i < nodes->count; i++)
		if (images_remove(node_rule_url(nodes->values[i]), &images, &err))
			return main_failure(&err);
	printf(found || images ? "The agents are gone.\n" : "The swarm has no agents.\n");
	if (images && nodes->count + 1 < swarm.count)
		printf("Nodes that no --node names may have their image still: `docker image prune --all` there removes it.\n");
	return EXIT_GOOD;
}
