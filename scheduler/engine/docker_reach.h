/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_reach.h: whether a Docker engine can be reached, and its description of itself. */
#include <jansson.h>

#include "daemon/base/error.h"

/* As engine_kind.reach and engine_kind.describe. */
enum status docker_reach(const char *url, struct error *err);
enum status docker_describe(const char *url, json_t **ret_facts, struct error *err);
