/* SPDX-License-Identifier: Apache-2.0 */
#include "store/job_progress.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/memory.h"

struct progress_board {
	pthread_mutex_t lock;
	uint64_t last;
	int64_t jobs[PROGRESS_JOBS];                  /* 0: free */
	struct job_progress *progress[PROGRESS_JOBS]; /* NULL: the slot was never used */
};

struct progress_board *progress_board_new(void)
{
	struct progress_board *board = memory_calloc(1, sizeof(*board));

	pthread_mutex_init(&board->lock, NULL);
	return board;
}

void progress_board_free(struct progress_board *board)
{
	if (!board)
		return;
	for (size_t i = 0; i < PROGRESS_JOBS; i++)
		free(board->progress[i]);
	pthread_mutex_destroy(&board->lock);
	free(board);
}

/* Call this and the functions below with the lock held. Returns the job's progress; NULL: there is none. */
static struct job_progress *progress_find(struct progress_board *board, int64_t job)
{
	for (size_t i = 0; i < PROGRESS_JOBS; i++)
		if (board->jobs[i] == job)
			return board->progress[i];
	return NULL;
}

/* Returns the job's progress, with a new slot if it has none; if all are taken, that of the job with the oldest
 * news. */
static struct job_progress *progress_of(struct progress_board *board, int64_t job)
{
	struct job_progress *progress = progress_find(board, job);
	size_t oldest = 0;

	if (progress)
		return progress;
	for (size_t i = 0; i < PROGRESS_JOBS && board->jobs[oldest]; i++)
		if (!board->jobs[i] || board->progress[i]->news < board->progress[oldest]->news)
			oldest = i;
	if (!board->progress[oldest])
		board->progress[oldest] = memory_alloc(sizeof(*progress));
	board->jobs[oldest] = job;
	progress = board->progress[oldest];
	*progress = (struct job_progress){ .news = board->last };
	return progress;
}

static bool is_white(char letter)
{
	return letter == ' ' || letter == '\t' || letter == '\r' || letter == '\n';
}

/* Copies the last line of the text, without white space around it. False: the text is only white space. */
static bool line_clip(const char *text, size_t length, char line[PROGRESS_LINE_BYTES + 1])
{
	size_t begin;

	while (length && is_white(text[length - 1]))
		length--;
	for (begin = length; begin && text[begin - 1] != '\n' && text[begin - 1] != '\r'; begin--)
		;
	text += begin;
	length -= begin;
	if (length > PROGRESS_LINE_BYTES) /* cuts between two characters */
		for (length = PROGRESS_LINE_BYTES; length && ((unsigned char)text[length] & 0xc0) == 0x80;)
			length--;
	memcpy(line, text, length);
	line[length] = '\0';
	return length > 0;
}

void progress_line_set(struct progress_board *board, int64_t job, const char *text, size_t length)
{
	char line[PROGRESS_LINE_BYTES + 1];
	struct job_progress *progress;

	if (!line_clip(text, length, line))
		return;
	pthread_mutex_lock(&board->lock);
	progress = progress_of(board, job);
	if (strcmp(progress->line, line) != 0) {
		memcpy(progress->line, line, sizeof(line));
		progress->news = ++board->last;
	}
	pthread_mutex_unlock(&board->lock);
}

void progress_line_found(struct progress_board *board, int64_t job, const char *text, size_t length)
{
	char line[PROGRESS_LINE_BYTES + 1];
	struct job_progress *progress;

	line_clip(text, length, line);
	pthread_mutex_lock(&board->lock);
	progress = progress_of(board, job);
	if (!progress->line[0])
		memcpy(progress->line, line, sizeof(line));
	pthread_mutex_unlock(&board->lock);
}

void progress_pull_set(struct progress_board *board, int64_t job, const struct image_pull *pull)
{
	struct job_progress *progress;

	pthread_mutex_lock(&board->lock);
	progress = progress_of(board, job);
	if (!progress->image[0] || strncmp(progress->image, pull->image, PROGRESS_IMAGE_BYTES) == 0 ||
	    pull->image_bytes - pull->pulled_bytes > progress->image_bytes - progress->pulled_bytes) {
		snprintf(progress->image, sizeof(progress->image), "%s", pull->image);
		progress->pulled_bytes = pull->pulled_bytes;
		progress->image_bytes = pull->image_bytes;
		progress->news = ++board->last;
	}
	pthread_mutex_unlock(&board->lock);
}

void progress_pull_end(struct progress_board *board, const char *image)
{
	pthread_mutex_lock(&board->lock);
	for (size_t i = 0; i < PROGRESS_JOBS; i++) {
		struct job_progress *progress = board->progress[i];

		if (!progress || !progress->image[0] || strncmp(progress->image, image, PROGRESS_IMAGE_BYTES) != 0)
			continue;
		progress->image[0] = '\0';
		progress->pulled_bytes = progress->image_bytes = 0;
		progress->news = ++board->last;
	}
	pthread_mutex_unlock(&board->lock);
}

bool progress_get(struct progress_board *board, int64_t job, struct job_progress *ret_progress)
{
	const struct job_progress *progress;

	pthread_mutex_lock(&board->lock);
	progress = progress_find(board, job);
	if (progress)
		*ret_progress = *progress;
	pthread_mutex_unlock(&board->lock);
	return progress != NULL;
}

uint64_t progress_last(struct progress_board *board)
{
	uint64_t last;

	pthread_mutex_lock(&board->lock);
	last = board->last;
	pthread_mutex_unlock(&board->lock);
	return last;
}
