/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/objects/live_sessions.h: the resumable sessions that this process has in memory, because it has written to
 * them. Thread: any, for every function. */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/objects/blob_writer.h"
#include "store/objects/objects.h"

/* A session that this process has written to. */
struct live_session {
	struct live_session *next;
	char id[SESSION_ID_SIZE];
	unsigned references; /* under the lock of the list */
	/* guarded by the list's lock; true: removed from the list, and freed with the last reference */
	bool ended;
	int64_t created_us;
	pthread_mutex_t lock; /* guards the members below */
	uint64_t turn;        /* the number of the latest upload; only that one may write */
	bool is_known;        /* the writer is set up */
	bool has_object;      /* the file belongs to an object now */
	struct blob_writer writer;
};

struct live_sessions {
	pthread_mutex_t lock;
	struct live_session *first;
};

/* Finds the session in the list, or adds it; the caller must call live_session_leave(). */
struct live_session *live_session_enter(struct live_sessions *sessions, const char *id);
/* Ends the session: its row was deleted or has its object. */
void live_session_end(struct live_sessions *sessions, struct live_session *session);
/* Gives a reference back. */
void live_session_leave(struct live_sessions *sessions, struct live_session *session);
/* Ends idle sessions that began before that time. */
void live_sessions_expire(struct live_sessions *sessions, int64_t before_us);
/* To be called when no call is running. The bytes stay in the files. */
void live_sessions_forget(struct live_sessions *sessions);
