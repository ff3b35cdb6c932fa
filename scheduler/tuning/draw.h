/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/tuning/draw.h: random numbers that depend only on a study's seed and a position in it.
 *
 * A stream is ChaCha20 with a key made of both: the same on every machine and after every restart, and independent of
 * the streams of other positions. Thread: one at a time. */
#include <stddef.h>
#include <stdint.h>

struct draw {
	unsigned char key[32];
	uint64_t block; /* the next one */
	unsigned char bytes[512];
	size_t used;
};

/* Begins a stream of random numbers. @purpose separates the streams of one position. */
void draw_init(struct draw *draw, uint64_t seed, uint64_t place, const char *purpose);
uint64_t draw_bits(struct draw *draw);
/* Draws a number in [0, 1). */
double draw_uniform(struct draw *draw);
/* Draws a number in [0, count). */
size_t draw_index(struct draw *draw, size_t count);
/* Draws from the standard normal distribution. */
double draw_normal(struct draw *draw);
