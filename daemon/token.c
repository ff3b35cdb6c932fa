/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/token.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/clock.h"
#include "daemon/base/json.h"
#include "daemon/base/log.h"
#include "daemon/base/memory.h"
#include "store/keys/access_token.h"
#include "store/keys/signing_key.h"

enum { LIFE_S = 3600, CLOCK_SKEW_S = 300 };
enum { LENGTH_MIN = 16, LENGTH_MAX = 1024, HASH_BYTES = crypto_generichash_BYTES, NS_PER_S = 1000000000 };

/* Keeps only the token's hash: hashes have equal lengths for the comparison, and a core file does not reveal the token. */
struct token {
	unsigned char key[crypto_generichash_KEYBYTES];
	unsigned char hash[HASH_BYTES];
	const struct store *store;
	struct signing_key *key_of_accounts;
	const struct clock *clock;
};

static void hash_make(const struct token *token, const char *text, unsigned char ret_hash[HASH_BYTES])
{
	crypto_generichash(ret_hash, HASH_BYTES, (const unsigned char *)text, strlen(text), token->key,
			   sizeof(token->key));
}

/* Source: RFC 6750 section 2.1 */
static bool is_token(const char *text)
{
	const size_t length = strlen(text);

	return length >= LENGTH_MIN && length <= LENGTH_MAX &&
	       strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~+/=") ==
		       length;
}

static enum status line_read(const char *path, char line[LENGTH_MAX + 2], struct error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat about = { 0 };
	ssize_t length = fd >= 0 && fstat(fd, &about) == 0 ? read(fd, line, LENGTH_MAX + 1) : -1;
	const int fault = errno;
	size_t end;

	if (fd >= 0)
		close(fd);
	if (length < 0)
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL, "--token-file: %s: %s", path,
				 strerror(fault));
	line[length] = '\0';
	end = strcspn(line, "\r\n");
	if (line[end + strspn(line + end, "\r\n")])
		end = 0; /* the file has several lines, and it is unknown which one is the token */
	line[end] = '\0';
	if (about.st_mode & 077)
		log_event(LOG_WARNING, "token-file-open", "mode=%o hint=\"other users may read it\" path=%s",
			  about.st_mode & 0777, path);
	return STATUS_OK;
}

/* Makes the token from @text. @source: the option or variable that holds it, for the error. */
static enum status token_make(const char *text, const char *source, struct token **ret_token,
			      struct error *err)
{
	struct token *token;

	if (!is_token(text) || access_token_is_ours(text))
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
				 "%s holds no token: %d to %d letters, digits and -._~+/=, such as "
				 "`openssl rand -hex 32` prints",
				 source, LENGTH_MIN, LENGTH_MAX);
	token = memory_calloc(1, sizeof(*token));
	randombytes_buf(token->key, sizeof(token->key));
	hash_make(token, text, token->hash);
	*ret_token = token;
	return STATUS_OK;
}

enum status token_open(const char *path, struct token **ret_token, struct error *err)
{
	char line[LENGTH_MAX + 2];
	AUTO(string) char *source = memory_printf("--token-file: %s", path);
	enum status rc = line_read(path, line, err);

	if (!rc)
		rc = token_make(line, source, ret_token, err);
	sodium_memzero(line, sizeof(line));
	return rc;
}

const char *token_given(void)
{
	const char *text = getenv(TOKEN_VARIABLE);

	return text && *text ? text : NULL;
}

enum status token_take(const char *text, struct token **ret_token, struct error *err)
{
	return token_make(text, TOKEN_VARIABLE, ret_token, err);
}

enum status token_keep(const char *state_dir, const char *text, char **ret_path, struct error *err)
{
	AUTO(string) char *path = memory_printf("%s/token", state_dir);
	int fd;
	bool is_kept;

	unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	is_kept = fd >= 0 && dprintf(fd, "%s\n", text) > 0;
	if (fd >= 0)
		close(fd);
	if (!is_kept)
		return error_set(err, STATUS_FAILED_PRECONDITION, NULL,
				 "the token cannot be written to %s: %s", path, strerror(errno));
	*ret_path = TAKE(path);
	return STATUS_OK;
}

void token_free(struct token *token)
{
	free(token);
}

static bool is_the_token(const struct token *token, const char *text)
{
	unsigned char hash[HASH_BYTES];

	hash_make(token, text, hash);
	return sodium_memcmp(hash, token->hash, sizeof(hash)) == 0;
}

/* Returns true if @text is a valid access token of a user. An access token of a job is valid only at the job's gateway. */
static bool is_a_users(const struct token *token, const char *text)
{
	struct access_token own;

	return access_token_is_ours(text) &&
	       access_token_read(token->store, text, clock_wall_ns(token->clock) / NS_PER_S, &own, NULL) ==
		       STATUS_OK &&
	       own.job == 0;
}

/* Returns true if @text is a valid JWT that a client signed with the service account's key: for most APIs, libraries
 * sign such JWTs and do not fetch a token. Identity tokens, which gateways sign for jobs with the same key, have another
 * issuer and are refused. Times in the JWT are by the client's clock.
 * Source: https://google.aip.dev/auth/4111 */
static bool is_an_accounts(const struct token *token, const char *text)
{
	const int64_t now_s = clock_outside_ns(token->clock) / NS_PER_S;
	AUTO(json) json_t *claims = NULL;
	const char *issuer, *subject;
	int64_t issued_s, expires_s;

	if (strncmp(text, "eyJ", 3) != 0 ||
	    signing_key_verify(token->key_of_accounts, text, &claims, NULL) != STATUS_OK)
		return false;
	issuer = json_text_at(claims, "iss");
	subject = json_text_at(claims, "sub");
	issued_s = json_int_at(claims, "iat", -1);
	expires_s = json_int_at(claims, "exp", -1);
	return issuer && subject && strchr(issuer, '@') && strcmp(issuer, subject) == 0 && issued_s >= 0 &&
	       issued_s <= now_s + CLOCK_SKEW_S && expires_s > now_s && expires_s - issued_s <= LIFE_S;
}

static const char *bearer_of(const char *authorization)
{
	static const char scheme[] = "Bearer ";

	if (!authorization || strncasecmp(authorization, scheme, strlen(scheme)) != 0)
		return NULL;
	return authorization + strlen(scheme);
}

/* Accepts or refuses a call. The texts are those of every Google API. */
static enum status caller_check(void *arg, const char *authorization, const char *api_key, struct error *err)
{
	static const char wanted[] =
		"Expected OAuth 2 access token, login cookie or other valid authentication credential. See "
		"https://developers.google.com/identity/sign-in/web/devconsole-project.";
	const struct token *token = arg;
	const char *bearer = bearer_of(authorization);

	if (bearer ? is_the_token(token, bearer) || is_a_users(token, bearer) || is_an_accounts(token, bearer)
		   : api_key && is_the_token(token, api_key))
		return STATUS_OK;
	if (authorization || api_key)
		return error_set(err, STATUS_UNAUTHENTICATED, NULL,
				 "Request had invalid authentication credentials. %s", wanted);
	return error_set(err, STATUS_UNAUTHENTICATED, NULL,
			 "Request is missing required authentication credential. %s", wanted);
}

struct caller_rule token_rule(struct token *token, const struct store *store, struct signing_key *key,
			      const struct clock *clock)
{
	if (!token)
		return (struct caller_rule){ 0 };
	token->store = store;
	token->key_of_accounts = key;
	token->clock = clock;
	return (struct caller_rule){ caller_check, token };
}
