/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* tests/integration/engine_api.h: calls of the engine's API that bypass the code under test. */
#include <stdbool.h>
#include <stddef.h>

struct text;

/* The image of the replicas; image_make() makes it unless it exists. */
static const char image_name[] = "trainyard-contract:busybox";

/* The path at which the engine listens. */
extern char engine_socket[100];

int socket_connect(const char *path);
bool send_whole(int fd, const char *data, size_t length);
/* Returns the HTTP status, 0 without an answer; the answer with its headers is the caller's. */
int api(const char *method, const char *path, const char *type, const char *body, size_t length,
	char **ret_answer);
/* Appends an entry of a tar archive: a file, directory or symbolic link. */
void tar_add(struct text *tar, const char *name, char kind, const char *target, const char *data,
	     size_t length);
/* False: there is no static /bin/busybox for the image. */
bool image_make(void);
