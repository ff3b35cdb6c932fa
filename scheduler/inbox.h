/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/inbox.h: what other threads tell the scheduler, copied on its way. */
#include "scheduler/engine/engine.h"
#include "scheduler/plan/host.h"

struct scheduler;

enum happening_kind {
	HAPPENED_WAKE,        /* a job was stored or changed by a client */
	HAPPENED_ENGINE,      /* the engine said something */
	HAPPENED_LOGS_STORED, /* a replica's output can be read */
	HAPPENED_LAST_WORDS,  /* a job's last service lines can be read */
	HAPPENED_LOG_ROOM,    /* the log takes lines again */
	HAPPENED_SUGGESTED,   /* what a tuning job tries next was thought out */
	HAPPENED_FAULTS,      /* rules of ordered faults may hit the job; 0: any */
	HAPPENED_CLOUD_TRIED, /* a program called a host of the cloud's: event.text */
};

/* Something that happened on another thread; owns what it points to. */
struct happening {
	enum happening_kind kind;
	int64_t job;
	struct replica_key key;    /* LOGS_STORED */
	struct engine_event event; /* ENGINE */
	struct host host;          /* event.host is this one */
	struct scheduler *to;      /* for happening_deliver() */
	struct happening *next;
};

/* Thread: any. Takes @happening. */
void scheduler_post(struct scheduler *scheduler, struct happening *happening);
struct happening *happening_new(enum happening_kind kind, int64_t job);
struct happening *happening_of_engine(const struct engine_event *event);
void happening_free(struct happening *happening);
/* Posts a happening to its scheduler: a callback for others' threads. */
void happening_deliver(void *happening);
