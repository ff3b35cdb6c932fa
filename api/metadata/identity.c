/* SPDX-License-Identifier: Apache-2.0 */
/* The endpoints of Google's identity service that client libraries use with a credentials file. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "api/http/request.h"
#include "api/metadata/account.h"
#include "api/metadata/metadata.h"
#include "daemon/base/json.h"
#include "store/keys/signing_key.h"

enum {
	US_PER_S = 1000000,
	NS_PER_S = 1000000000,
	ASSERTION_LIFE_S = 3600,
	CLOCK_SKEW_S = 300,
	HTTP_BAD_REQUEST = 400
};

static int64_t now_of(const struct call *call)
{
	const struct identity_context *context = call->context;

	return clock_wall_us(context->clock) / US_PER_S;
}

static void json_answer(struct call *call, json_t *owned)
{
	AUTO(json) json_t *answer = owned;

	call_header_add(call, "Cache-Control", "no-store");
	json_write(&call->answer, answer);
}

/* RFC 6749 section 5.2. */
static void oauth_error(struct call *call, const char *error, const char *description)
{
	call->http_status = HTTP_BAD_REQUEST;
	json_answer(call, json_pack("{s:s, s:s}", "error", error, "error_description", description));
}

/* ---- POST /token ---------------------------------------------------------------------------------------- */

static const char *form_find(const struct query *form, const char *name)
{
	for (size_t i = 0; i < form->count; i++)
		if (strcmp(form->pairs[i].name, name) == 0 && *form->pairs[i].value)
			return form->pairs[i].value;
	return NULL;
}

/* True if the audience is this endpoint, by its own URL or by one of Google's URLs, for which clients build
 * assertions. */
static bool audience_fits(const struct call *call, const char *audience)
{
	static const char *const names[] = { "https://oauth2.googleapis.com/token",
					     "https://www.googleapis.com/oauth2/v4/token",
					     "https://accounts.google.com/o/oauth2/token" };
	struct text own AUTO_TEXT = { 0 };

	for (size_t i = 0; audience && i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(audience, names[i]) == 0)
			return true;
	text_printf(&own, "http://%s%s", call->host, call->route->path);
	return audience && strcmp(audience, own.data) == 0;
}

static bool times_fit(const json_t *claims, int64_t now_s)
{
	const int64_t issued_s = json_int_at(claims, "iat", -1), expires_s = json_int_at(claims, "exp", -1);

	return issued_s >= 0 && expires_s >= issued_s && expires_s - issued_s <= ASSERTION_LIFE_S &&
	       issued_s <= now_s + CLOCK_SKEW_S && expires_s > now_s;
}

/* Returns the error of an assertion in Google's words; NULL: it is valid.
 * Source: https://developers.google.com/identity/protocols/oauth2/service-account#error-codes (read 2026-11-22) */
static const char *assertion_fault(const struct call *call, const json_t *claims)
{
	const struct identity_context *context = call->context;
	const char *account = json_text_at(claims, "iss");

	if (!audience_fits(call, json_text_at(claims, "aud")))
		return "Invalid JWT: Failed audience check.";
	/* iat and exp are times of the client's clock, which the emulator's controllable clock does not change. */
	if (!times_fit(claims, clock_outside_ns(context->clock) / NS_PER_S))
		return "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. "
		       "Check your iat and exp values in the JWT claim.";
	if (!account || !strchr(account, '@') || strlen(account) >= sizeof(((struct access_token *)0)->email))
		return "Invalid grant: account not found";
	return NULL;
}

static enum status access_answer(struct call *call, const char *email, const char *scopes, struct error *err)
{
	const struct identity_context *context = call->context;
	const int64_t now_s = now_of(call);
	struct access_token token = { .expires_s = now_s + TOKEN_LIFE_S };

	if (!scopes || !*scopes || token_scopes_read(scopes, " ", &token, NULL)) {
		oauth_error(call, "invalid_scope", "Invalid OAuth scope or ID token audience provided.");
		return STATUS_OK;
	}
	strncat(token.email, email, sizeof(token.email) - 1);
	call_header_add(call, "Cache-Control", "no-store");
	return token_answer_write(context->store, &token, now_s, &call->answer, err);
}

static enum status identity_answer(struct call *call, const char *email, const char *audience,
				   struct error *err)
{
	const struct identity_context *context = call->context;
	struct text token AUTO_TEXT = { 0 };
	enum status rc = identity_token_write(context->key, email, audience, NULL, now_of(call), &token, err);

	if (!rc)
		json_answer(call, json_pack("{s:s}", "id_token", token.data));
	return rc;
}

static enum status assertion_take(struct call *call, const struct query *form, struct error *err)
{
	const struct identity_context *context = call->context;
	const char *assertion = form_find(form, "assertion");
	AUTO(json) json_t *claims = NULL;
	const char *fault, *audience;
	enum status rc;

	if (!assertion) {
		oauth_error(call, "invalid_request", "Required parameter is missing: assertion");
		return STATUS_OK;
	}
	rc = signing_key_verify(context->key, assertion, &claims, err);
	if (rc == STATUS_UNAUTHENTICATED) {
		oauth_error(call, "invalid_grant", "Invalid JWT Signature.");
		return STATUS_OK;
	}
	if (rc)
		return rc;
	fault = assertion_fault(call, claims);
	if (fault) {
		oauth_error(call, "invalid_grant", fault);
		return STATUS_OK;
	}
	audience = json_text_at(claims, "target_audience");
	if (audience && *audience)
		return identity_answer(call, json_text_at(claims, "iss"), audience, err);
	return access_answer(call, json_text_at(claims, "iss"), json_text_at(claims, "scope"), err);
}

/* Choice: trainyard issues no refresh tokens, so each one counts as revoked. */
static enum status grant_take(struct call *call, const struct query *form, struct error *err)
{
	const char *grant = form_find(form, "grant_type");
	struct text words AUTO_TEXT = { 0 };

	if (!grant) {
		oauth_error(call, "invalid_request", "Required parameter is missing: grant_type");
		return STATUS_OK;
	}
	if (strcmp(grant, "urn:ietf:params:oauth:grant-type:jwt-bearer") == 0)
		return assertion_take(call, form, err);
	if (strcmp(grant, "refresh_token") == 0) {
		oauth_error(call, "invalid_grant", "Token has been expired or revoked.");
		return STATUS_OK;
	}
	text_printf(&words, "Invalid grant_type: %.100s", grant);
	/* "%.100s" may cut the text within a UTF-8 character. */
	oauth_error(call, "unsupported_grant_type",
		    utf8_valid(words.data, words.length) ? words.data : "Invalid grant_type");
	return STATUS_OK;
}

static enum status token_post(struct call *call, struct error *err)
{
	struct query form = { 0 };
	enum status rc;

	if (query_parse(call->raw, call->raw_bytes, &form, NULL)) {
		oauth_error(call, "invalid_request", "Malformed request body.");
		return STATUS_OK;
	}
	rc = grant_take(call, &form, err);
	query_deinit(&form);
	return rc;
}

/* ---- methods with which programs check tokens ----------------------------------------------------------- */

static enum status certs_get(struct call *call, struct error *err)
{
	const struct identity_context *context = call->context;
	json_t *jwks = NULL;
	enum status rc = signing_key_jwks(context->key, &jwks, err);

	if (!rc)
		json_answer(call, jwks);
	return rc;
}

static void access_report(struct call *call, const char *text)
{
	const struct identity_context *context = call->context;
	const int64_t now_s = now_of(call);
	char id[ACCOUNT_ID_SIZE], expires[24], left[24];
	struct access_token token;

	if (access_token_read(context->store, text, now_s, &token, NULL)) {
		oauth_error(call, "invalid_token", "Invalid Value");
		return;
	}
	account_id_write(token.email, id);
	snprintf(expires, sizeof(expires), "%" PRId64, token.expires_s);
	snprintf(left, sizeof(left), "%" PRId64, token.expires_s - now_s);
	json_answer(call, json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "azp", id, "aud", id, "scope",
				    token.scopes, "exp", expires, "expires_in", left, "email", token.email,
				    "email_verified", "true", "access_type", "online"));
}

/* Writes a claim as text: also numbers and booleans. Objects and arrays are left out. */
static void claim_report(json_t *answer, const char *name, const json_t *value)
{
	char number[24];

	if (json_is_string(value)) {
		json_object_set_new(answer, name, json_string(json_string_value(value)));
		return;
	}
	if (json_is_boolean(value)) {
		json_object_set_new(answer, name, json_string(json_is_true(value) ? "true" : "false"));
		return;
	}
	if (!json_is_integer(value))
		return;
	snprintf(number, sizeof(number), "%" JSON_INTEGER_FORMAT, json_integer_value(value));
	json_object_set_new(answer, name, json_string(number));
}

static enum status identity_report(struct call *call, const char *text, struct error *err)
{
	const struct identity_context *context = call->context;
	AUTO(json) json_t *claims = NULL;
	AUTO(json) json_t *answer = json_object();
	enum status rc = signing_key_verify(context->key, text, &claims, err);
	const char *name;
	json_t *value;

	if (rc && rc != STATUS_UNAUTHENTICATED)
		return rc;
	if (rc || json_int_at(claims, "exp", 0) <= now_of(call)) {
		oauth_error(call, "invalid_token", "Invalid Value");
		return STATUS_OK;
	}
	json_object_foreach(claims, name, value)
		claim_report(answer, name, value);
	json_answer(call, TAKE(answer));
	return STATUS_OK;
}

static enum status token_report(struct call *call, const char *access, const char *identity,
				struct error *err)
{
	if (access) {
		access_report(call, access);
		return STATUS_OK;
	}
	if (identity)
		return identity_report(call, identity, err);
	oauth_error(call, "invalid_request", "either access_token, id_token, or token_handle required");
	return STATUS_OK;
}

static enum status tokeninfo_get(struct call *call, struct error *err)
{
	return token_report(call, call_query(call, "accessToken"), call_query(call, "idToken"), err);
}

static enum status tokeninfo_post(struct call *call, struct error *err)
{
	const char *access = call_query(call, "accessToken"), *identity = call_query(call, "idToken");
	struct query form = { 0 };
	enum status rc;

	if (query_parse(call->raw, call->raw_bytes, &form, NULL)) {
		oauth_error(call, "invalid_request", "Malformed request body.");
		return STATUS_OK;
	}
	rc = token_report(call, access ? access : form_find(&form, "access_token"),
			  identity ? identity : form_find(&form, "id_token"), err);
	query_deinit(&form);
	return rc;
}

static const struct field token_fields[] = {
	{ .name = "accessToken", .type = FIELD_STRING, .help = "an access token" },
	{ .name = "idToken", .type = FIELD_STRING, .help = "an identity token" },
	{ .name = NULL },
};
static const struct message token_query = { .full_name = "trainyard.TokenInfo", .fields = token_fields };

/* These methods need no API token: the client sends a signed assertion or a token to check, or requests public keys.
 * Bodies are forms.
 * Source: RFC 7523 (4); https://cloud.google.com/docs/authentication/token-types (tokeninfo) */
const struct route identity_routes[] = {
	{ "POST", "/token", token_post, NULL, &raw_body, NULL, NULL, .open = true,
	  .page_types = PAGE_TYPES_ALL },
	{ "GET", "/oauth2/v3/certs", certs_get, NULL, NULL, NULL, NULL, .open = true },
	{ "GET", "/tokeninfo", tokeninfo_get, &token_query, NULL, NULL, NULL, .open = true },
	{ "POST", "/tokeninfo", tokeninfo_post, &token_query, &raw_body, NULL, NULL, .open = true,
	  .page_types = PAGE_TYPES_ALL },
	{ "GET", "/oauth2/v3/tokeninfo", tokeninfo_get, &token_query, NULL, NULL, NULL, .open = true },
	{ "POST", "/oauth2/v3/tokeninfo", tokeninfo_post, &token_query, &raw_body, NULL, NULL, .open = true,
	  .page_types = PAGE_TYPES_ALL },
	{ NULL, NULL, NULL, NULL, NULL, NULL, NULL },
};
