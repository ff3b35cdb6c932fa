/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_group.h: the engines of one daemon ask each other for images. Each question and each answer is a
 * command that the other engine's thread executes, so no connections are needed beside those that are open already. */
#include "scheduler/engine/docker_core.h"

/* An image as an engine reports it. */
struct image_seen {
	char id[DOCKER_NAME_SIZE];
	int64_t bytes;
	bool is_registrys; /* it was pulled from a registry, or pushed to one */
	bool is_copy;      /* it was copied from another engine: it has the tag IMAGE_COPY */
};

/* The repository of the tag that marks a copy; the tag is the beginning of the image's id. */
#define IMAGE_COPY "trainyard-copy"

/* Reads the answer to GET /images/NAME/json. False: it has no id. Pure. */
bool image_seen_read(const json_t *image, struct image_seen *ret_seen);

/* Both do nothing without a group. Thread: that of docker_open() and of close(). */
void group_join(struct docker *docker);
void group_leave(struct docker *docker);

/* Asks all other engines of the group for the image, and returns their number. Each answer is a command that is posted
 * to @docker and executes @then. Its members: @image, @number, arg: the engine that was asked, and body: that engine's
 * report of the image; NULL: it does not have the image, or cannot be asked. An engine that hangs answers late or
 * never. */
unsigned group_ask(struct docker *docker, const char *image, unsigned number,
		   void (*then)(struct docker *docker, struct command *command));

/* Where an image can be read. */
struct image_origin {
	const void *other; /* the engine, for comparison */
	struct endpoint *endpoint; /* a reference of its own */
	char version[16];
	char *node;
};

void image_origin_deinit(struct image_origin *origin);
/* Returns where an image can be copied from. False: the engine has left the group. @other: from the answer to
 * group_ask(). Thread: any. */
bool group_origin(const struct docker *docker, const void *other, struct image_origin *ret_origin);
/* Whether that engine answers now. Thread: any. */
bool group_answers(const struct docker *docker, const void *other);

/* Copies of images wait for their turn, because an engine may write a whole image to a temporary file before it sends
 * it. True: it is this one's turn, until group_turn_end(). Thread: any. */
bool group_turn_take(const struct docker *docker);
void group_turn_end(const struct docker *docker);
