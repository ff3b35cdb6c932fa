/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/inbox.h: messages of other threads to the scheduler; each is copied. */
#include "scheduler/engine/engine.h"
#include "scheduler/plan/host.h"

struct node;
struct scheduler;

enum inbox_event_kind {
	INBOX_WAKE,        /* a job was stored or changed by a client */
	INBOX_ENGINE,      /* an event of the engine */
	INBOX_NODE,        /* a node has joined */
	INBOX_NODE_GONE,   /* the swarm reports a node as down or drained */
	INBOX_NODE_BACK,   /* the swarm no longer reports the node as down or drained */
	INBOX_LOGS_STORED, /* all output of a replica can be read from the store */
	INBOX_LAST_WORDS,  /* the last service lines of a job can be read from the store */
	INBOX_LOG_ROOM,    /* the log store accepts lines again */
	INBOX_SUGGESTED,   /* the next trials of a tuning job were computed */
	INBOX_FAULTS,      /* fault rules have changed and may apply to the job; 0: to any job */
	INBOX_CLOUD_TRIED, /* a program called a host of the cloud: event.text */
	INBOX_CALL_FAILED, /* a call to a host of the cloud could not be forwarded: event.text, detail */
};

/* An event of another thread; owns what it points to. */
struct inbox_event {
	enum inbox_event_kind kind;
	int64_t job;
	struct replica_key key;    /* LOGS_STORED */
	struct node *node;         /* ENGINE: of its engine; NODE, NODE_GONE, NODE_BACK */
	struct engine_event event; /* ENGINE */
	struct host host;          /* event.host points to this one */
	char *detail;              /* CALL_FAILED */
	struct scheduler *to;      /* for inbox_event_deliver() */
	struct inbox_event *next;
};

/* Puts the event into the inbox. Takes ownership of @inbox_event. Thread: any. */
void scheduler_post(struct scheduler *scheduler, struct inbox_event *inbox_event);
struct inbox_event *inbox_event_new(enum inbox_event_kind kind, int64_t job);
struct inbox_event *inbox_event_of_engine(const struct engine_event *event);
void inbox_event_free(struct inbox_event *inbox_event);
/* Posts an event to its scheduler: a callback for other threads. */
void inbox_event_deliver(void *inbox_event);
