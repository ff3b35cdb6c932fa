/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/swarm_image.h: an image of the running program alone: the program and the libraries that it has loaded, at
 * their own paths, and nothing else. Nothing is pulled: the image is loaded into an engine. Its name has a digest
 * of its content, so an engine that has an image of this name needs no load.
 *
 * Thread: any.
 * Source: https://github.com/moby/docker-image-spec/blob/main/v1.2.md (read 2026-11-27), and archives of Docker 20.10 */
#include "daemon/base/error.h"
#include "daemon/base/text.h"

struct http;

/* The name of the image, which continues with the first letters of the digest of its files. */
#define SWARM_IMAGE "trainyard-agent:"
enum { SWARM_IMAGE_SIZE = 64, SWARM_IMAGE_ID_SIZE = 128 };

struct swarm_image {
	char name[SWARM_IMAGE_SIZE];
	struct text archive; /* an archive for `docker load` */
};

void swarm_image_deinit(struct swarm_image *image);
#define AUTO_IMAGE __attribute__((cleanup(swarm_image_deinit)))

/* Makes the image's archive and name. UNAVAILABLE: a file of the program cannot be read. */
enum status swarm_image_make(struct swarm_image *ret_image, struct error *err);
/* Loads the image into the engine, unless the engine has it already. @ret_id: the image's id. */
enum status swarm_image_give(struct http *http, const struct swarm_image *image,
			     char ret_id[SWARM_IMAGE_ID_SIZE], struct error *err);
/* Removes all images named SWARM_IMAGE from the engine, also those of other versions of the program, and counts
 * them. Waits up to half a minute for containers that still use them. */
enum status swarm_images_remove(struct http *http, size_t *count, struct error *err);
