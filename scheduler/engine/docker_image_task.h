/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_image_task.h: the steps by which an engine gets an image: docker_image.c looks for it, also
 * in the other engines; docker_image_pull.c pulls it; docker_image_copy.c copies it. Each step ends the task, or begins
 * the next one. Thread: the engine's. */
#include "scheduler/engine/docker_credentials.h"
#include "scheduler/engine/docker_handover.h"
#include "scheduler/engine/docker_progress.h"

/* The search for an image, and its pull or copy. There is one task per image, however many requests wait for it. */
struct image_task {
	struct image_task *next;
	struct docker *docker;
	char *image;
	struct image_reference reference;
	struct progress progress;
	int64_t logged_us;
	void (*look)(struct image_task *task); /* looks for the image in this engine, once more */
	bool pulled;
	struct {
		bool is_over;
		unsigned number, awaited; /* number of the search; how many engines have not answered */
		struct timer timer;       /* the end of the search, or the next try after a copy that failed */
		/* The engine to copy from: @engine is only for group_origin(). NULL: no other engine has the image. */
		void *engine;
		struct image_seen seen;
		bool is_current; /* another engine has the image @own itself, not a copy: @own is not too old */
	} search;
	struct image_seen own; /* this engine's copy, which may be too old; without id: none */
	struct handover copy;
	unsigned copies; /* how many copies were begun */
	bool copied;
	/* The thread that finds the registry's credentials, or copies. The engine's thread reads the results only after
	 * joining it. */
	pthread_t thread;
	bool thread_runs;
	struct command *found; /* the command that the thread posts at its end; made before the thread, so that its end
			        * is always reported */
	int stop_fd;
	char *registry_auth;
	struct error problem;
	struct {
		enum status status;
		char text[2 * DOCKER_TEXT_SIZE + REFERENCE_SIZE];
	} failure; /* the last pull's or copy's failure */
};

/* Returns the task of the image; NULL: there is none. */
struct image_task *image_task_find(const struct docker *docker, const char *image);
void image_task_free(struct image_task *task);
/* Both report the outcome, and free the task. */
void image_task_end(struct image_task *task, enum engine_event_kind kind, enum status status, const char *text);
void image_task_fail(struct image_task *task, enum status status, const char *text);
/* Starts a thread that ends with docker_hand_over() of task->found, which executes @then; @then calls
 * image_thread_join(). False: no thread can be started. */
bool image_thread_start(struct image_task *task, void *(*main)(void *arg),
			void (*then)(struct docker *docker, struct command *command));
void image_thread_join(struct image_task *task);
/* Pulls the image, or tells why it is not pulled. */
void image_pull(struct image_task *task);
/* Copies the image from search.engine, and then looks for it. */
void image_copy(struct image_task *task);
/* Marks the image that @seen describes as a copy, and ends the task. */
void image_copy_mark(struct image_task *task, const struct image_seen *seen);
