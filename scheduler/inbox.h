/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/inbox.h: what other threads tell the scheduler, copied on its way. */
#include "scheduler/engine/engine.h"
#include "scheduler/plan/host.h"

struct scheduler;

enum inbox_event_kind {
	INBOX_WAKE,        /* a job was stored or changed by a client */
	INBOX_ENGINE,      /* the engine said something */
	INBOX_LOGS_STORED, /* a replica's output can be read */
	INBOX_LAST_WORDS,  /* a job's last service lines can be read */
	INBOX_LOG_ROOM,    /* the log takes lines again */
	INBOX_SUGGESTED,   /* what a tuning job tries next was thought out */
	INBOX_FAULTS,      /* rules of ordered faults may hit the job; 0: any */
	INBOX_CLOUD_TRIED, /* a program called a host of the cloud's: event.text */
	INBOX_CALL_FAILED, /* such a call was not handed on: event.text, detail */
};

/* Something that happened on another thread; owns what it points to. */
struct inbox_event {
	enum inbox_event_kind kind;
	int64_t job;
	struct replica_key key;    /* LOGS_STORED */
	struct engine_event event; /* ENGINE */
	struct host host;          /* event.host is this one */
	char *detail;              /* CALL_FAILED */
	struct scheduler *to;      /* for inbox_event_deliver() */
	struct inbox_event *next;
};

/* Thread: any. Takes @inbox_event. */
void scheduler_post(struct scheduler *scheduler, struct inbox_event *inbox_event);
struct inbox_event *inbox_event_new(enum inbox_event_kind kind, int64_t job);
struct inbox_event *inbox_event_of_engine(const struct engine_event *event);
void inbox_event_free(struct inbox_event *inbox_event);
/* Posts an event to its scheduler: a callback for others' threads. */
void inbox_event_deliver(void *inbox_event);
