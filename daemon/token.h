/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/token.h: the token that callers of the API must present, if one is configured.
 *
 * Choice: four proofs are accepted, because no single one works for all clients. "Authorization: Bearer TOKEN" is sent
 * by gcloud (auth/access_token_file); "X-Goog-Api-Key: TOKEN" by client libraries as an API key; "Authorization: Bearer
 * ya29.ty-..." is an access token of this emulator, which libraries fetch at POST /token with the credentials file of
 * the state directory (tokens of jobs are not accepted); or a JWT that they signed with that file. */
#include "api/http/http.h"
#include "daemon/base/cleanup.h"

struct clock;
struct signing_key;
struct store;
struct token;

/* Reads the token from the one line of @path, and keeps only its hash. INVALID_ARGUMENT: the file cannot be read, or is
 * not one token of 16 to 1024 letters, digits and "-._~+/=". Logs a warning if other users can read the file. */
enum status token_open(const char *path, struct token **ret_token, struct error *err);
/* The token in the environment, borrowed; NULL: there is none. For containers, in which providing a file is difficult. */
#define TOKEN_VARIABLE "TRAINYARD_TOKEN"
const char *token_given(void);
/* Makes the token from @text. INVALID_ARGUMENT: @text is not a token. */
enum status token_take(const char *text, struct token **ret_token, struct error *err);
/* Writes @text to a file in the state directory that only the owner can read, for commands that need a file. The caller
 * frees *ret_path. */
enum status token_keep(const char *state_dir, const char *text, char **ret_path, struct error *err);
void token_free(struct token *token);
/* Returns the rule that accepts or refuses callers; valid while all arguments live. @token NULL: every caller is
 * accepted. */
struct caller_rule token_rule(struct token *token, const struct store *store, struct signing_key *key,
			      const struct clock *clock);
