/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_clean.h: lists and removes the objects of instances in Docker, for programs other than
 * the daemon: engine_kind.list and engine_kind.sweep. */
#include "scheduler/engine/engine.h"

enum status docker_list(const char *url, const char *instance, struct orphans *ret_list, struct error *err);
enum status docker_sweep(const char *url, const char *instance, const struct sweep_report *report,
			 struct error *err);
