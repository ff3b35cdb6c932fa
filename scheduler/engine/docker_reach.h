/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_reach.h: whether a Docker engine can be reached, and its description of itself. */
#include <jansson.h>

#include "daemon/base/error.h"

struct endpoint;
struct http;

/* See the functions of the same names in struct engine_kind. */
enum status docker_reach(const char *url, struct error *err);
enum status docker_describe(const char *url, json_t **ret_facts, struct error *err);
enum status docker_has_path(const char *url, const char *path, struct error *err);
/* Reaches the engine, and makes an HTTP client for it that uses the oldest supported API version. Outcomes as
 * docker_reach(). */
enum status docker_connect(const char *url, struct endpoint **ret_endpoint, struct http **ret_http,
			   struct error *err);
