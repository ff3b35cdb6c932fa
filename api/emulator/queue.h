/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/emulator/queue.h: which jobs wait for what, and which replicas hold the GPUs.
 *
 *   GET /_trainyard/v1/queue   the jobs that wait, in the order of their turns, and the room that there is
 *   GET /_trainyard/v1/gpus    the GPUs that may be given away, with the replicas that hold them
 *
 * Rows of jobs_routes; their context is a struct jobs_context. Both tell the moment: the next may be another. */
#include "api/http/http.h"

extern const struct message queue_answer_message, gpu_list_message;

enum status queue_answer(struct call *call, struct error *err);
enum status gpu_list_answer(struct call *call, struct error *err);
