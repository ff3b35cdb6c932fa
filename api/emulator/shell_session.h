/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/emulator/shell_session.h: the open terminals, each identified by its replica and an id that its client chose. In
 * memory only. Thread: any.
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
/* To be called when no session is left. NULL is harmless. */
void shell_sessions_free(struct shell_sessions *sessions);

/* Reserves @id; the session cannot be found before it is started. To be ended by shell_session_end(). Outcomes:
 * INVALID_ARGUMENT: @id is not 1 to 64 letters, digits, "-" and "_"; ALREADY_EXISTS; RESOURCE_EXHAUSTED. */
enum status shell_session_begin(struct shell_sessions *sessions, const struct replica_key *replica,
				const char *id, struct shell_session **ret_session, struct error *err);
/* Gives the terminal to the session. */
void shell_session_start(struct shell_session *session, struct shell_terminal *terminal);
/* Reads like the terminal; after its end the session can no longer be found. Only for the owner. */
ssize_t shell_session_read(struct shell_session *session, char *buffer, size_t size, unsigned timeout_ms);
/* Removes the session, so that requests that send input get an error, and releases the owner's hold. */
void shell_session_end(struct shell_session *session);
DEFINE_AUTO(session_owner, struct shell_session *, shell_session_end)

/* The exit code of its program, after the end of its output; -1: unknown. Only for the owner. */
int shell_session_exit_code(const struct shell_session *session);

/* The session with this id, of any replica; NULL: none. */
struct shell_session *shell_session_find(struct shell_sessions *sessions, const char *id);
/* NULL: there is none. */
struct shell_session *shell_session_hold(struct shell_sessions *sessions, const struct replica_key *replica,
					 const char *id);
void shell_session_release(struct shell_session *session);
DEFINE_AUTO(session_hold, struct shell_session *, shell_session_release)
/* Sends input; several callers wait for each other. False: the program has ended. */
bool shell_session_type(struct shell_session *session, const char *data, size_t length);
/* Ends the input; the program reads end-of-file. */
void shell_session_end_input(struct shell_session *session);
void shell_session_resize(struct shell_session *session, unsigned columns, unsigned rows);
