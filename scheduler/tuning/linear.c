/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/tuning/linear.h"

#include <math.h>
#include <string.h>

/* A vector type of the compiler. With it, sums are vectorised without a compiler option that permits reordering all
 * arithmetic. */
typedef double lanes __attribute__((vector_size(32), aligned(8), may_alias));
enum { LANES = 4, PAIR = 2 * LANES };

#define LANES_AT(FROM) (*(const lanes *)(FROM))
#define LANES_SUM(SUM) (((SUM)[0] + (SUM)[1]) + ((SUM)[2] + (SUM)[3]))

/* Functions marked with this are compiled twice, and the processor at hand chooses one at run time. Not with sanitizers,
 * which cannot see the choice being made. */
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) &&                \
	!defined(__clang__)
#define FOR_EACH_PROCESSOR __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define FOR_EACH_PROCESSOR
#endif
#define INLINED static inline __attribute__((always_inline))

INLINED double sum_one(const double *a, const double *b, size_t count)
{
	lanes first = { 0 }, second = { 0 };
	double rest = 0;
	size_t i = 0;

	for (; i + PAIR <= count; i += PAIR) {
		first += LANES_AT(a + i) * LANES_AT(b + i);
		second += LANES_AT(a + i + LANES) * LANES_AT(b + i + LANES);
	}
	for (; i < count; i++)
		rest += a[i] * b[i];
	first += second;
	return LANES_SUM(first) + rest;
}

INLINED void sum_four(const double *a, const double *b, size_t stride, size_t count, double ret_sums[4])
{
	const double *c = b + stride, *d = c + stride, *e = d + stride;
	lanes b_sum = { 0 }, c_sum = { 0 }, d_sum = { 0 }, e_sum = { 0 };
	size_t i = 0;

	for (; i + LANES <= count; i += LANES) {
		const lanes at = LANES_AT(a + i);

		b_sum += at * LANES_AT(b + i);
		c_sum += at * LANES_AT(c + i);
		d_sum += at * LANES_AT(d + i);
		e_sum += at * LANES_AT(e + i);
	}
	ret_sums[0] = LANES_SUM(b_sum);
	ret_sums[1] = LANES_SUM(c_sum);
	ret_sums[2] = LANES_SUM(d_sum);
	ret_sums[3] = LANES_SUM(e_sum);
	for (; i < count; i++) {
		ret_sums[0] += a[i] * b[i];
		ret_sums[1] += a[i] * c[i];
		ret_sums[2] += a[i] * d[i];
		ret_sums[3] += a[i] * e[i];
	}
}

FOR_EACH_PROCESSOR double dot(const double *a, const double *b, size_t count)
{
	return sum_one(a, b, count);
}

FOR_EACH_PROCESSOR void dot4(const double *a, const double *b, size_t stride, size_t count,
			     double ret_sums[4])
{
	sum_four(a, b, stride, count, ret_sums);
}

FOR_EACH_PROCESSOR bool cholesky(double *matrix, size_t count, size_t stride)
{
	for (size_t i = 0; i < count; i++) {
		double *row = matrix + i * stride;
		size_t j = 0;
		double left;

		/* Four columns share one pass over the rows that they have in common; the corner between them is computed
		 * one by one. */
		for (; j + 4 <= i; j += 4) {
			double sums[4];

			sum_four(row, matrix + j * stride, stride, j, sums);
			for (size_t k = 0; k < 4; k++) {
				const double *other = matrix + (j + k) * stride;

				row[j + k] = (row[j + k] - sums[k] - sum_one(row + j, other + j, k)) /
					     other[j + k];
			}
		}
		for (; j < i; j++) {
			const double *other = matrix + j * stride;

			row[j] = (row[j] - sum_one(row, other, j)) / other[j];
		}
		left = row[i] - sum_one(row, row, i);
		if (!(left > 0) || !isfinite(left))
			return false;
		row[i] = sqrt(left);
	}
	return true;
}

FOR_EACH_PROCESSOR void factor_invert(const double *factor, double *ret_transposed, size_t count,
				      size_t stride)
{
	for (size_t i = 0; i < count; i++) {
		double *column = ret_transposed + i * stride;

		column[i] = 1 / factor[i * stride + i];
		/* Zeros that the loop over four columns reads before their own diagonals. */
		memset(column + (i & ~(size_t)3), 0, (i & 3) * sizeof(double));
	}
	for (size_t k = 1; k < count; k++) {
		const double *row = factor + k * stride;
		size_t i = 0;

		/* Columns i..i+3 of the inverse at row k; zeros stand before a column's diagonal. */
		for (; i + 4 <= k; i += 4) {
			double sums[4];

			sum_four(row + i, ret_transposed + i * stride + i, stride, k - i, sums);
			for (size_t j = 0; j < 4; j++)
				ret_transposed[(i + j) * stride + k] = -sums[j] / row[k];
		}
		for (; i < k; i++)
			ret_transposed[i * stride + k] =
				-sum_one(row + i, ret_transposed + i * stride + i, k - i) / row[k];
	}
}

FOR_EACH_PROCESSOR void inverse_of(const double *transposed, double *ret_inverse, size_t count, size_t stride)
{
	for (size_t i = 0; i < count; i++) {
		const double *row = transposed + i * stride + i;
		size_t j = 0;

		for (; j + 4 <= i; j += 4)
			sum_four(row, transposed + j * stride + i, stride, count - i,
				 ret_inverse + i * stride + j);
		for (; j <= i; j++)
			ret_inverse[i * stride + j] = sum_one(row, transposed + j * stride + i, count - i);
	}
}

FOR_EACH_PROCESSOR void solve_lower(const double *factor, double *vector, size_t count, size_t stride)
{
	for (size_t i = 0; i < count; i++)
		vector[i] = (vector[i] - sum_one(factor + i * stride, vector, i)) / factor[i * stride + i];
}

FOR_EACH_PROCESSOR void solve_upper(const double *factor, double *vector, size_t count, size_t stride)
{
	for (size_t i = count; i-- > 0;) {
		const double *row = factor + i * stride;

		vector[i] /= row[i];
		for (size_t j = 0; j < i; j++)
			vector[j] -= row[j] * vector[i];
	}
}
