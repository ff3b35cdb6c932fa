/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/tuning/warp.h: converts the results of trials to labels from which a Gaussian process can learn.
 *
 * Bad outliers are pulled in, differences among the best are widened, failures lie clearly below every success, and the
 * expected label is 0. Only order and ratios count. Pure.
 * Source: https://github.com/google/vizier (output warpers); failures lie less deep here, because with the published
 * depth the model fitted its length scales to the step between successes and failures. */
#include <stdbool.h>
#include <stddef.h>

/* Warps the values in place. Larger values are better; NaN is a failed trial. */
void labels_warp(double *values, size_t count);
