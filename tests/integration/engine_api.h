/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* tests/integration/engine_api.h: talking to the engine behind its client's back. */
#include <stdbool.h>
#include <stddef.h>

struct text;

/* What replicas run: image_make() makes it, unless it is there. */
static const char image_name[] = "trainyard-contract:busybox";

/* Where it listens. */
extern char engine_socket[100];

int socket_connect(const char *path);
bool send_whole(int fd, const char *data, size_t length);
/* Returns the HTTP status, 0 without an answer; the answer with its headers is the caller's. */
int api(const char *method, const char *path, const char *type, const char *body, size_t length,
	char **ret_answer);
/* Appends an entry of a tar archive: a file, directory or symbolic link. */
void tar_add(struct text *tar, const char *name, char kind, const char *target, const char *data,
	     size_t length);
/* False: there is no static /bin/busybox to make it of. */
bool image_make(void);
