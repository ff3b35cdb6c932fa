/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/keys/access_token.h: the emulator's own access tokens. A token contains the identity that it was issued to.
 *
 * "ya29.ty-" and base64url of the fields below, sealed with a key derived from the state directory's secret: valid
 * after a restart, invalid on another machine, and not stored. The same fields always give the same text, so a client
 * that asks twice gets one token. Pure, except for the secret. Thread: any. */
#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/error.h"

struct store;

enum { ACCESS_TOKEN_SIZE = 2048, ACCESS_TOKEN_SCOPES_MAX = 1024 };

struct access_token {
	int64_t job;      /* the job of the replica; 0: the token is for a program outside of containers */
	unsigned attempt; /* of the job */
	unsigned role; /* enum role of scheduler/plan/plan.h */
	unsigned index;
	int64_t expires_s; /* wall clock */
	char email[256];
	char scopes[ACCESS_TOKEN_SCOPES_MAX]; /* separated by spaces */
};

/* Makes the text of a token. INVALID_ARGUMENT: the token would be longer than ACCESS_TOKEN_SIZE. */
enum status access_token_make(const struct store *store, const struct access_token *token,
			      char ret_text[ACCESS_TOKEN_SIZE], struct error *err);
/* Reads and verifies a token. UNAUTHENTICATED: the text is not a token of trainyard, or it has expired at @now_s. */
enum status access_token_read(const struct store *store, const char *text, int64_t now_s,
			      struct access_token *ret_token, struct error *err);
/* True if @text has the form of trainyard's tokens. Other tokens, such as a developer's real one, are not checked. */
bool access_token_is_ours(const char *text);
