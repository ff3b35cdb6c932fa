/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/tuning/draw.h"

#include <endian.h>
#include <math.h>
#include <sodium.h>
#include <string.h>

void draw_init(struct draw *draw, uint64_t seed, uint64_t place, const char *purpose)
{
	const uint64_t name[] = { htole64(seed), htole64(place) }; /* the same on every machine */
	crypto_generichash_state state;

	crypto_generichash_init(&state, NULL, 0, sizeof(draw->key));
	crypto_generichash_update(&state, (const unsigned char *)name, sizeof(name));
	crypto_generichash_update(&state, (const unsigned char *)purpose, strlen(purpose));
	crypto_generichash_final(&state, draw->key, sizeof(draw->key));
	draw->block = 0;
	draw->used = sizeof(draw->bytes);
}

static void refill(struct draw *draw)
{
	static const unsigned char nonce[crypto_stream_chacha20_NONCEBYTES];

	memset(draw->bytes, 0, sizeof(draw->bytes));
	crypto_stream_chacha20_xor_ic(draw->bytes, draw->bytes, sizeof(draw->bytes), nonce, draw->block,
				      draw->key);
	draw->block += sizeof(draw->bytes) / 64; /* the cipher's blocks have 64 bytes */
	draw->used = 0;
}

uint64_t draw_bits(struct draw *draw)
{
	uint64_t bits;

	if (draw->used == sizeof(draw->bytes))
		refill(draw);
	memcpy(&bits, draw->bytes + draw->used, sizeof(bits));
	draw->used += sizeof(bits);
	return le64toh(bits);
}

double draw_uniform(struct draw *draw)
{
	return (double)(draw_bits(draw) >> 11) * 0x1p-53;
}

size_t draw_index(struct draw *draw, size_t count)
{
	size_t index = (size_t)(draw_uniform(draw) * (double)count);

	return index < count ? index : count - 1;
}

/* The Box-Muller transform. The second number of the pair is not kept, so that a draw has no hidden state. */
double draw_normal(struct draw *draw)
{
	double radius = sqrt(-2 * log(1 - draw_uniform(draw)));

	return radius * cos(2 * M_PI * draw_uniform(draw));
}
