/* SPDX-License-Identifier: Apache-2.0 */
#include "api/emulator/shell_session.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon/base/clock.h"
#include "daemon/base/log.h"
#include "daemon/base/memory.h"
#include "scheduler/plan/plan.h"

enum {
	/* largest piece written at once; the end of the session is noticed between two pieces */
	PIECE_BYTES = 4096,
	KEPT_BYTES = 256 * 1024, /* bytes of output that are kept for a reader that has lost its connection */
};

struct shell_session {
	struct shell_sessions *sessions;
	struct replica_key replica;
	char id[SESSION_ID_MAX + 1];
	struct shell_terminal *terminal; /* NULL until it is started */
	unsigned holds;
	unsigned keep_s;       /* how long the session lives without a reader; 0: it ends with its reader */
	unsigned reader;       /* the number of the present reader */
	bool is_left;          /* the session has no reader; the last reader's hold is kept */
	int64_t left_until_us; /* by system_clock, not by the emulated clock */
	atomic_bool ended;
	/* held while the terminal's output is read; guards kept and printed */
	pthread_mutex_t reading;
	char *kept;              /* byte N of the output is at N % KEPT_BYTES; NULL: keep_s is 0 */
	uint64_t printed;        /* bytes of the output that were read */
	pthread_mutex_t typing;  /* held while input is written to the terminal; guards typed */
	uint64_t typed;          /* bytes of the input that were taken */
};

struct shell_sessions {
	/* guards the members below, and the members of each session from terminal to left_until_us */
	pthread_mutex_t lock;
	struct shell_session *places[SESSIONS_MAX];
	pthread_cond_t left; /* a session was left, or the end has come */
	pthread_t keeper;    /* ends sessions that were left for too long */
	bool keeper_runs, closing;
};

struct shell_sessions *shell_sessions_new(void)
{
	struct shell_sessions *sessions = memory_calloc(1, sizeof(*sessions));

	pthread_condattr_t monotonic;

	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&sessions->left, &monotonic);
	pthread_condattr_destroy(&monotonic);
	pthread_mutex_init(&sessions->lock, NULL);
	return sessions;
}

static bool id_valid(const char *id)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
	const size_t length = strlen(id);

	return length > 0 && length <= SESSION_ID_MAX && strspn(id, allowed) == length;
}

static struct shell_session *session_new(struct shell_sessions *sessions, const struct replica_key *replica,
					 const char *id, unsigned keep_s)
{
	struct shell_session *session = memory_calloc(1, sizeof(*session));

	session->sessions = sessions;
	session->replica = *replica;
	strncpy(session->id, id, SESSION_ID_MAX);
	session->holds = 1;
	session->keep_s = keep_s;
	session->kept = keep_s ? memory_calloc(1, KEPT_BYTES) : NULL;
	pthread_mutex_init(&session->reading, NULL);
	pthread_mutex_init(&session->typing, NULL);
	return session;
}

static void session_free(struct shell_session *session)
{
	if (session->terminal) {
		session->terminal->ops->close(session->terminal);
		log_event(LOG_INFO, "shell-ended", "job=%" PRId64 " replica=%s-%u", session->replica.job,
			  role_name(session->replica.role), session->replica.index);
	}
	free(session->kept);
	pthread_mutex_destroy(&session->reading);
	pthread_mutex_destroy(&session->typing);
	free(session);
}

/* Finds a free slot for a new session. Call with the lock held. */
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
		of_replica += replica_keys_equal(&(*place)->replica, replica);
		/* An id is used once only, even for different replicas. */
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
				const char *id, unsigned keep_s, struct shell_session **ret_session,
				struct error *err)
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
		*place = session_new(sessions, replica, id, keep_s);
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
	log_event(LOG_INFO, "shell-opened", "job=%" PRId64 " replica=%s-%u", session->replica.job,
		  role_name(session->replica.role), session->replica.index);
}

/* Removes the session from the table, so that no request finds it. May be called twice. */
static void session_remove(struct shell_session *session)
{
	struct shell_sessions *sessions = session->sessions;

	atomic_store(&session->ended, true);
	pthread_mutex_lock(&sessions->lock);
	for (size_t i = 0; i < SESSIONS_MAX; i++)
		if (sessions->places[i] == session)
			sessions->places[i] = NULL;
	pthread_mutex_unlock(&sessions->lock);
}

void shell_session_end(struct shell_session *session)
{
	session_remove(session);
	shell_session_release(session);
}

const struct replica_key *shell_session_replica(const struct shell_session *session)
{
	return &session->replica;
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

/* ---- output ---- */

static bool is_present(const struct shell_reader *reader)
{
	struct shell_sessions *sessions = reader->session->sessions;
	bool present;

	pthread_mutex_lock(&sessions->lock);
	present = reader->session->reader == reader->number;
	pthread_mutex_unlock(&sessions->lock);
	return present;
}

/* Copies the next bytes that were printed before. Call this and output_keep() with the lock `reading` held. */
static size_t kept_read(struct shell_reader *reader, char *buffer, size_t size)
{
	const struct shell_session *session = reader->session;
	const size_t from = reader->at % KEPT_BYTES, behind = session->printed - reader->at;
	size_t length = behind < size ? behind : size;

	if (length > KEPT_BYTES - from)
		length = KEPT_BYTES - from;
	memcpy(buffer, session->kept + from, length);
	return length;
}

static void output_keep(struct shell_session *session, const char *data, size_t length)
{
	for (size_t done = 0, piece; session->kept && done < length; done += piece) {
		const size_t to = (session->printed + done) % KEPT_BYTES;

		piece = length - done < KEPT_BYTES - to ? length - done : KEPT_BYTES - to;
		memcpy(session->kept + to, data + done, piece);
	}
	session->printed += length;
}

ssize_t shell_reader_read(struct shell_reader *reader, char *buffer, size_t size, unsigned timeout_ms)
{
	struct shell_session *session = reader->session;
	ssize_t got = -1;

	pthread_mutex_lock(&session->reading);
	if (is_present(reader) && reader->at < session->printed) {
		got = (ssize_t)kept_read(reader, buffer, size);
	} else if (is_present(reader) && !atomic_load(&session->ended)) {
		got = session->terminal->ops->read(session->terminal, buffer, size, timeout_ms);
		if (got > 0)
			output_keep(session, buffer, (size_t)got);
	}
	if (got > 0)
		reader->at += (size_t)got;
	pthread_mutex_unlock(&session->reading);
	if (got < 0 && is_present(reader))
		session_remove(session);
	return got;
}

/* Sets where the reader begins: at byte @at, or at the first byte that is kept. */
static void reader_place(struct shell_reader *reader, uint64_t at)
{
	struct shell_session *session = reader->session;

	pthread_mutex_lock(&session->reading);
	if (at > session->printed)
		at = session->printed;
	if (session->printed - at > KEPT_BYTES)
		at = session->printed - KEPT_BYTES;
	reader->at = at;
	pthread_mutex_unlock(&session->reading);
}

bool shell_session_resume(struct shell_sessions *sessions, const char *id, uint64_t at,
			  struct shell_reader *ret_reader)
{
	struct shell_session *session = session_look(sessions, NULL, id);
	bool ended;

	if (!session)
		return false;
	pthread_mutex_lock(&sessions->lock);
	ended = atomic_load(&session->ended) || !session->keep_s;
	if (!ended) {
		*ret_reader = (struct shell_reader){ session, .number = ++session->reader };
		session->holds -= session->is_left; /* the session now belongs to this reader */
		session->is_left = false;
	}
	pthread_mutex_unlock(&sessions->lock);
	if (ended)
		shell_session_release(session);
	else
		reader_place(ret_reader, at);
	return !ended;
}

/* ---- sessions without a reader ---- */

/* Takes all sessions that were left for too long, with their holds. Call with the lock held. Returns their number;
 * *ret_next_us: when the next session will be overdue, or INT64_MAX. */
static size_t overdue_take(struct shell_sessions *sessions, struct shell_session *overdue[SESSIONS_MAX],
			   int64_t *ret_next_us)
{
	const int64_t now_us = clock_mono_us(&system_clock);
	size_t count = 0;

	*ret_next_us = INT64_MAX;
	for (size_t i = 0; i < SESSIONS_MAX; i++) {
		struct shell_session *session = sessions->places[i];

		if (!session || !session->is_left)
			continue;
		if (sessions->closing || session->left_until_us <= now_us) {
			session->is_left = false;
			overdue[count++] = session;
		} else if (session->left_until_us < *ret_next_us) {
			*ret_next_us = session->left_until_us;
		}
	}
	return count;
}

static void *end_main(void *arg)
{
	shell_session_end(arg);
	return NULL;
}

/* Ends the sessions side by side: an engine that does not answer is waited for once, and not once for each. */
static void overdue_end(struct shell_session *const *overdue, size_t count)
{
	pthread_t threads[SESSIONS_MAX];
	bool runs[SESSIONS_MAX];

	for (size_t i = 0; i < count; i++)
		runs[i] = i + 1 < count && pthread_create(&threads[i], NULL, end_main, overdue[i]) == 0;
	for (size_t i = 0; i < count; i++)
		if (!runs[i])
			shell_session_end(overdue[i]);
	for (size_t i = 0; i < count; i++)
		if (runs[i])
			pthread_join(threads[i], NULL);
}

static void *keeper_main(void *arg)
{
	struct shell_sessions *sessions = arg;

	pthread_mutex_lock(&sessions->lock);
	for (;;) {
		struct shell_session *overdue[SESSIONS_MAX];
		int64_t next_us;
		const size_t count = overdue_take(sessions, overdue, &next_us);
		const struct timespec next = { .tv_sec = next_us / 1000000, .tv_nsec = next_us % 1000000 * 1000 };

		if (count) {
			pthread_mutex_unlock(&sessions->lock);
			overdue_end(overdue, count);
			pthread_mutex_lock(&sessions->lock);
		} else if (sessions->closing) {
			break;
		} else if (next_us == INT64_MAX) {
			pthread_cond_wait(&sessions->left, &sessions->lock);
		} else {
			pthread_cond_timedwait(&sessions->left, &sessions->lock, &next);
		}
	}
	pthread_mutex_unlock(&sessions->lock);
	return NULL;
}

void shell_sessions_free(struct shell_sessions *sessions)
{
	if (!sessions)
		return;
	pthread_mutex_lock(&sessions->lock);
	sessions->closing = true;
	pthread_cond_signal(&sessions->left);
	pthread_mutex_unlock(&sessions->lock);
	if (sessions->keeper_runs)
		pthread_join(sessions->keeper, NULL);
	pthread_cond_destroy(&sessions->left);
	pthread_mutex_destroy(&sessions->lock);
	free(sessions);
}

/* Starts the thread that ends sessions without a client, if it does not run yet. False: there is no such thread, so the session
 * must end now. Call with the lock held. */
static bool is_kept(struct shell_sessions *sessions)
{
	if (!sessions->keeper_runs && !sessions->closing)
		sessions->keeper_runs = pthread_create(&sessions->keeper, NULL, keeper_main, sessions) == 0;
	return sessions->keeper_runs && !sessions->closing;
}

void shell_reader_leave(struct shell_reader *reader)
{
	struct shell_session *session = reader->session;
	struct shell_sessions *sessions = session->sessions;
	bool goes_on;

	pthread_mutex_lock(&sessions->lock);
	goes_on = session->reader != reader->number;
	if (!goes_on && session->keep_s && !atomic_load(&session->ended) && is_kept(sessions)) {
		session->left_until_us = clock_mono_us(&system_clock) + (int64_t)session->keep_s * 1000000;
		session->is_left = true;
		session->holds++;
		pthread_cond_signal(&sessions->left);
		goes_on = true;
	}
	pthread_mutex_unlock(&sessions->lock);
	if (goes_on)
		shell_session_release(session);
	else
		shell_session_end(session);
}

void shell_session_stop(struct shell_session *session)
{
	struct shell_sessions *sessions = session->sessions;
	bool was_left;

	session_remove(session);
	pthread_mutex_lock(&sessions->lock);
	was_left = session->is_left;
	session->is_left = false;
	pthread_mutex_unlock(&sessions->lock);
	if (was_left)
		shell_session_release(session);
}

/* ---- input ---- */

bool shell_session_type(struct shell_session *session, int64_t at, const char *data, size_t length)
{
	struct shell_terminal *terminal = session->terminal;
	bool taken;

	pthread_mutex_lock(&session->typing);
	taken = at < 0 || (uint64_t)at <= session->typed;
	/* skip input that the session already has, so that a repeated request types nothing twice */
	if (taken && at >= 0) {
		const uint64_t behind = session->typed - (uint64_t)at, known = behind < length ? behind : length;

		data += known;
		length -= known;
	}
	while (taken && length) {
		size_t piece = length < PIECE_BYTES ? length : PIECE_BYTES;

		taken = !atomic_load(&session->ended) && terminal->ops->write(terminal, data, piece);
		session->typed += taken ? piece : 0;
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
