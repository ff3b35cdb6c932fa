/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/emulator/job_scalars.h: the scalars that a job wrote for TensorBoard: its event files in Cloud Storage, as curves.
 *
 *   GET /_trainyard/v1/jobs/{job}:scalars   ?project=, ?points=: at most so many points a curve
 *
 * Event files are looked for below the directory that the job writes to; those of trials are below it, too.
 * Choice: the files are read at each call, and of all of them no more than SCALARS_READ_BYTES_MAX. */
#include "api/http/http.h"

enum { SCALARS_FILES_MAX = 64, SCALARS_READ_BYTES_MAX = 64 << 20 };

extern const struct message job_scalars_query, job_scalars_message;

/* Of a row of jobs_routes. */
enum status job_scalars_answer(struct call *call, struct error *err);
