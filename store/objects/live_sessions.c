/* SPDX-License-Identifier: Apache-2.0 */
#include "store/objects/live_sessions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/memory.h"

static void live_session_free(struct live_session *session)
{
	/* The session was cancelled, but a request that ran at that moment may have made its file again. */
	if (session->is_known && session->ended && !session->has_object)
		blob_writer_discard(&session->writer);
	else if (session->is_known)
		blob_writer_rest(&session->writer, NULL);
	pthread_mutex_destroy(&session->lock);
	free(session);
}

static struct live_session **place_of(struct live_sessions *sessions, const char *id)
{
	struct live_session **place = &sessions->first;

	while (*place && strcmp((*place)->id, id) != 0)
		place = &(*place)->next;
	return place;
}

static struct live_session *live_session_new(const char *id)
{
	struct live_session *session = memory_calloc(1, sizeof(*session));

	snprintf(session->id, sizeof(session->id), "%s", id);
	pthread_mutex_init(&session->lock, NULL);
	return session;
}

struct live_session *live_session_enter(struct live_sessions *sessions, const char *id)
{
	struct live_session **place;
	struct live_session *session;

	pthread_mutex_lock(&sessions->lock);
	place = place_of(sessions, id);
	if (!*place)
		*place = live_session_new(id);
	session = *place;
	session->references++;
	pthread_mutex_unlock(&sessions->lock);
	return session;
}

void live_session_leave(struct live_sessions *sessions, struct live_session *session)
{
	bool last;

	pthread_mutex_lock(&sessions->lock);
	last = --session->references == 0 && session->ended;
	pthread_mutex_unlock(&sessions->lock);
	if (last)
		live_session_free(session);
}

/* Removes the session from the list. Call with the lock held. */
static void list_remove(struct live_sessions *sessions, struct live_session *session)
{
	struct live_session **place = place_of(sessions, session->id);

	if (*place == session)
		*place = session->next;
	session->next = NULL;
	session->ended = true;
}

void live_session_end(struct live_sessions *sessions, struct live_session *session)
{
	pthread_mutex_lock(&sessions->lock);
	list_remove(sessions, session);
	pthread_mutex_unlock(&sessions->lock);
	pthread_mutex_lock(&session->lock);
	session->turn++;
	pthread_mutex_unlock(&session->lock);
}

void live_sessions_forget(struct live_sessions *sessions)
{
	while (sessions->first) {
		struct live_session *session = sessions->first;

		sessions->first = session->next;
		live_session_free(session);
	}
}

void live_sessions_expire(struct live_sessions *sessions, int64_t before_us)
{
	struct live_session **place = &sessions->first;

	pthread_mutex_lock(&sessions->lock);
	while (*place) {
		struct live_session *session = *place;

		if (session->references == 0 && session->created_us < before_us) {
			*place = session->next;
			live_session_free(session);
		} else {
			place = &session->next;
		}
	}
	pthread_mutex_unlock(&sessions->lock);
}
