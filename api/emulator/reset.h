/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/emulator/reset.h: POST /_trainyard/v1/reset: stops all jobs and removes all state, one step per call.
 *
 * A call never waits for a job: it does what can be done now, and its answer lists what is left. The client repeats the
 * call until the answer has "done". */
#include "api/http/http.h"

extern const struct message reset_request_message, reset_answer_message;

/* The handler of a row of jobs_routes. */
enum status reset_step(struct call *call, struct error *err);
