/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/swarm_watch.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon/base/log.h"
#include "daemon/base/memory.h"
#include "daemon/base/small_thread.h"
#include "daemon/nodes.h"
#include "daemon/swarm_nodes.h"
#include "scheduler/engine/docker_endpoint.h"
#include "scheduler/engine/docker_http.h"
#include "scheduler/engine/docker_reach.h"
#include "scheduler/engine/swarm.h"

enum { LOOK_S = 3 };

struct swarm_watch {
	struct daemon_nodes *nodes;
	struct scheduler *scheduler;
	bool has_failed; /* a node could not join at the last look, and this was logged */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t ends; /* on the monotonic clock */
	bool stopping;       /* guarded by lock */
};

/* Adds the new nodes, with @joins, and reports which are gone. If the manager does not answer, nothing is known of the
 * swarm. */
static void manager_look(struct swarm_watch *watch, const char *manager_url, bool joins)
{
	struct swarm swarm AUTO_SWARM = { 0 };
	struct error err AUTO_ERROR = { 0 };
	AUTO(endpoint) struct endpoint *endpoint = NULL;
	AUTO(http) struct http *http = NULL;

	if (docker_connect(manager_url, &endpoint, &http, NULL) || swarm_ask(http, &swarm, NULL))
		return;
	if (joins && swarm_nodes_join(&swarm, manager_url, watch->nodes, watch->scheduler, &err) && !watch->has_failed)
		log_event(LOG_WARNING, "node-not-joined", "error=\"%s\"", err.text ? err.text : "");
	watch->has_failed = err.status != STATUS_OK;
	swarm_nodes_report(&swarm, manager_url, watch->nodes, watch->scheduler);
}

/* The URL of the node's manager. NULL: the node has no manager, or look() asks this manager already, for an earlier
 * node or for `--engine swarm`. */
static const char *next_manager(const struct daemon_nodes *nodes, size_t node)
{
	const char *url = swarm_manager_url(nodes->urls[node]);

	if (url && nodes->swarm && strcmp(url, nodes->urls[0]) == 0)
		return NULL;
	for (size_t i = 0; url && i < node; i++) {
		const char *other = swarm_manager_url(nodes->urls[i]);

		if (other && strcmp(other, url) == 0)
			return NULL;
	}
	return url;
}

static void look(struct swarm_watch *watch)
{
	const struct daemon_nodes *nodes = watch->nodes;

	if (nodes->swarm)
		manager_look(watch, nodes->urls[0], true);
	for (size_t i = 0; i < nodes->first_count; i++) {
		const char *url = next_manager(nodes, i);

		if (url)
			manager_look(watch, url, false);
	}
}

/* Waits for the time of the next look. False: the thread must end. */
static bool look_wait(struct swarm_watch *watch)
{
	struct timespec until;
	bool goes_on;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += LOOK_S;
	pthread_mutex_lock(&watch->lock);
	while (!watch->stopping && pthread_cond_timedwait(&watch->ends, &watch->lock, &until) == 0)
		continue;
	goes_on = !watch->stopping;
	pthread_mutex_unlock(&watch->lock);
	return goes_on;
}

static void *watch_main(void *arg)
{
	while (look_wait(arg))
		look(arg);
	return NULL;
}

static void watch_free(struct swarm_watch *watch)
{
	pthread_cond_destroy(&watch->ends);
	pthread_mutex_destroy(&watch->lock);
	free(watch);
}

static bool is_needed(const struct daemon_nodes *nodes)
{
	for (size_t i = 0; i < nodes->count; i++)
		if (swarm_manager_url(nodes->urls[i]))
			return true;
	return nodes->swarm;
}

enum status swarm_watch_open(struct daemon_nodes *nodes, struct scheduler *scheduler, struct swarm_watch **ret_watch,
			     struct error *err)
{
	struct swarm_watch *watch;
	pthread_condattr_t attributes;
	enum status rc;

	if (!is_needed(nodes))
		return STATUS_OK;
	watch = memory_calloc(1, sizeof(*watch));
	watch->nodes = nodes;
	watch->scheduler = scheduler;
	pthread_mutex_init(&watch->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&watch->ends, &attributes);
	pthread_condattr_destroy(&attributes);
	rc = small_thread_start(&watch->thread, watch_main, watch, err);
	if (rc)
		watch_free(watch);
	else
		*ret_watch = watch;
	return rc;
}

void swarm_watch_close(struct swarm_watch *watch)
{
	if (!watch)
		return;
	pthread_mutex_lock(&watch->lock);
	watch->stopping = true;
	pthread_cond_signal(&watch->ends);
	pthread_mutex_unlock(&watch->lock);
	pthread_join(watch->thread, NULL);
	watch_free(watch);
}
