/* SPDX-License-Identifier: Apache-2.0 */
#include "api/console/session.h"

#include <ctype.h>
#include <pthread.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/clock.h"
#include "daemon/base/memory.h"
#include "daemon/base/text.h"

enum {
	SESSIONS_MAX = 64,
	TICKETS_MAX = 16,
	SESSION_S = 12 * 3600,
	TICKET_S = 300,
	ATTEMPT_S = 30, /* in which an attempt may be repeated: its answer may have been lost */
	SECRET_BYTES = 32,
	SECRET_SIZE = 2 * SECRET_BYTES + 1,
	US_PER_S = 1000000,
};

#define COOKIE_PREFIX "trainyard-"

/* A cookie, proof or ticket, of which only the hash is kept. */
struct secret {
	unsigned char hash[SECRET_BYTES];
	int64_t until_us; /* monotonic; 0: there is none */
	bool used;        /* for a ticket: it was used, by the attempt below */
	unsigned char attempt[SECRET_BYTES];
};

struct console_sessions {
	pthread_mutex_t lock; /* guards both lists */
	const struct clock *clock;
	unsigned char key[crypto_generichash_KEYBYTES];
	struct secret sessions[SESSIONS_MAX];
	struct secret tickets[TICKETS_MAX];
};

struct console_sessions *console_sessions_new(const struct clock *clock)
{
	struct console_sessions *sessions = memory_calloc(1, sizeof(*sessions));

	pthread_mutex_init(&sessions->lock, NULL);
	sessions->clock = clock;
	randombytes_buf(sessions->key, sizeof(sessions->key));
	return sessions;
}

void console_sessions_free(struct console_sessions *sessions)
{
	if (!sessions)
		return;
	pthread_mutex_destroy(&sessions->lock);
	sodium_memzero(sessions, sizeof(*sessions));
	free(sessions);
}

/* ---- secrets ---- */

static void hash_make(const struct console_sessions *sessions, const char *purpose, const char *text,
		      size_t length, unsigned char ret_hash[SECRET_BYTES])
{
	crypto_generichash_state state;

	crypto_generichash_init(&state, sessions->key, sizeof(sessions->key), SECRET_BYTES);
	crypto_generichash_update(&state, (const unsigned char *)purpose, strlen(purpose) + 1);
	crypto_generichash_update(&state, (const unsigned char *)text, length);
	crypto_generichash_final(&state, ret_hash, SECRET_BYTES);
}

static void proof_write(const struct console_sessions *sessions, const char *cookie, size_t length,
			char proof[SECRET_SIZE])
{
	unsigned char hash[SECRET_BYTES];

	hash_make(sessions, "proof", cookie, length, hash);
	sodium_bin2hex(proof, SECRET_SIZE, hash, sizeof(hash));
}

/* Makes a secret. If all slots of the list are taken, it replaces the secret that expires first. */
static void secret_add(struct console_sessions *sessions, struct secret *list, size_t count, int64_t life_s,
		       char ret_text[SECRET_SIZE])
{
	unsigned char bytes[SECRET_BYTES];
	struct secret *place = list;

	randombytes_buf(bytes, sizeof(bytes));
	sodium_bin2hex(ret_text, SECRET_SIZE, bytes, sizeof(bytes));
	pthread_mutex_lock(&sessions->lock);
	for (struct secret *each = list; each < list + count; each++)
		if (each->until_us < place->until_us)
			place = each;
	*place = (struct secret){ 0 };
	hash_make(sessions, "secret", ret_text, strlen(ret_text), place->hash);
	place->until_us = clock_mono_us(sessions->clock) + life_s * US_PER_S;
	pthread_mutex_unlock(&sessions->lock);
}

/* True if @text is a valid secret of the list. @take: removes the secret. */
static bool secret_is(struct console_sessions *sessions, struct secret *list, size_t count, const char *text,
		      size_t length, bool take)
{
	const int64_t now_us = clock_mono_us(sessions->clock);
	unsigned char hash[SECRET_BYTES];
	bool found = false;

	hash_make(sessions, "secret", text, length, hash);
	pthread_mutex_lock(&sessions->lock);
	for (struct secret *each = list; each < list + count; each++)
		if (each->until_us > now_us && !each->used &&
		    sodium_memcmp(each->hash, hash, sizeof(hash)) == 0) {
			found = true;
			if (take)
				*each = (struct secret){ 0 };
		}
	pthread_mutex_unlock(&sessions->lock);
	return found;
}

/* ---- cookies ---- */

/* Returns the value of trainyard's next cookie at *at, and moves *at past it; NULL: there are no more. */
static const char *cookie_next(const char **at, size_t *ret_length)
{
	while (**at) {
		const char *pair = *at + strspn(*at, " ;"), *equals;
		const size_t length = strcspn(pair, ";");

		*at = pair + length;
		equals = memchr(pair, '=', length);
		if (!equals || strncmp(pair, COOKIE_PREFIX, strlen(COOKIE_PREFIX)) != 0)
			continue;
		*ret_length = length - (size_t)(equals + 1 - pair);
		return equals + 1;
	}
	return NULL;
}

bool console_session_check(void *arg, const char *cookies, const char *proof)
{
	struct console_sessions *sessions = arg;
	size_t length;

	if (!cookies || !proof || strlen(proof) != SECRET_SIZE - 1)
		return false;
	for (const char *at = cookies, *cookie; (cookie = cookie_next(&at, &length));) {
		char expected[SECRET_SIZE];

		proof_write(sessions, cookie, length, expected);
		if (sodium_memcmp(expected, proof, SECRET_SIZE - 1) == 0 &&
		    secret_is(sessions, sessions->sessions, SESSIONS_MAX, cookie, length, false))
			return true;
	}
	return false;
}

/* The cookie's name contains the port, because all daemons of a host share its cookies. */
static void cookie_set(struct call *call, const char *value, int64_t life_s)
{
	const char *port = strrchr(call->host, ':');
	struct text cookie AUTO_TEXT = { 0 };

	text_puts(&cookie, COOKIE_PREFIX);
	for (port = port ? port + 1 : ""; isdigit((unsigned char)*port); port++)
		text_putc(&cookie, *port);
	text_printf(&cookie, "=%s; Path=/_trainyard/console/; Max-Age=%lld; HttpOnly; SameSite=Strict%s",
		    value, (long long)life_s, call->secure ? "; Secure" : "");
	call_header_add(call, "Set-Cookie", cookie.data);
	call_header_add(call, "Cache-Control", "no-store");
}

/* ---- methods ---- */

/* True if @ticket is valid; uses it up. The same @attempt, a random text known to one client only, may use it again:
 * a browser aborts its requests when a network changes, and repeats this one without knowing if it was received. "":
 * no repetition. */
static bool ticket_take(struct console_sessions *sessions, const char *ticket, const char *attempt)
{
	const int64_t now_us = clock_mono_us(sessions->clock);
	unsigned char hash[SECRET_BYTES], attempt_hash[SECRET_BYTES];
	bool good = false;

	if (!*attempt)
		return *ticket &&
		       secret_is(sessions, sessions->tickets, TICKETS_MAX, ticket, strlen(ticket), true);
	hash_make(sessions, "secret", ticket, strlen(ticket), hash);
	hash_make(sessions, "attempt", attempt, strlen(attempt), attempt_hash);
	pthread_mutex_lock(&sessions->lock);
	for (struct secret *each = sessions->tickets; each < sessions->tickets + TICKETS_MAX; each++) {
		if (each->until_us <= now_us || sodium_memcmp(each->hash, hash, sizeof(hash)) != 0)
			continue;
		good = !each->used || sodium_memcmp(each->attempt, attempt_hash, sizeof(attempt_hash)) == 0;
		if (each->used)
			continue;
		each->used = true;
		memcpy(each->attempt, attempt_hash, sizeof(attempt_hash));
		if (each->until_us > now_us + INT64_C(1) * ATTEMPT_S * US_PER_S)
			each->until_us = now_us + INT64_C(1) * ATTEMPT_S * US_PER_S;
	}
	pthread_mutex_unlock(&sessions->lock);
	return good;
}

enum status console_session_begin(struct call *call, struct error *err)
{
	struct console_sessions *sessions = call->context;
	const char *ticket = call_header(call, "X-Trainyard-Ticket");
	char cookie[SECRET_SIZE], proof[SECRET_SIZE];

	if (!sessions)
		return STATUS_OK;
	if (call->anonymous && !ticket_take(sessions, ticket, call_header(call, "X-Trainyard-Attempt")))
		return error_set(
			err, STATUS_UNAUTHENTICATED, NULL, "%s",
			*ticket ? "This link was used before, or is older than five minutes: `trainyard ui` "
				  "makes a new one."
				: "The daemon does not accept this token.");
	secret_add(sessions, sessions->sessions, SESSIONS_MAX, SESSION_S, cookie);
	proof_write(sessions, cookie, strlen(cookie), proof);
	cookie_set(call, cookie, SESSION_S);
	text_printf(&call->answer, "{\"proof\":\"%s\"}", proof);
	sodium_memzero(cookie, sizeof(cookie));
	return STATUS_OK;
}

enum status console_session_end(struct call *call, struct error *err)
{
	struct console_sessions *sessions = call->context;
	size_t length;

	(void)err;
	for (const char *at = call_header(call, "Cookie"), *cookie;
	     sessions && (cookie = cookie_next(&at, &length));)
		secret_is(sessions, sessions->sessions, SESSIONS_MAX, cookie, length, true);
	cookie_set(call, "", 0);
	return STATUS_OK;
}

enum status console_ticket_make(struct call *call, struct error *err)
{
	struct console_sessions *sessions = call->context;
	char ticket[SECRET_SIZE];

	(void)err;
	if (!sessions)
		return STATUS_OK;
	secret_add(sessions, sessions->tickets, TICKETS_MAX, TICKET_S, ticket);
	text_printf(&call->answer, "{\"ticket\":\"%s\"}", ticket);
	return STATUS_OK;
}
