/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/ml/builtin.h: the service's built-in algorithms: jobs with one of its own images.
 *
 * Pure. Thread: any.
 * Source: https://cloud.google.com/ai-platform/training/docs/algorithms */
#include <jansson.h>
#include <stdbool.h>

/* True for images that the service marks as built-in, whether trainyard knows them or not. */
bool builtin_image(const char *image);

/* The trainingOutput of a new job with the master's @image (NULL: none) as canonical text; "{}" for an image of
 * the client's. The caller frees. */
char *builtin_output_new(const char *image);

/* Call once for a SUCCEEDED job that is not a tuning job: adds builtInAlgorithmOutput.modelPath, below @job_dir
 * (NULL: none was given). Leaves @output unchanged if the job has no built-in algorithm. */
void builtin_output_finish(json_t *output, const char *job_dir);
