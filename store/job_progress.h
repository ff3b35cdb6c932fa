/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/job_progress.h: the progress of unfinished jobs: the last line of their log, and how far their image is pulled.
 *
 * Kept in memory only, for the PROGRESS_JOBS jobs with the latest news; a reader that finds no line reads the log. The log
 * writer and the scheduler add to it. Each piece of news has a sequence number, from 1. Thread: any, for all
 * functions. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/cleanup.h"

enum { PROGRESS_JOBS = 256, PROGRESS_LINE_BYTES = 200, PROGRESS_IMAGE_BYTES = 255 };

struct job_progress {
	uint64_t news;                        /* sequence number of the last news */
	char line[PROGRESS_LINE_BYTES + 1];   /* "": none */
	char image[PROGRESS_IMAGE_BYTES + 1]; /* the image that is being pulled; "": none */
	int64_t pulled_bytes, image_bytes;    /* image_bytes: 0: not known yet */
};

struct progress_board;

struct progress_board *progress_board_new(void);
void progress_board_free(struct progress_board *board);
DEFINE_AUTO(progress_board, struct progress_board *, progress_board_free)

/* Stores the last line of an entry's text, cut to PROGRESS_LINE_BYTES; of a progress bar with carriage returns, its
 * last state. A text of white space changes nothing. */
void progress_line_set(struct progress_board *board, int64_t job, const char *text, size_t length);
/* Stores a line that was read from the log, unless a newer one was set meanwhile; readers get no news. A text of
 * white space means that the job has no line yet. */
void progress_line_found(struct progress_board *board, int64_t job, const char *text, size_t length);

struct image_pull {
	const char *image;
	int64_t pulled_bytes, image_bytes;
};
/* Stores how far an image is pulled. If a job has several pulls, the one with most bytes left is stored. */
void progress_pull_set(struct progress_board *board, int64_t job, const struct image_pull *pull);
/* Removes the finished pull of @image from all jobs. */
void progress_pull_end(struct progress_board *board, const char *image);

/* Reads the progress of a job. False: there is no progress of the job. */
bool progress_get(struct progress_board *board, int64_t job, struct job_progress *ret_progress);
/* Returns the sequence number of the last news of any job; 0: there was none. */
uint64_t progress_last(struct progress_board *board);
