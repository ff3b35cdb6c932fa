/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/terminal.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "daemon/base/timestamp.h"

enum { WIDTH_OTHERWISE = 80, WIDTH_LEAST = 40, US_PER_S = 1000000, ROWS_BESIDE = 2 };

static bool size_read(FILE *file, struct winsize *ret_size)
{
	return isatty(fileno(file)) && ioctl(fileno(file), TIOCGWINSZ, ret_size) == 0;
}

unsigned terminal_width(FILE *file)
{
	struct winsize size = { 0 };

	if (!size_read(file, &size))
		return 0;
	if (!size.ws_col)
		return WIDTH_OTHERWISE;
	return size.ws_col < WIDTH_LEAST ? WIDTH_LEAST : size.ws_col;
}

unsigned terminal_height(void)
{
	struct winsize size = { 0 };

	return size_read(stdout, &size) ? size.ws_row : 0;
}

const char *terminal_style(FILE *file, enum style style)
{
	static const char *const sequences[] = {
		[STYLE_NONE] = "\033[0m",  [STYLE_GOOD] = "\033[32m", [STYLE_BAD] = "\033[31m",
		[STYLE_BUSY] = "\033[33m", [STYLE_DIM] = "\033[2m",   [STYLE_BOLD] = "\033[1m",
	};
	const char *plain = getenv("NO_COLOR"), *kind = getenv("TERM");

	if ((plain && *plain) || (kind && strcmp(kind, "dumb") == 0) || !isatty(fileno(file)))
		return "";
	return sequences[style];
}

enum style state_style(const char *state)
{
	if (strcmp(state, "SUCCEEDED") == 0)
		return STYLE_GOOD;
	return strcmp(state, "FAILED") == 0 ? STYLE_BAD : STYLE_BUSY;
}

void duration_append(struct text *text, int64_t us)
{
	const int64_t s = us > 0 ? us / US_PER_S : 0;

	if (s < 60)
		text_printf(text, "%" PRId64 "s", s);
	else if (s < 600)
		text_printf(text, "%" PRId64 "m%02" PRId64 "s", s / 60, s % 60);
	else if (s < 3600)
		text_printf(text, "%" PRId64 "m", s / 60);
	else if (s < 36000)
		text_printf(text, "%" PRId64 "h%02" PRId64 "m", s / 3600, s % 3600 / 60);
	else if (s < 172800)
		text_printf(text, "%" PRId64 "h", s / 3600);
	else
		text_printf(text, "%" PRId64 "d", s / 86400);
}

void size_append(struct text *text, int64_t bytes)
{
	static const char *const units[] = { "KiB", "MiB", "GiB", "TiB" };
	double size = (double)bytes / 1024;
	size_t unit = 0;

	if (bytes < 1024) {
		text_printf(text, "%" PRId64 " B", bytes);
		return;
	}
	while (size >= 1023.95 && unit + 1 < sizeof(units) / sizeof(units[0])) {
		size /= 1024;
		unit++;
	}
	text_printf(text, "%.1f %s", size, units[unit]);
}

int64_t time_read(const char *time, int64_t otherwise)
{
	int64_t ns;

	return time && time_parse(time, &ns) ? ns / 1000 : otherwise;
}

void pull_append(struct text *text, const json_t *pull)
{
	enum { CELLS = 20 };
	const double all = (double)json_int_at(pull, "bytesTotal", 0);
	const double fetched = (double)json_int_at(pull, "bytesDone", 0);
	const double share = fetched < 0 ? 0 : fetched > all ? 1 : fetched / all;

	if (all <= 0)
		return;
	text_putc(text, '[');
	for (int i = 0; i < CELLS; i++)
		text_putc(text, i < (int)(share * CELLS) ? '#' : '-');
	text_printf(text, "] %d %% of ", (int)(share * 100));
	size_append(text, (int64_t)all);
}

void age_append(struct text *text, const char *time, int64_t now_us)
{
	if (time)
		duration_append(text, now_us - time_read(time, now_us));
	else
		text_puts(text, "-");
}

void moment_append(struct text *text, const char *time)
{
	const time_t s = time_read(time, 0) / US_PER_S;
	struct tm local;
	char moment[sizeof("2026-11-26 08:00:01") + 8];

	localtime_r(&s, &local);
	strftime(moment, sizeof(moment), "%Y-%m-%d %H:%M:%S", &local);
	text_puts(text, moment);
}

/* Characters that do not take one column: East Asian letters and emoji take two, accents that follow their letter take
 * none. In rising order. Source: Unicode 15, EastAsianWidth.txt (W and F) and DerivedGeneralCategory.txt (Mn and Me),
 * by blocks. Choice: other vowel signs are not listed. The C library's wcwidth() is not used, because it knows these
 * characters only in a locale that is installed. */
static const struct {
	uint32_t first, last;
	unsigned columns;
} wide_characters[] = {
	{ 0x0300, 0x036f, 0 },	 { 0x0483, 0x0489, 0 },	  { 0x0591, 0x05bd, 0 },   { 0x064b, 0x065f, 0 },
	{ 0x0e34, 0x0e3a, 0 },	 { 0x0e47, 0x0e4e, 0 },	  { 0x1100, 0x115f, 2 },   { 0x1ab0, 0x1aff, 0 },
	{ 0x1dc0, 0x1dff, 0 },	 { 0x200b, 0x200f, 0 },	  { 0x20d0, 0x20ff, 0 },   { 0x231a, 0x231b, 2 },
	{ 0x23e9, 0x23ec, 2 },	 { 0x23f0, 0x23f0, 2 },	  { 0x23f3, 0x23f3, 2 },   { 0x2614, 0x2615, 2 },
	{ 0x26a1, 0x26a1, 2 },	 { 0x2705, 0x2705, 2 },	  { 0x270a, 0x270b, 2 },   { 0x2728, 0x2728, 2 },
	{ 0x274c, 0x274c, 2 },	 { 0x274e, 0x274e, 2 },	  { 0x2753, 0x2757, 2 },   { 0x2795, 0x2797, 2 },
	{ 0x2b50, 0x2b55, 2 },	 { 0x2e80, 0x303e, 2 },	  { 0x3041, 0x3098, 2 },   { 0x3099, 0x309a, 0 },
	{ 0x309b, 0x4dbf, 2 },	 { 0x4e00, 0xa4cf, 2 },	  { 0xa960, 0xa97f, 2 },   { 0xac00, 0xd7a3, 2 },
	{ 0xf900, 0xfaff, 2 },	 { 0xfe00, 0xfe0f, 0 },	  { 0xfe10, 0xfe19, 2 },   { 0xfe20, 0xfe2f, 0 },
	{ 0xfe30, 0xfe6f, 2 },	 { 0xff01, 0xff60, 2 },	  { 0xffe0, 0xffe6, 2 },   { 0x16fe0, 0x18cff, 2 },
	{ 0x1b000, 0x1b2ff, 2 }, { 0x1f200, 0x1f265, 2 }, { 0x1f300, 0x1f64f, 2 }, { 0x1f680, 0x1f6ff, 2 },
	{ 0x1f900, 0x1faff, 2 }, { 0x20000, 0x3fffd, 2 }, { 0xe0100, 0xe01ef, 0 },
};

/* Returns the columns of the first character of valid UTF-8; *ret_bytes: its length. */
static unsigned character_columns(const char *text, size_t *ret_bytes)
{
	const unsigned char first = (unsigned char)*text;
	uint32_t letter = first < 0x80 ? first : first < 0xe0 ? first & 0x1f : first < 0xf0 ? first & 0xf : first & 0x7;
	size_t at = 1;

	for (; (text[at] & 0xc0) == 0x80; at++)
		letter = letter << 6 | (text[at] & 0x3f);
	*ret_bytes = at;
	for (size_t i = 0; i < sizeof(wide_characters) / sizeof(wide_characters[0]); i++)
		if (letter <= wide_characters[i].last)
			return letter >= wide_characters[i].first ? wide_characters[i].columns : 1;
	return 1;
}

/* Returns the length in bytes of the first characters that fit in @most columns; *ret_columns: how many they take. */
static size_t columns_end(const char *text, unsigned most, unsigned *ret_columns)
{
	size_t at = 0, bytes;

	for (*ret_columns = 0; text[at]; at += bytes) {
		const unsigned wide = character_columns(text + at, &bytes);

		if (*ret_columns + wide > most)
			break;
		*ret_columns += wide;
	}
	return at;
}

unsigned text_columns(const char *text)
{
	unsigned columns;

	columns_end(text, UINT_MAX, &columns);
	return columns;
}

void text_one_line(struct text *text, const char *reported, unsigned most)
{
	struct text clean AUTO_TEXT = { 0 };
	unsigned columns;

	text_clean(&clean, reported, strlen(reported));
	text_puts(&clean, "");
	text_make_harmless(clean.data);
	if (!most || text_columns(clean.data) <= most) {
		text_puts(text, clean.data);
		return;
	}
	text_append(text, clean.data, columns_end(clean.data, most - 1, &columns));
	text_puts(text, "…");
}

void words_wrap(struct text *text, const char *reported, unsigned indent, unsigned width)
{
	unsigned column = indent;

	while (*reported) {
		const size_t gap = strspn(reported, " \t"), length = strcspn(reported + gap, " \t\n");
		AUTO(string) char *word = memory_strndup(reported + gap, length);
		struct text clean AUTO_TEXT = { 0 };
		unsigned wide;

		text_one_line(&clean, word, 0);
		wide = text_columns(clean.data);
		if (width && column > indent && column + 1 + wide > width) {
			text_printf(text, "\n%*s", (int)indent, "");
			column = indent;
		}
		text_printf(text, "%s%s", column > indent && wide ? " " : "", clean.data);
		column += wide + (column > indent && wide);
		reported += gap + length;
		if (*reported == '\n') {
			while (*reported == '\n' || *reported == ' ')
				reported++;
			if (*reported)
				text_printf(text, "\n%*s", (int)indent, "");
			column = indent;
		}
	}
}

void text_wrap(struct text *text, const char *reported, unsigned indent)
{
	words_wrap(text, reported, indent, terminal_width(stdout));
}

void sentence_print(FILE *file, const char *format, ...)
{
	const unsigned width = terminal_width(file);
	struct text wrapped AUTO_TEXT = { 0 };
	va_list values;

	va_start(values, format);
	AUTO(string) char *line = memory_vprintf(format, values);
	va_end(values);
	if (width)
		words_wrap(&wrapped, line, 0, width);
	fprintf(file, "%s\n", wrapped.length ? wrapped.data : line);
}

static bool progress_is_shown;

void error_line_print(const char *words)
{
	if (progress_is_shown)
		progress_clear();
	sentence_print(stderr, "trainyard: %s", words);
}

bool terminal_agrees(const char *question)
{
	AUTO(string) char *line = memory_printf("%s [y/N]", question);
	struct text wrapped AUTO_TEXT = { 0 };
	char answer[8] = "";

	text_wrap(&wrapped, line, 0);
	printf("%s ", wrapped.data);
	fflush(stdout);
	if (fgets(answer, sizeof(answer), stdin))
		return answer[0] == 'y' || answer[0] == 'Y';
	putchar('\n'); /* the end of the input leaves the cursor behind the question */
	fflush(stdout);
	return false;
}

void screen_draw(struct text *text, bool whole)
{
	const unsigned height = terminal_height();
	unsigned rows = 0;

	for (char *at = text->data; height && !whole && at && *at; at++)
		if (*at == '\n' && ++rows + ROWS_BESIDE > height) {
			text->length = (size_t)(at + 1 - text->data);
			*++at = '\0';
			break;
		}
	fputs(height ? "\033[H\033[J" : "", stdout);
	fwrite(text->data ? text->data : "", 1, text->length, stdout);
	fflush(stdout);
}

void progress_show(const char *format, ...)
{
	const unsigned width = terminal_width(stderr);
	struct text line AUTO_TEXT = { 0 };
	va_list values;

	if (!width)
		return;
	va_start(values, format);
	AUTO(string) char *reported = memory_vprintf(format, values);
	va_end(values);
	text_one_line(&line, reported, width - 1);
	fprintf(stderr, "\r\033[K%s", line.data);
	progress_is_shown = true;
	fflush(stderr);
}

void progress_clear(void)
{
	if (terminal_width(stderr))
		fputs("\r\033[K", stderr);
	progress_is_shown = false;
}
