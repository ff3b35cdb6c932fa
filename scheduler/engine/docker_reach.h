/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_reach.h: whether a Docker engine can be reached, and its description of itself. */
#include <jansson.h>

#include "daemon/base/error.h"

struct endpoint;
struct http;

/* As engine_kind.reach and engine_kind.describe. */
enum status docker_reach(const char *url, struct error *err);
enum status docker_describe(const char *url, json_t **ret_facts, struct error *err);
/* Reaches the engine, and opens HTTP to it with the oldest version of its API that is used. Outcomes as docker_reach(). */
enum status docker_connect(const char *url, struct endpoint **ret_endpoint, struct http **ret_http,
			   struct error *err);
