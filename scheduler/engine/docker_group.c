/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/engine/docker_group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "scheduler/engine/docker_credentials.h"
#include "scheduler/engine/docker_endpoint.h"

enum { TURNS = 2 };

struct engine_group {
	pthread_mutex_t lock;
	struct docker **members;
	size_t count;
	unsigned turns; /* number of turns that are taken */
};

struct engine_group *engine_group_new(void)
{
	struct engine_group *group = memory_calloc(1, sizeof(*group));

	pthread_mutex_init(&group->lock, NULL);
	return group;
}

void engine_group_free(struct engine_group *group)
{
	if (!group)
		return;
	pthread_mutex_destroy(&group->lock);
	free(group->members);
	free(group);
}

void group_join(struct docker *docker)
{
	struct engine_group *group = docker->group;

	if (!group)
		return;
	pthread_mutex_lock(&group->lock);
	group->members = memory_resize(group->members, group->count + 1, sizeof(struct docker *));
	group->members[group->count++] = docker;
	pthread_mutex_unlock(&group->lock);
}

/* Returns the member's index; group->count: it is not a member. To be called with the group's lock held. */
static size_t member_find(const struct engine_group *group, const void *member)
{
	size_t i = 0;

	while (i < group->count && group->members[i] != member)
		i++;
	return i;
}

void group_leave(struct docker *docker)
{
	struct engine_group *group = docker->group;
	size_t at;

	if (!group)
		return;
	pthread_mutex_lock(&group->lock);
	at = member_find(group, docker);
	if (at < group->count)
		group->members[at] = group->members[--group->count];
	pthread_mutex_unlock(&group->lock);
}

/* ---- what an engine says of an image ---- */

bool image_seen_read(const json_t *image, struct image_seen *ret_seen)
{
	const char *id = json_text_at(image, "Id");
	const json_t *tag;
	size_t i;

	*ret_seen = (struct image_seen){ .bytes = json_int_at(image, "Size", 0),
					 .is_registrys = json_array_size(json_object_get(image, "RepoDigests")) };
	json_array_foreach(json_object_get(image, "RepoTags"), i, tag) {
		const char *name = json_string_value(tag);

		if (name && strncmp(name, IMAGE_COPY ":", strlen(IMAGE_COPY ":")) == 0)
			ret_seen->is_copy = true;
	}
	if (!id || strlen(id) >= sizeof(ret_seen->id))
		return false;
	snprintf(ret_seen->id, sizeof(ret_seen->id), "%s", id);
	return true;
}

/* ---- questions ---- */

struct question {
	struct docker *docker; /* the engine that is asked */
	struct docker *asker;  /* may have left the group */
	char *image;
	unsigned number;
	void (*then)(struct docker *docker, struct command *command);
};

/* Posts the answer to the asker, unless that has left the group. Takes @image_json. */
static void question_answer(struct question *question, json_t *image_json)
{
	struct engine_group *group = question->docker->group;
	struct command answer = { .run = question->then,
				  .image = question->image,
				  .body = image_json,
				  .arg = question->docker,
				  .number = question->number };

	pthread_mutex_lock(&group->lock);
	if (member_find(group, question->asker) < group->count)
		docker_post(question->asker, &answer);
	else
		command_deinit(&answer);
	pthread_mutex_unlock(&group->lock);
	free(question);
}

static void question_answered(void *arg, const struct http_answer *answer)
{
	struct question *question = arg;

	link_watch(question->docker, answer);
	question_answer(question, !answer->status && answer->code == 200
					  ? docker_parse(answer->body, answer->body_length, JSON_OBJECT)
					  : NULL);
}

/* On the thread of the engine that is asked. */
static void question_run(struct docker *docker, struct command *command)
{
	struct question *question = memory_calloc(1, sizeof(*question));
	char *image = TAKE(command->image);
	char name[3 * REFERENCE_SIZE], path[3 * REFERENCE_SIZE + 32];

	*question = (struct question){ docker, command->arg, image, command->number, command->then };
	if (!link_is_up(docker)) {
		question_answer(question, NULL);
		return;
	}
	docker_query_encode(question->image, name, sizeof(name));
	snprintf(path, sizeof(path), "/images/%s/json", name);
	http_start(docker->http, &(struct http_request){ .method = "GET",
							 .path = path,
							 .timeout_s = CALL_TIMEOUT_S,
							 .done = question_answered,
							 .arg = question });
}

unsigned group_ask(struct docker *docker, const char *image, unsigned number,
		   void (*then)(struct docker *docker, struct command *command))
{
	struct engine_group *group = docker->group;
	unsigned count = 0;

	pthread_mutex_lock(&group->lock);
	for (size_t i = 0; i < group->count; i++) {
		if (group->members[i] == docker)
			continue;
		docker_post(group->members[i], &(struct command){ .run = question_run,
								  .image = memory_strdup(image),
								  .arg = docker,
								  .number = number,
								  .then = then });
		count++;
	}
	pthread_mutex_unlock(&group->lock);
	return count;
}

/* ---- where an image is read ---- */

void image_origin_deinit(struct image_origin *origin)
{
	endpoint_close(origin->endpoint);
	free(origin->node);
	*origin = (struct image_origin){ 0 };
}

bool group_origin(const struct docker *docker, const void *other, struct image_origin *ret_origin)
{
	struct engine_group *group = docker->group;
	struct docker *member;
	size_t at;

	pthread_mutex_lock(&group->lock);
	at = member_find(group, other);
	member = at < group->count ? group->members[at] : NULL;
	if (member) {
		ret_origin->other = other;
		ret_origin->endpoint = endpoint_hold(member->endpoint);
		ret_origin->node = memory_strdup(member->node);
		pthread_mutex_lock(&member->lock);
		memcpy(ret_origin->version, member->spoken_version, sizeof(ret_origin->version));
		pthread_mutex_unlock(&member->lock);
	}
	pthread_mutex_unlock(&group->lock);
	return member != NULL;
}

bool group_answers(const struct docker *docker, const void *other)
{
	struct engine_group *group = docker->group;
	bool answers;
	size_t at;

	pthread_mutex_lock(&group->lock);
	at = member_find(group, other);
	answers = at < group->count && atomic_load(&group->members[at]->answers);
	pthread_mutex_unlock(&group->lock);
	return answers;
}

/* ---- turns ---- */

bool group_turn_take(const struct docker *docker)
{
	struct engine_group *group = docker->group;
	bool taken;

	pthread_mutex_lock(&group->lock);
	taken = group->turns < TURNS;
	group->turns += taken;
	pthread_mutex_unlock(&group->lock);
	return taken;
}

void group_turn_end(const struct docker *docker)
{
	struct engine_group *group = docker->group;

	pthread_mutex_lock(&group->lock);
	group->turns--;
	pthread_mutex_unlock(&group->lock);
}
