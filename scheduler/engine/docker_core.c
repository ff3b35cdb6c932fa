/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/engine/docker_core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/base/clock.h"
#include "daemon/base/log.h"
#include "daemon/base/memory.h"
#include "scheduler/engine/docker_emit.h"

enum { LASTING_US = 5 * SECOND_US };

/* ---- commands ---- */

void command_deinit(struct command *command)
{
	free(command->image);
	json_decref(command->body);
}

void docker_hand_over(struct docker *docker, struct command *command)
{
	command->next = NULL;
	pthread_mutex_lock(&docker->lock);
	*docker->commands_end = command;
	docker->commands_end = &command->next;
	pthread_mutex_unlock(&docker->lock);
	http_wakeup(docker->http);
}

void docker_post(struct docker *docker, const struct command *command)
{
	struct command *copy = memory_alloc(sizeof(*copy));

	*copy = *command;
	docker_hand_over(docker, copy);
}

/* ---- timers ---- */

bool timer_is_set(const struct timer *timer)
{
	return timer->fire != NULL;
}

void timer_unset(struct docker *docker, struct timer *timer)
{
	struct timer **at = &docker->timers;

	while (*at != timer)
		at = &(*at)->next;
	*at = timer->next;
	timer->fire = NULL;
}

void docker_after(struct docker *docker, struct timer *timer, int64_t delay_us, void (*fire)(void *arg),
		  void *arg)
{
	struct timer **at = &docker->timers;

	if (timer_is_set(timer))
		timer_unset(docker, timer);
	*timer = (struct timer){ .at_us = clock_mono_us(&system_clock) + delay_us, .fire = fire, .arg = arg };
	while (*at && (*at)->at_us <= timer->at_us)
		at = &(*at)->next;
	timer->next = *at;
	*at = timer;
}

bool timers_fire(struct docker *docker)
{
	int64_t now_us = docker->timers ? clock_mono_us(&system_clock) : 0;
	bool any = false;

	while (docker->timers && (docker->closing || docker->timers->at_us <= now_us)) {
		struct timer due = *docker->timers;

		timer_unset(docker, docker->timers);
		due.fire(due.arg);
		any = true;
	}
	return any;
}

/* ---- calls ---- */

void docker_container_call(struct docker *docker, const struct replica_key *key, const char *suffix,
			   struct http_request request)
{
	char name[DOCKER_NAME_SIZE], path[DOCKER_PATH_SIZE];

	docker_container_name(docker->instance, key, name);
	snprintf(path, sizeof(path), "/containers/%s%s", name, suffix);
	request.path = path;
	http_start(docker->http, &request);
}

void outcome_read(const struct http_answer *answer, struct outcome *ret_outcome)
{
	ret_outcome->text[0] = '\0';
	ret_outcome->status = answer->status;
	if (answer->status) {
		snprintf(ret_outcome->text, sizeof(ret_outcome->text), "%s", answer->problem);
	} else if (answer->code >= 300 && answer->code != 304) {
		docker_message(answer->body, answer->body_length, ret_outcome->text);
		ret_outcome->status = docker_code_status(answer->code);
	}
}

/* ---- the link ---- */

bool link_is_up(const struct docker *docker)
{
	return docker->link.state == LINK_UP;
}

static void exchange_drop(struct http_exchange *exchange)
{
	if (exchange)
		http_cancel(exchange);
}

void link_probe_end(struct docker *docker)
{
	if (docker->link.probe)
		unlink(docker->link.probe);
	free(docker->link.probe);
	docker->link.probe = NULL;
}

void link_end(struct docker *docker)
{
	exchange_drop(docker->link.ping);
	exchange_drop(docker->link.info);
	exchange_drop(docker->link.look);
	link_probe_end(docker);
	exchange_drop(docker->link.events);
	exchange_drop(docker->link.watch);
	docker->link.state = LINK_DOWN;
	atomic_store(&docker->answers, false);
}

/* Returns the pause before the next attempt to connect. Each pause is twice as long as the one before, until a
 * connection has lasted: otherwise an engine that ends its event streams at once would be connected to at the rate
 * of the first pause. */
static int64_t backoff_take(struct link *link)
{
	const bool lasted =
		link->state == LINK_UP && clock_mono_us(&system_clock) - link->up_us >= LASTING_US;
	const int64_t backoff_us = lasted ? BACKOFF_FIRST_US : link->backoff_us;

	link->backoff_us = backoff_us * 2 < BACKOFF_MOST_US ? backoff_us * 2 : BACKOFF_MOST_US;
	return backoff_us;
}

void link_lose(struct docker *docker, const char *reason)
{
	struct link *link = &docker->link;
	int64_t backoff_us;

	if (docker->closing || link->state == LINK_DOWN)
		return;
	backoff_us = backoff_take(link);
	link_end(docker);
	snprintf(link->reason, sizeof(link->reason), "%s", reason);
	if (!link->logged_down) {
		link->logged_down = true;
		log_event(LOG_WARNING, "engine-down", "error=\"%s\"", reason);
		emit_plain(docker, ENGINE_DOWN, reason);
	}
	docker_after(docker, &link->again, backoff_us, link->retry, docker);
}

void link_watch(struct docker *docker, const struct http_answer *answer)
{
	if (answer->unreachable)
		link_lose(docker, answer->problem);
}

void docker_outcome(struct docker *docker, const struct http_answer *answer, struct outcome *ret_outcome)
{
	link_watch(docker, answer);
	outcome_read(answer, ret_outcome);
}
