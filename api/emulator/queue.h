/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/emulator/queue.h: what queued jobs wait for, and which replicas hold the GPUs.
 *
 *   GET /_trainyard/v1/queue   the queued jobs, in the order of their turns, and the free resources
 *   GET /_trainyard/v1/gpus    the GPUs that jobs may use, with the replicas that hold them
 *
 * Rows of jobs_routes; their context is a struct jobs_context. Both show the present state. */
#include "api/http/http.h"

extern const struct message queue_answer_message, gpu_list_message;

enum status queue_answer(struct call *call, struct error *err);
enum status gpu_list_answer(struct call *call, struct error *err);
