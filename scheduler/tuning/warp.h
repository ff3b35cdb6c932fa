/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/tuning/warp.h: what trials reached, made into labels that a Gaussian process can learn from.
 *
 * Bad outliers lose their size, differences among the best are widened, failures lie clearly below every success,
 * and the expected label is 0. Only order and ratios count. Pure.
 * Source: https://github.com/google/vizier (output warpers); failures lie less deep here: the published depth made the
 * model spend its length scales on their cliff. */
#include <stdbool.h>
#include <stddef.h>

/* @values: larger is better; NaN: failed. In place. */
void labels_warp(double *values, size_t count);
