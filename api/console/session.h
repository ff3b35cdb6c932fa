/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/console/session.h: sessions: a page in a browser proves that its user knows the token, without keeping the token.
 *
 * The page sends the token once, in POST /_trainyard/console/session, and gets two secrets for it: a cookie that no script
 * can read, and a proof that the page keeps. A request needs both. Choice: browsers send a host's cookies to all its ports,
 * so another user's server on this machine may see the cookie; the proof stays with the page's own origin.
 *
 *     POST   /_trainyard/console/session   with the token, or with a ticket in X-Trainyard-Ticket: {"proof": ...} and the cookie
 *     DELETE /_trainyard/console/session   ends the session of the cookie
 *     POST   /_trainyard/console/ticket    {"ticket": ...}: stands for the token once, for five minutes
 *
 * A ticket may be visible to other users, for example on the command line of a program that opens a browser. A client that
 * sends a random text of its own along in X-Trainyard-Attempt may repeat that request for 30 seconds, with the same text:
 * its answer may have been lost.
 * Sessions end after twelve hours, or with the daemon. Thread: any. */
#include <stdbool.h>

#include "api/http/http.h"

struct clock;
struct console_sessions;

/* Prefix of the paths under which the page calls the API. Only there is the cookie accepted. */
#define CONSOLE_API "/_trainyard/console/api"

/* Makes an empty list of sessions. @clock must outlive the sessions. */
struct console_sessions *console_sessions_new(const struct clock *clock);
/* NULL is harmless. */
void console_sessions_free(struct console_sessions *sessions);

/* True if @cookies, a Cookie header, has the cookie of a session, and @proof is the proof of the same session. @arg:
 * the sessions. */
bool console_session_check(void *arg, const char *cookies, const char *proof);

/* Handlers of methods: console_ticket_make() needs a token, the others do not. Their context: the sessions; NULL: the
 * daemon requires no token, and the answers are empty objects. */
enum status console_session_begin(struct call *call, struct error *err);
enum status console_session_end(struct call *call, struct error *err);
enum status console_ticket_make(struct call *call, struct error *err);
