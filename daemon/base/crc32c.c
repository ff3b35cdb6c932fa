/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/base/crc32c.h"

#include <isa-l/crc.h>

/* The polynomial in reversed bit order: bit 31 is the coefficient of x^0. */
#define POLYNOMIAL UINT32_C(0x82f63b78)
#define ONE        UINT32_C(0x80000000)
#define X_TO_8     UINT32_C(0x00800000)
enum { STEP_BYTES = 1 << 30 };

/* crc32_iscsi() neither starts from all ones nor inverts the result, so this function inverts before and after. */
uint32_t crc32c_extend(uint32_t crc, const void *data, size_t length)
{
	const unsigned char *at = data;
	uint32_t state = ~crc;

	while (length > 0) {
		size_t step = length < STEP_BYTES ? length : STEP_BYTES;

		/* crc32_iscsi() does not write to the data, although its argument is not const. */
		state = crc32_iscsi((unsigned char *)at, (int)step, state);
		at += step;
		length -= step;
	}
	return ~state;
}

/* a·b modulo the polynomial. */
static uint32_t product(uint32_t a, uint32_t b)
{
	uint32_t sum = 0;

	for (uint32_t bit = ONE; bit; bit >>= 1) {
		if (a & bit)
			sum ^= b;
		b = b & 1 ? b >> 1 ^ POLYNOMIAL : b >> 1;
	}
	return sum;
}

/* Each byte of b multiplies the checksum of a by x^8; the inversions at the beginning and at the end cancel out. */
uint32_t crc32c_concat(uint32_t crc_a, uint32_t crc_b, uint64_t length_b)
{
	uint32_t shift = ONE;

	for (uint32_t power = X_TO_8; length_b; length_b >>= 1) {
		if (length_b & 1)
			shift = product(shift, power);
		power = product(power, power);
	}
	return product(shift, crc_a) ^ crc_b;
}
