/* SPDX-License-Identifier: Apache-2.0 */
/* model.c: the network and its gradient, the data, the model file. Nothing here knows of the cluster. */
#include "trainer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the data: rows of 64 pixels (0 to 16) and the digit ------------------------------------------ */

enum { MAX_ROWS = 1000000, ROW_BYTES = 1024, PIXEL_MAX = 16, FILE_HEADER_BYTES = 12 };

/* Reads the next number of a row, at most @max. Returns it, or -1; moves @text past it and its comma. */
static long next_number(char **text, long max)
{
	char *end;
	long number = strtol(*text, &end, 10);
	if (end == *text || number < 0 || number > max || (*end && !strchr(",\r\n", *end)))
		return -1;
	*text = end + (*end == ',');
	return number;
}

static int row_to_image(char *row, struct image *ret)
{
	for (int i = 0; i < PIXELS; i++) {
		long pixel = next_number(&row, PIXEL_MAX);
		if (pixel < 0)
			return -1;
		ret->pixels[i] = (float)pixel / PIXEL_MAX;
	}
	long digit = next_number(&row, DIGITS - 1);
	ret->digit = digit;
	return digit < 0 ? -1 : 0;
}

struct image *images_read(const char *path, size_t *ret_count)
{
	FILE *file = fopen(path, "r");
	if (!file)
		die(1, "%s: %s", path, strerror(errno));
	struct image *images = NULL;
	size_t count = 0, room = 0;
	char row[ROW_BYTES];
	while (fgets(row, sizeof(row), file)) {
		if (count == room) {
			room = room ? 2 * room : 1024;
			images = realloc(images, room * sizeof(*images));
			if (!images || room > MAX_ROWS)
				die(1, "%s: too many rows", path);
		}
		if (row_to_image(row, &images[count++]))
			die(1, "%s: row %zu is not 64 numbers of 0 to 16 and a digit", path, count);
	}
	fclose(file);
	if (count == 0)
		die(1, "%s: no rows", path);
	*ret_count = count;
	return images;
}

struct image image_shifted(const struct image *image, uint64_t *random)
{
	enum { SIDE = 8 };
	struct image shifted = { .digit = image->digit };
	uint64_t pick = random_next(random) % 9;
	int right = (int)(pick % 3) - 1, down = (int)(pick / 3) - 1;
	for (int y = 0; y < SIDE; y++)
		for (int x = 0; x < SIDE; x++)
			if (x - right >= 0 && x - right < SIDE && y - down >= 0 && y - down < SIDE)
				shifted.pixels[y * SIDE + x] = image->pixels[(y - down) * SIDE + x - right];
	return shifted;
}

/* ---- the network ---------------------------------------------------------------------------------- */

/* Where the parts begin in the array of weights. The gradient has the same layout. */
struct layout {
	uint32_t hidden_weights, hidden_biases, digit_weights, digit_biases, size;
};

static struct layout layout_of(unsigned hidden)
{
	struct layout at = { .hidden_weights = 0 };
	at.hidden_biases = at.hidden_weights + hidden * PIXELS;
	at.digit_weights = at.hidden_biases + hidden;
	at.digit_biases = at.digit_weights + DIGITS * hidden;
	at.size = at.digit_biases + DIGITS;
	return at;
}

uint32_t model_size(unsigned hidden)
{
	return layout_of(hidden).size;
}

uint64_t random_next(uint64_t *random)
{
	/* splitmix64. Source: Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", 2014 */
	uint64_t z = *random += 0x9e3779b97f4a7c15u;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

float *model_new(unsigned hidden, uint64_t *random)
{
	struct layout at = layout_of(hidden);
	float *model = allocate(at.size, sizeof(float));
	for (uint32_t i = 0; i < at.digit_biases; i++) {
		if (i >= at.hidden_biases && i < at.digit_weights)
			continue;
		/* Uniform in +-sqrt(6 / inputs), which keeps the variance through ReLU layers (He, 2015). */
		float reach = sqrtf(6.0f / (i < at.hidden_biases ? PIXELS : hidden));
		model[i] = reach * (2.0f * (random_next(random) >> 40) / (1 << 24) - 1.0f);
	}
	return model;
}

static float dot(const float *a, const float *b, unsigned count)
{
	float sum = 0;
	for (unsigned i = 0; i < count; i++)
		sum += a[i] * b[i];
	return sum;
}

static void add_scaled(float *to, const float *from, float scale, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		to[i] += scale * from[i];
}

/* Computes the hidden units and the odds of each digit, which sum to 1. */
static void forward(const float *model, unsigned hidden, const float *pixels, float *ret_units,
		    float *ret_odds)
{
	struct layout at = layout_of(hidden);
	for (unsigned h = 0; h < hidden; h++) {
		float sum = dot(model + at.hidden_weights + h * PIXELS, pixels, PIXELS) +
			    model[at.hidden_biases + h];
		ret_units[h] = sum > 0 ? sum : 0;
	}
	float largest = -INFINITY, total = 0;
	for (unsigned d = 0; d < DIGITS; d++) {
		ret_odds[d] = dot(model + at.digit_weights + d * hidden, ret_units, hidden) +
			      model[at.digit_biases + d];
		largest = fmaxf(largest, ret_odds[d]);
	}
	for (unsigned d = 0; d < DIGITS; d++)
		total += ret_odds[d] = expf(ret_odds[d] - largest);
	for (unsigned d = 0; d < DIGITS; d++)
		ret_odds[d] /= total;
}

unsigned model_predict(const float *model, unsigned hidden, const float pixels[PIXELS],
		       float ret_odds[DIGITS])
{
	float units[MAX_HIDDEN];
	forward(model, hidden, pixels, units, ret_odds);
	unsigned best = 0;
	for (unsigned d = 1; d < DIGITS; d++)
		if (ret_odds[d] > ret_odds[best])
			best = d;
	return best;
}

static float loss_of(float odds)
{
	return odds < 1e-12f ? -logf(1e-12f) : -logf(odds); /* keeps NaN a NaN */
}

float model_gradient(const float *model, unsigned hidden, const struct image *image, float weight,
		     float *gradient)
{
	struct layout at = layout_of(hidden);
	float units[MAX_HIDDEN], odds[DIGITS], back[MAX_HIDDEN];
	forward(model, hidden, image->pixels, units, odds);
	memset(back, 0, hidden * sizeof(float));
	for (unsigned d = 0; d < DIGITS; d++) {
		float slope = weight * (odds[d] - (d == image->digit));
		add_scaled(gradient + at.digit_weights + d * hidden, units, slope, hidden);
		gradient[at.digit_biases + d] += slope;
		add_scaled(back, model + at.digit_weights + d * hidden, slope, hidden);
	}
	for (unsigned h = 0; h < hidden; h++) {
		if (units[h] <= 0)
			continue;
		add_scaled(gradient + at.hidden_weights + h * PIXELS, image->pixels, back[h], PIXELS);
		gradient[at.hidden_biases + h] += back[h];
	}
	return loss_of(odds[image->digit]);
}

struct score model_score(const float *model, unsigned hidden, const struct image *images, size_t count)
{
	struct score score = { .count = count };
	float odds[DIGITS];
	for (size_t i = 0; i < count; i++) {
		score.right += model_predict(model, hidden, images[i].pixels, odds) == images[i].digit;
		score.loss += loss_of(odds[images[i].digit]) / count;
	}
	return score;
}

/* ---- the model file --------------------------------------------------------------------------------- */

static const char file_magic[8] = "TYDIGIT1";

static void put_word(unsigned char *to, uint32_t word)
{
	word = htonl(word);
	memcpy(to, &word, sizeof(word));
}

static uint32_t get_word(const unsigned char *from)
{
	uint32_t word;
	memcpy(&word, from, sizeof(word));
	return ntohl(word);
}

unsigned char *model_to_bytes(const float *model, unsigned hidden, size_t *ret_bytes)
{
	size_t size = model_size(hidden);
	unsigned char *bytes = allocate(1, FILE_HEADER_BYTES + 4 * size);
	memcpy(bytes, file_magic, sizeof(file_magic));
	put_word(bytes + sizeof(file_magic), hidden);
	for (size_t i = 0; i < size; i++) {
		uint32_t word;
		memcpy(&word, &model[i], sizeof(word));
		put_word(bytes + FILE_HEADER_BYTES + 4 * i, word);
	}
	*ret_bytes = FILE_HEADER_BYTES + 4 * size;
	return bytes;
}

float *model_read(const char *path, unsigned *ret_hidden)
{
	FILE *file = fopen(path, "rb");
	if (!file)
		die(1, "%s: %s", path, strerror(errno));
	unsigned char header[FILE_HEADER_BYTES];
	if (fread(header, sizeof(header), 1, file) != 1 ||
	    memcmp(header, file_magic, sizeof(file_magic)) != 0)
		die(1, "%s: not a model of this trainer", path);
	uint32_t hidden = get_word(header + sizeof(file_magic));
	if (hidden < 1 || hidden > MAX_HIDDEN)
		die(1, "%s: a model with %u hidden units is not for this trainer", path, hidden);
	float *model = allocate(model_size(hidden), sizeof(float));
	if (fread(model, sizeof(float), model_size(hidden), file) != model_size(hidden) || fgetc(file) != EOF)
		die(1, "%s: a model of %u hidden units has another size", path, hidden);
	fclose(file);
	for (uint32_t i = 0; i < model_size(hidden); i++) {
		uint32_t word = get_word((unsigned char *)&model[i]);
		memcpy(&model[i], &word, sizeof(word));
	}
	*ret_hidden = hidden;
	return model;
}

void bytes_write(const char *path, const unsigned char *bytes, size_t count)
{
	FILE *file = fopen(path, "wb");
	if (!file)
		die(1, "%s: %s", path, strerror(errno));
	if (fwrite(bytes, 1, count, file) != count || fflush(file) || fsync(fileno(file)) || fclose(file))
		die(1, "%s: %s", path, strerror(errno));
}

static uint32_t checksum_add(uint32_t sum, unsigned char byte)
{
	sum ^= (uint32_t)byte << 24;
	for (int bit = 0; bit < 8; bit++)
		sum = (sum << 1) ^ (sum >> 31 ? 0x04c11db7u : 0);
	return sum;
}

uint32_t bytes_checksum(const unsigned char *bytes, size_t count)
{
	/* The bytes, then their count with the lowest byte first. Source: POSIX.1-2017, cksum */
	uint32_t sum = 0;
	for (size_t i = 0; i < count; i++)
		sum = checksum_add(sum, bytes[i]);
	for (size_t rest = count; rest; rest >>= 8)
		sum = checksum_add(sum, rest & 0xff);
	return ~sum;
}

static void print_line_base64(const unsigned char *bytes, size_t count)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	for (size_t i = 0; i < count; i += 3) {
		uint32_t group = bytes[i] << 16;
		group |= i + 1 < count ? bytes[i + 1] << 8 : 0;
		group |= i + 2 < count ? bytes[i + 2] : 0;
		putchar(digits[group >> 18]);
		putchar(digits[group >> 12 & 63]);
		putchar(i + 1 < count ? digits[group >> 6 & 63] : '=');
		putchar(i + 2 < count ? digits[group & 63] : '=');
	}
	putchar('\n');
}

void bytes_print_base64(const unsigned char *bytes, size_t count)
{
	enum { LINE_BYTES = 720 };
	size_t lines = (count + LINE_BYTES - 1) / LINE_BYTES;
	printf("BEGIN MODEL of %zu bytes, cksum %u, %zu lines\n", count, bytes_checksum(bytes, count), lines);
	for (size_t line = 0; line < lines; line++) {
		size_t start = line * LINE_BYTES, left = count - start;
		printf("model %zu/%zu: ", line + 1, lines);
		print_line_base64(bytes + start, left < LINE_BYTES ? left : LINE_BYTES);
	}
	puts("END MODEL");
}
