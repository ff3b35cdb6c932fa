/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/tuning/linear.h: the linear algebra for the Gaussian process, on lower triangles.
 *
 * A triangle is a square matrix of doubles, row by row with a stride, of which only the lower half counts. Sums are
 * computed in a fixed order, so that equal inputs give equal bits on one machine. Pure. */
#include <stdbool.h>
#include <stddef.h>

double dot(const double *a, const double *b, size_t count);
/* Four scalar products at once: of @a with b, b + stride, … */
void dot4(const double *a, const double *b, size_t stride, size_t count, double ret_sums[4]);

/* Replaces @matrix by its Cholesky factor. False: it is not positive definite; @matrix is overwritten then. */
bool cholesky(double *matrix, size_t count, size_t stride);
/* The inverse of a factor, transposed: row i holds column i of the inverse, from its diagonal on. */
void factor_invert(const double *factor, double *ret_transposed, size_t count, size_t stride);
/* The inverse of the matrix itself (lower half) from the transposed inverse of its factor. */
void inverse_of(const double *transposed, double *ret_inverse, size_t count, size_t stride);
/* Solves factor * x = b in place; then factor^T * x = b. */
void solve_lower(const double *factor, double *vector, size_t count, size_t stride);
void solve_upper(const double *factor, double *vector, size_t count, size_t stride);
