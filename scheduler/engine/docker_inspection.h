/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_inspection.h: checks an image before a job runs in it.
 * Source: https://docs.docker.com/reference/api/engine/ (ImageInspect, ContainerArchiveInfo) */
#include <jansson.h>
#include <stdbool.h>

#include "daemon/base/error.h"
#include "scheduler/engine/engine.h"

struct endpoint;

/* The image and the properties to check. Strings are borrowed. */
struct inspection {
	struct endpoint *endpoint;
	const char *api_version, *instance;
	const char *image;
	const json_t *command, *args; /* NULL: the image's own */
	bool with_program;
};

/* Whether a listed container is one that docker_inspect_image() has made in an earlier run of the daemon, which ended
 * before it removed the container. Thread: any. */
bool docker_inspection_is_left(const json_t *container);
/* See engine_ops.inspect_image. */
enum status docker_inspect_image(const struct inspection *inspection, struct image_facts *ret_facts,
				 struct error *err);
