/* SPDX-License-Identifier: Apache-2.0 */
#include "api/emulator/shell_session.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/memory.h"

enum { PIECE_BYTES = 4096 }; /* typed at once: between two, an end is noticed */

struct shell_session {
	struct shell_sessions *sessions;
	struct replica_key replica;
	char id[SESSION_ID_MAX + 1];
	struct shell_terminal *terminal; /* NULL until it is started */
	unsigned holds;
	atomic_bool ended;
	pthread_mutex_t typing;
};

struct shell_sessions {
	pthread_mutex_t lock; /* for the places, and for terminal and holds of each session */
	struct shell_session *places[SESSIONS_MAX];
};

struct shell_sessions *shell_sessions_new(void)
{
	struct shell_sessions *sessions = memory_calloc(1, sizeof(*sessions));

	pthread_mutex_init(&sessions->lock, NULL);
	return sessions;
}

void shell_sessions_free(struct shell_sessions *sessions)
{
	if (!sessions)
		return;
	pthread_mutex_destroy(&sessions->lock);
	free(sessions);
}

static bool id_valid(const char *id)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
	const size_t length = strlen(id);

	return length > 0 && length <= SESSION_ID_MAX && strspn(id, allowed) == length;
}

static struct shell_session *session_new(struct shell_sessions *sessions, const struct replica_key *replica,
					 const char *id)
{
	struct shell_session *session = memory_calloc(1, sizeof(*session));

	session->sessions = sessions;
	session->replica = *replica;
	strncpy(session->id, id, SESSION_ID_MAX);
	session->holds = 1;
	pthread_mutex_init(&session->typing, NULL);
	return session;
}

static void session_free(struct shell_session *session)
{
	if (session->terminal)
		session->terminal->ops->close(session->terminal);
	pthread_mutex_destroy(&session->typing);
	free(session);
}

/* Under the lock. */
static enum status place_find(struct shell_sessions *sessions, const struct replica_key *replica,
			      const char *id, struct shell_session ***ret_place, struct error *err)
{
	struct shell_session **free_place = NULL;
	unsigned of_replica = 0;

	for (size_t i = 0; i < SESSIONS_MAX; i++) {
		struct shell_session **place = &sessions->places[i];

		if (!*place) {
			free_place = place;
			continue;
		}
		if (!replica_keys_equal(&(*place)->replica, replica))
			continue;
		of_replica++;
		if (strcmp((*place)->id, id) == 0)
			return error_set(err, STATUS_ALREADY_EXISTS, NULL,
					 "A terminal session with this id is open already.");
	}
	if (of_replica >= SESSIONS_PER_REPLICA)
		return error_set(err, STATUS_RESOURCE_EXHAUSTED, NULL,
				 "This replica has %d terminal sessions already: end one of them first.",
				 SESSIONS_PER_REPLICA);
	if (!free_place)
		return error_set(err, STATUS_RESOURCE_EXHAUSTED, NULL,
				 "There are %d terminal sessions already: end one of them first.",
				 SESSIONS_MAX);
	*ret_place = free_place;
	return STATUS_OK;
}

enum status shell_session_begin(struct shell_sessions *sessions, const struct replica_key *replica,
				const char *id, struct shell_session **ret_session, struct error *err)
{
	struct shell_session **place = NULL;
	enum status rc;

	if (!id_valid(id))
		return error_set(
			err, STATUS_INVALID_ARGUMENT, "session",
			"A session's id is 1 to %d letters, digits, dashes and underscores, chosen at random.",
			SESSION_ID_MAX);
	pthread_mutex_lock(&sessions->lock);
	rc = place_find(sessions, replica, id, &place, err);
	if (!rc) {
		*place = session_new(sessions, replica, id);
		*ret_session = *place;
	}
	pthread_mutex_unlock(&sessions->lock);
	return rc;
}

void shell_session_start(struct shell_session *session, struct shell_terminal *terminal)
{
	pthread_mutex_lock(&session->sessions->lock);
	session->terminal = terminal;
	pthread_mutex_unlock(&session->sessions->lock);
}

/* May come twice. */
static void session_leave(struct shell_session *session)
{
	struct shell_sessions *sessions = session->sessions;

	atomic_store(&session->ended, true);
	pthread_mutex_lock(&sessions->lock);
	for (size_t i = 0; i < SESSIONS_MAX; i++)
		if (sessions->places[i] == session)
			sessions->places[i] = NULL;
	pthread_mutex_unlock(&sessions->lock);
}

ssize_t shell_session_read(struct shell_session *session, char *buffer, size_t size, unsigned timeout_ms)
{
	ssize_t got = session->terminal->ops->read(session->terminal, buffer, size, timeout_ms);

	if (got < 0)
		session_leave(session);
	return got;
}

void shell_session_end(struct shell_session *session)
{
	session_leave(session);
	shell_session_release(session);
}

int shell_session_exit_code(const struct shell_session *session)
{
	return session->terminal->ops->exit_code(session->terminal);
}

/* @replica: NULL: any. */
static struct shell_session *session_look(struct shell_sessions *sessions, const struct replica_key *replica,
					  const char *id)
{
	struct shell_session *found = NULL;

	pthread_mutex_lock(&sessions->lock);
	for (size_t i = 0; i < SESSIONS_MAX && !found; i++) {
		struct shell_session *session = sessions->places[i];

		if (session && session->terminal && strcmp(session->id, id) == 0 &&
		    (!replica || replica_keys_equal(&session->replica, replica)))
			found = session;
	}
	if (found)
		found->holds++;
	pthread_mutex_unlock(&sessions->lock);
	return found;
}

struct shell_session *shell_session_hold(struct shell_sessions *sessions, const struct replica_key *replica,
					 const char *id)
{
	return session_look(sessions, replica, id);
}

struct shell_session *shell_session_find(struct shell_sessions *sessions, const char *id)
{
	return session_look(sessions, NULL, id);
}

void shell_session_release(struct shell_session *session)
{
	bool last;

	pthread_mutex_lock(&session->sessions->lock);
	last = --session->holds == 0;
	pthread_mutex_unlock(&session->sessions->lock);
	if (last)
		session_free(session);
}

bool shell_session_type(struct shell_session *session, const char *data, size_t length)
{
	struct shell_terminal *terminal = session->terminal;
	bool taken = true;

	pthread_mutex_lock(&session->typing);
	while (taken && length) {
		size_t piece = length < PIECE_BYTES ? length : PIECE_BYTES;

		taken = !atomic_load(&session->ended) && terminal->ops->write(terminal, data, piece);
		data += piece;
		length -= piece;
	}
	pthread_mutex_unlock(&session->typing);
	return taken;
}

void shell_session_end_input(struct shell_session *session)
{
	pthread_mutex_lock(&session->typing);
	if (!atomic_load(&session->ended))
		session->terminal->ops->end_input(session->terminal);
	pthread_mutex_unlock(&session->typing);
}

void shell_session_resize(struct shell_session *session, unsigned columns, unsigned rows)
{
	pthread_mutex_lock(&session->typing);
	session->terminal->ops->resize(session->terminal, columns, rows);
	pthread_mutex_unlock(&session->typing);
}
