/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_reach.h: the socket of Docker that a URL names, and whether a process listens there. */
#include <stdbool.h>

#include "daemon/base/error.h"

/* "unix:///PATH" with a path that a socket can have. */
bool docker_url_valid(const char *url);
/* The path of a valid URL, borrowed. */
const char *docker_socket_path(const char *url);

/* As engine_kind.reach. */
enum status docker_reach(const char *url, struct error *err);
