/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/emulator/shell_session.h: the terminals that are open now, each known by its replica and an id that its
 * client chose. In memory only. Thread: any.
 *
 * The request that streams a session's output owns it: it begins, starts, reads and ends it. Other requests find it by
 * name, hold it while they send input, and release it; the last release closes the terminal. */
#include "api/emulator/shell_terminal.h"
#include "daemon/base/cleanup.h"
#include "daemon/base/error.h"

enum { SESSIONS_PER_REPLICA = 4, SESSIONS_MAX = 64, SESSION_ID_MAX = 64 };

struct shell_session;
struct shell_sessions;

struct shell_sessions *shell_sessions_new(void);
/* When no session is left. NULL is harmless. */
void shell_sessions_free(struct shell_sessions *sessions);

/* Takes a place under @id; nobody finds the session before it is started. What is returned is ended by
 * shell_session_end(). Outcomes: INVALID_ARGUMENT: @id is not 1 to 64 letters, digits, "-" and "_";
 * ALREADY_EXISTS; RESOURCE_EXHAUSTED. */
enum status shell_session_begin(struct shell_sessions *sessions, const struct replica_key *replica,
				const char *id, struct shell_session **ret_session, struct error *err);
/* From now on the terminal is the session's. */
void shell_session_start(struct shell_session *session, struct shell_terminal *terminal);
/* As the terminal's own read; once it is over nobody finds the session any more. Only by the owner. */
ssize_t shell_session_read(struct shell_session *session, char *buffer, size_t size, unsigned timeout_ms);
/* The session can no longer be found; a request that sends input gets an error. Gives up the owner's hold. */
void shell_session_end(struct shell_session *session);
DEFINE_AUTO(session_owner, struct shell_session *, shell_session_end)

/* How its program ended, once reading is over; -1: not known. Only by the owner. */
int shell_session_exit_code(const struct shell_session *session);

/* The one with this id, whatever replica it is of; NULL when there is none. */
struct shell_session *shell_session_find(struct shell_sessions *sessions, const char *id);
/* NULL when there is none. */
struct shell_session *shell_session_hold(struct shell_sessions *sessions, const struct replica_key *replica,
					 const char *id);
void shell_session_release(struct shell_session *session);
DEFINE_AUTO(session_hold, struct shell_session *, shell_session_release)
/* One after the other. False: it is over. */
bool shell_session_type(struct shell_session *session, const char *data, size_t length);
/* Nothing more is typed; its program reads the end. */
void shell_session_end_input(struct shell_session *session);
void shell_session_resize(struct shell_session *session, unsigned columns, unsigned rows);
