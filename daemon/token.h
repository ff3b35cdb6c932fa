/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/token.h: the token that callers of the API must know, where there is one.
 *
 * Choice: four proofs will do, as the clients have no one way in common. "Authorization: Bearer TOKEN" is what gcloud
 * sends (auth/access_token_file); "X-Goog-Api-Key: TOKEN" what the client libraries send for an API key; and
 * "Authorization: Bearer ya29.ty-..." is an access token of this emulator's own, which libraries fetch with the
 * credentials file of the state directory: only tokens given out at POST /token, none of a job's;
 * or a JWT that they signed with that file themselves. */
#include "api/http/http.h"
#include "daemon/base/cleanup.h"

struct clock;
struct signing_key;
struct store;
struct token;

/* Reads the one line of @path. INVALID_ARGUMENT: it cannot be read, or is no token of 16 to 1024 letters, digits and
 * "-._~+/=". Warns in the log when others than the owner may read it. The line itself is not kept. */
enum status token_open(const char *path, struct token **ret_token, struct error *err);
/* The token in the environment, borrowed; NULL: there is none. Containers are given it where a file is hard to bring. */
#define TOKEN_VARIABLE "TRAINYARD_TOKEN"
const char *token_given(void);
/* Of @text itself. INVALID_ARGUMENT likewise. */
enum status token_take(const char *text, struct token **ret_token, struct error *err);
/* Writes it into the state directory, readable for its owner, for commands that ask for a file. The caller frees *ret_path. */
enum status token_keep(const char *state_dir, const char *text, char **ret_path, struct error *err);
void token_free(struct token *token);
/* Good for as long as all live. @token NULL: everybody may ask. */
struct caller_rule token_rule(struct token *token, const struct store *store, struct signing_key *key,
			      const struct clock *clock);
