/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_handover.h: copies an image from one engine into another: as the first engine sends the image's
 * archive, it goes into the body of a request to the second. At most HANDOVER_PIECE bytes are held here.
 *
 * Choice: connections of its own on a thread of its own, because each end may make the other one wait.
 * Thread: any. Source: https://docs.docker.com/reference/api/engine/version/v1.41/#tag/Image (read 2026-11-28) */
#include <stdint.h>

#include "scheduler/engine/docker_group.h"

enum { HANDOVER_PIECE = 64 * 1024 };

struct handover {
	const struct docker *docker; /* the engine that gets the image */
	const char *image;
	struct image_origin origin;
	char version[16]; /* of the engine that gets the image */
	int stop_fd;      /* ends the copy when it becomes readable */
	/* Called about every two seconds with the number of bytes that were sent so far. */
	void (*moved)(void *arg, int64_t bytes);
	void *arg;
};

/* Waits for its turn (group_turn_take()), and then copies. CANCELLED: @stop_fd. UNAVAILABLE: a connection broke, or
 * nothing came or was accepted for a long time. Other outcomes: an engine refused the copy; the error has its
 * text. */
enum status handover_run(const struct handover *handover, struct error *err);
