/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/emulator/shell_session.h: the open terminals, each identified by an id that its client chose. In memory only.
 * Thread: any.
 *
 * The request that streams a session's output reads it. Other requests find it by name, hold it while they send input,
 * and release it; the last release closes the terminal.
 *
 * A session ends with its reader, or may go on without one for a time: its output stays in the terminal, its last
 * 256 KiB are kept, and another request reads on from a byte of it. A thread ends sessions that were left for longer. */
#include "api/emulator/shell_terminal.h"
#include "daemon/base/cleanup.h"
#include "daemon/base/error.h"

enum { SESSIONS_PER_REPLICA = 4, SESSIONS_MAX = 64, SESSION_ID_MAX = 64, SESSION_KEEP_MAX_S = 300 };

struct shell_session;
struct shell_sessions;

struct shell_sessions *shell_sessions_new(void);
/* Ends the sessions without a reader; there must be no others. NULL is harmless. */
void shell_sessions_free(struct shell_sessions *sessions);

/* Reserves @id; the session cannot be found before it is started. To be ended by shell_session_end() or, once it is
 * started, shell_reader_leave(). @keep_s: how long it goes on without a reader. Outcomes: INVALID_ARGUMENT: @id is not
 * 1 to 64 letters, digits, "-" and "_"; ALREADY_EXISTS; RESOURCE_EXHAUSTED. */
enum status shell_session_begin(struct shell_sessions *sessions, const struct replica_key *replica,
				const char *id, unsigned keep_s, struct shell_session **ret_session,
				struct error *err);
/* Gives the terminal to the session. */
void shell_session_start(struct shell_session *session, struct shell_terminal *terminal);
/* Removes the session, so that requests that send input get an error, and releases the hold of its begin. */
void shell_session_end(struct shell_session *session);
DEFINE_AUTO(session_owner, struct shell_session *, shell_session_end)

/* A request that reads. The one that began the session has the number 0. */
struct shell_reader {
	struct shell_session *session;
	unsigned number;
	uint64_t at; /* the next byte of the output */
};
/* Reads on from byte @at, or from the first that is kept. An earlier reader gets no more: its connection may be
 * lost without notice. False: there is no such session, or it ends with its reader. */
bool shell_session_resume(struct shell_sessions *sessions, const char *id, uint64_t at,
			  struct shell_reader *ret_reader);
/* Reads output, with the results of struct shell_terminal_ops' read(); -1 also if another reader has taken over. After
 * the end of the output the session can no longer be found. */
ssize_t shell_reader_read(struct shell_reader *reader, char *buffer, size_t size, unsigned timeout_ms);
/* Ends the session, unless another reader has taken it over or it may live without a reader. */
void shell_reader_leave(struct shell_reader *reader);
/* The exit code of the session's program, after the end of its output; -1: unknown. Only for the session's reader. */
int shell_session_exit_code(const struct shell_session *session);
const struct replica_key *shell_session_replica(const struct shell_session *session);

/* The session with this id, of any replica; NULL: none. */
struct shell_session *shell_session_find(struct shell_sessions *sessions, const char *id);
/* Finds the replica's session with this id, and holds it; NULL: there is none. */
struct shell_session *shell_session_hold(struct shell_sessions *sessions, const struct replica_key *replica,
					 const char *id);
void shell_session_release(struct shell_session *session);
DEFINE_AUTO(session_hold, struct shell_session *, shell_session_release)
enum { INPUT_NEXT = -1 };
/* Sends input; several callers wait for each other. @at: the position of @data in the whole input: bytes that the
 * session already has are skipped; INPUT_NEXT: @data follows the input so far. False: the program has ended, or input
 * before @at is missing. */
bool shell_session_type(struct shell_session *session, int64_t at, const char *data, size_t length);
/* Ends the input; the program reads end-of-file. */
void shell_session_end_input(struct shell_session *session);
void shell_session_resize(struct shell_session *session, unsigned columns, unsigned rows);
/* Ends the session: its reader gets the end of the output, and its program SIGHUP. */
void shell_session_stop(struct shell_session *session);
