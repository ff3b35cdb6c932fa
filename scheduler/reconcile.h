/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/reconcile.h: the next step of a job, from what is wanted and what is seen. Pure.
 *
 * Starting a job, running it, ending it, and taking it up again after a crash are the same function:
 * it looks at the stored row and at the engine's containers, and never at what was done before.
 *
 *   wanted (row)                 seen (engine)                        step
 *   QUEUED                       -                                    none: queue.h admits it when there is room
 *   PREPARING                    image or network missing             FETCH
 *                                some replica missing                 CREATE, once the gateway's place is known
 *                                all created                          START
 *                                all started                          DECLARE_RUNNING
 *   RUNNING                      one lost, others live on             RESTART, then as above
 *   any of these                 an exit that decides                 JUDGE
 *                                a limit passed                       EXPIRE
 *   a verdict                    something still runs                 STOP
 *                                ended, its output stored             REMOVE
 *                                no reason told yet                   EXPLAIN
 *                                nothing runs, all output stored      LEAVE the network
 *                                no container left, try again         RETRY
 *                                no container left                    CLOSE
 *                                closed, network still there          LEAVE
 *                                nothing left                         FINISH
 */
#include <stdbool.h>
#include <stddef.h>

#include "scheduler/job_run.h"

enum step {
	STEP_NONE, /* wait for something to happen */
	STEP_FETCH,
	STEP_CREATE,
	STEP_START,
	STEP_DECLARE_RUNNING,
	STEP_RESTART,
	STEP_JUDGE,
	STEP_EXPIRE,
	STEP_STOP,
	STEP_REMOVE,
	STEP_EXPLAIN,
	STEP_RETRY,
	STEP_CLOSE,
	STEP_LEAVE,
	STEP_FINISH,
	STEP_COUNT
};

/* A job at a glance. */
struct job_view {
	enum job_state state, verdict;
	bool touched;           /* ever left QUEUED: the engine may have something of it */
	bool sighted;           /* what the engine has of it is known */
	bool expired;           /* a time limit has passed */
	bool decided;           /* the outcomes of its replicas, or a fault, decide it */
	bool restarts;          /* lost replicas are due to be started anew */
	bool explained;         /* its errorMessage is stored, or needs none */
	bool torn_down;         /* its last service lines are stored */
	bool last_words_stored; /* and can be read */
	bool images_ready, images_asked;
	enum network_sight network;
	bool gateway_awaited;        /* it may yet be opened */
	unsigned count[SIGHT_COUNT]; /* replicas by sight */
	unsigned missing;            /* not there, and not ended either: to be made */
	unsigned stoppable;          /* run, and were not asked to stop */
	unsigned removable;          /* ended with their output stored, or never started; not asked to go */
	unsigned unread;             /* output not stored yet */
	unsigned total;
};

enum step reconcile_next(const struct job_view *view);
const char *step_name(enum step step);
