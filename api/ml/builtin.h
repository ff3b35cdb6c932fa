/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/ml/builtin.h: the service's built-in algorithms: jobs with one of its own images.
 *
 * Pure. Thread: any.
 * Source: https://cloud.google.com/ai-platform/training/docs/algorithms */
#include <jansson.h>
#include <stdbool.h>

/* True for the images that the service marks so, whether there is a row about them or not. */
bool builtin_image(const char *image);

/* The trainingOutput of a new job with the master's @image (NULL: none) as canonical text; "{}" for an image of
 * the client's. The caller frees. */
char *builtin_output_new(const char *image);

/* To be called once for a job that has SUCCEEDED and did not tune: adds builtInAlgorithmOutput.modelPath, below
 * @job_dir (NULL: none was given). An @output of any other job stays as it is. */
void builtin_output_finish(json_t *output, const char *job_dir);
