/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/metadata/account.h: tokens of a service account: access tokens and identity tokens. Thread: any. */
#include <stdint.h>

#include "daemon/base/error.h"
#include "daemon/base/text.h"
#include "store/keys/access_token.h"

struct signing_key;

/* The scope of the default token of training jobs. */
#define METADATA_SCOPE "https://www.googleapis.com/auth/cloud-platform"

enum { TOKEN_LIFE_S = 3599, TOKEN_REST_S = 300 };

/* Expiry time of a token requested at @now_s, in seconds. Requests get the same token until five minutes before it
 * expires. The time need not be stored, because it is the end of a fixed period of 55 minutes, plus five minutes.
 * Source: https://cloud.google.com/compute/docs/access/authenticate-workloads#applications (tokens are cached until
 * five minutes before they expire; read 2026-11-22) */
int64_t token_expiry(int64_t now_s);

/* Reads a list of scopes, separated by any of @separators, and stores them separated by spaces. INVALID_ARGUMENT: too
 * long, or an invalid character. */
enum status token_scopes_read(const char *list, const char *separators, struct access_token *token,
			      struct error *err);

/* Appends {"access_token":…,"expires_in":…,"token_type":"Bearer"}. */
enum status token_answer_write(const struct store *store, const struct access_token *token, int64_t now_s,
			       struct text *text, struct error *err);

enum { ACCOUNT_ID_SIZE = 22 };
/* Writes the account's number: 21 digits, derived from its e-mail address. */
void account_id_write(const char *email, char ret_id[ACCOUNT_ID_SIZE]);

/* The instance that requests an identity token. */
struct identity_instance {
	const char *project_id, *project_number, *zone, *name;
	uint64_t id;
	int64_t created_s; /* 0: not known */
	bool licenses;     /* adds the list of licenses, which is empty */
};

/* Appends a JWT. @place may be NULL. */
enum status identity_token_write(struct signing_key *key, const char *email, const char *audience,
				 const struct identity_instance *place, int64_t now_s, struct text *text,
				 struct error *err);
