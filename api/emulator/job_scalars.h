/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/emulator/job_scalars.h: the scalars that a job wrote for TensorBoard, read from its event files in Cloud Storage, as curves.
 *
 *   GET /_trainyard/v1/jobs/{job}:scalars   ?project=, ?points=: the maximum per curve
 *
 * Event files are searched below the job's directory, which includes those of its trials.
 * Choice: the files are read at each call, at most SCALARS_READ_BYTES_MAX of all together. */
#include "api/http/http.h"

enum { SCALARS_FILES_MAX = 64, SCALARS_READ_BYTES_MAX = 64 << 20 };

extern const struct message job_scalars_query, job_scalars_message;

/* The handler of a row of jobs_routes. */
enum status job_scalars_answer(struct call *call, struct error *err);
