/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker.h: the open() function of Docker's row in the table of engines: the Engine API over a unix
 * socket. */
#include "scheduler/engine/engine.h"

enum status docker_open(const struct engine_options *options, const struct engine_sink *sink,
			struct engine **ret_engine, struct error *err);
