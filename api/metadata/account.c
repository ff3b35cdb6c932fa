/* SPDX-License-Identifier: Apache-2.0 */
#include "api/metadata/account.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/json.h"
#include "store/keys/signing_key.h"

int64_t token_expiry(int64_t now_s)
{
	const int64_t piece_s = TOKEN_LIFE_S - TOKEN_REST_S;

	return now_s - now_s % piece_s + TOKEN_LIFE_S;
}

/* True if all characters are valid in a scope: printable ASCII without space, quotation mark and backslash.
 * Source: RFC 6749 section 3.3 */
static bool scope_valid(const char *scope, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (scope[i] <= ' ' || scope[i] >= 0x7f || scope[i] == '"' || scope[i] == '\\')
			return false;
	return true;
}

enum status token_scopes_read(const char *list, const char *separators, struct access_token *token,
			      struct error *err)
{
	size_t used = 0;

	for (size_t length; *list; list += length) {
		list += strspn(list, separators);
		length = strcspn(list, separators);
		if (!scope_valid(list, length) || used + length + 2 > sizeof(token->scopes))
			return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
					 "Invalid scope list: at most %d "
					 "characters, and none that is blank or a quote.",
					 ACCESS_TOKEN_SCOPES_MAX - 1);
		if (!length)
			break;
		if (used)
			token->scopes[used++] = ' ';
		memcpy(token->scopes + used, list, length);
		used += length;
	}
	token->scopes[used] = '\0';
	return STATUS_OK;
}

enum status token_answer_write(const struct store *store, const struct access_token *token, int64_t now_s,
			       struct text *text, struct error *err)
{
	char secret[ACCESS_TOKEN_SIZE];
	enum status rc = access_token_make(store, token, secret, err);

	if (!rc)
		text_printf(text,
			    "{\"access_token\":\"%s\",\"expires_in\":%" PRId64 ",\"token_type\":\"Bearer\"}",
			    secret, token->expires_s - now_s);
	return rc;
}

void account_id_write(const char *email, char ret_id[ACCOUNT_ID_SIZE])
{
	uint64_t numbers[2];

	crypto_generichash((unsigned char *)numbers, sizeof(numbers), (const unsigned char *)email,
			   strlen(email), NULL, 0);
	snprintf(ret_id, ACCOUNT_ID_SIZE, "1%010" PRIu64 "%010" PRIu64, numbers[0] % UINT64_C(10000000000),
		 numbers[1] % UINT64_C(10000000000));
}

static json_t *place_json(const struct identity_instance *place)
{
	char id[24];
	json_t *engine;

	snprintf(id, sizeof(id), "%" PRIu64, place->id);
	engine = json_pack("{s:s, s:s, s:s, s:I, s:s}", "instance_id", id, "instance_name", place->name,
			   "project_id", place->project_id, "project_number",
			   (json_int_t)strtoll(place->project_number, NULL, 10), "zone", place->zone);
	if (engine && place->created_s)
		json_object_set_new(engine, "instance_creation_timestamp", json_integer(place->created_s));
	if (engine && place->licenses)
		json_object_set_new(engine, "license_id", json_array());
	return json_pack("{s:o}", "compute_engine", engine);
}

/* Source: https://cloud.google.com/compute/docs/instances/verifying-instance-identity#payload (read 2026-11-22) */
enum status identity_token_write(struct signing_key *key, const char *email, const char *audience,
				 const struct identity_instance *place, int64_t now_s, struct text *text,
				 struct error *err)
{
	char id[ACCOUNT_ID_SIZE];

	account_id_write(email, id);
	AUTO(json)
	json_t *claims = json_pack("{s:s, s:s, s:s, s:b, s:I, s:I, s:s, s:s}", "aud", audience, "azp", id,
				   "email", email, "email_verified", 1, "exp", (json_int_t)now_s + 3600,
				   "iat", (json_int_t)now_s, "iss", "https://accounts.google.com", "sub", id);
	if (place)
		json_object_set_new(claims, "google", place_json(place));
	return signing_key_sign(key, claims, text, err);
}
