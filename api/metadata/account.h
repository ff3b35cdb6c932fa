/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/metadata/account.h: what a service account is given: access tokens and identity tokens. Thread: any. */
#include <stdint.h>

#include "daemon/base/error.h"
#include "daemon/base/text.h"
#include "store/keys/access_token.h"

struct signing_key;

/* What programs may do with the default token, as training jobs have it. */
#define METADATA_SCOPE "https://www.googleapis.com/auth/cloud-platform"

enum { TOKEN_LIFE_S = 3599, TOKEN_REST_S = 300 };

/* When a token that is asked for at @now_s expires: another request gets the same token until five minutes before that.
 * No token is stored for it: time is cut into pieces of 55 minutes.
 * Source: https://cloud.google.com/compute/docs/access/authenticate-workloads#applications (tokens are cached until
 * five minutes before they expire; read 2026-11-22) */
int64_t token_expiry(int64_t now_s);

/* Takes a list of scopes, separated by any of @separators; they are kept separated by spaces. INVALID_ARGUMENT: too
 * long, or with a character that no scope has. */
enum status token_scopes_read(const char *list, const char *separators, struct access_token *token,
			      struct error *err);

/* Appends {"access_token":…,"expires_in":…,"token_type":"Bearer"}. */
enum status token_answer_write(const struct store *store, const struct access_token *token, int64_t now_s,
			       struct text *text, struct error *err);

enum { ACCOUNT_ID_SIZE = 22 };
/* The account's number, 21 digits, made of its e-mail address. */
void account_id_write(const char *email, char ret_id[ACCOUNT_ID_SIZE]);

/* Where an identity token was asked for from. */
struct identity_instance {
	const char *project_id, *project_number, *zone, *name;
	uint64_t id;
	int64_t created_s; /* 0: not known */
	bool licenses;     /* the list of licenses goes along: an empty one */
};

/* Appends a JWT. @place may be NULL. */
enum status identity_token_write(struct signing_key *key, const char *email, const char *audience,
				 const struct identity_instance *place, int64_t now_s, struct text *text,
				 struct error *err);
