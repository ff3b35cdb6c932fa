/* SPDX-License-Identifier: Apache-2.0 */
/* What stands behind a question mark: parameters of every method, fields of a row's query, read masks, globs, and the
 * whole as the token of a page.
 *
 * What must hold beside not crashing: what is refused is INVALID_ARGUMENT in words, what is taken is in canonical form,
 * a glob without wildcards is the name itself, and no token is taken but those that were made. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api/aiplatform/aiplatform.h"
#include "api/aiplatform/messages.h"
#include "api/http/parameters.h"
#include "api/ml/messages.h"
#include "api/storage/messages.h"
#include "daemon/base/json.h"
#include "store/objects/glob.h"
#include "store/page_token.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool holds)
{
	if (!holds)
		abort();
}

static void refused(const struct error *err)
{
	expect(err->status == STATUS_INVALID_ARGUMENT && err->text);
}

/* Fails with: read_mask_check() gives its own copy. */
static void mask_try(const char *mask)
{
	struct error err AUTO_ERROR = { 0 };
	const char *kept;

	if (read_mask_check(&aiplatform_custom_job, mask, &kept, &err))
		refused(&err);
	else
		expect(!kept || kept == mask);
}

/* Fails with: glob.c gives '+' a meaning. */
static void glob_try(const char *pattern)
{
	static const char *const names[] = { "", "a", "a/b", "dir/model-00001-of-00002.ckpt", "[a]{b,c}?*" };
	AUTO(glob) struct glob *glob = NULL;
	struct error err AUTO_ERROR = { 0 };

	if (glob_new(pattern, &glob, &err)) {
		refused(&err);
		return;
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		glob_match(glob, names[i], strlen(names[i]));
	if (!strpbrk(pattern, "*?[]{}\\"))
		expect(glob_match(glob, pattern, strlen(pattern)));
}

static void message_try(const struct message *message, const struct query *query)
{
	struct parameters parameters = { .fields = NULL };
	AUTO(json) json_t *rest = json_array();
	AUTO(json) json_t *canonical = NULL;
	AUTO(json) json_t *again = NULL;
	struct error err AUTO_ERROR = { 0 };

	if (parameters_take(query, message, UNKNOWN_KEPT, &parameters, rest, &err) ||
	    message_read_query(message, rest, &canonical, &err)) {
		refused(&err);
		return;
	}
	expect(message_read(message, canonical, "", &again, NULL) == STATUS_OK &&
	       json_equal(canonical, again));
	mask_try(json_text_at(canonical, "readMask"));
	if (json_text_at(canonical, "matchGlob"))
		glob_try(json_text_at(canonical, "matchGlob"));
}

static void token_try(const char *text)
{
	static const struct page_key key = { "thirty-two bytes of some secret" };
	struct page_mark mark = { .numbers = { 1, -1 } }, read;
	AUTO(string) char *token = NULL;

	expect(page_token_read(&key, "b", 1, text, &read, NULL) == STATUS_INVALID_ARGUMENT);
	if (strlen(text) >= sizeof(mark.name))
		return;
	strcpy(mark.name, text);
	token = page_token_write(&key, "b", 1, &mark);
	expect(token && page_token_read(&key, "b", 1, token, &read, NULL) == STATUS_OK);
	expect(memcmp(read.numbers, mark.numbers, sizeof(read.numbers)) == 0 && strcmp(read.name, text) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct message *const messages[] = {
		&ml_list_jobs_query,        &ml_update_job_query,
		&ml_get_iam_policy_query,   &aiplatform_custom_job_list_request,
		&storage_object_list_query, &storage_object_write_query,
	};
	AUTO(string) char *text = strndup(size ? (const char *)data : "", size);
	struct query query = { 0 };

	token_try(text);
	glob_try(text);
	mask_try(text);
	if (query_parse(text, strlen(text), &query, NULL))
		return 0;
	for (size_t i = 0; i < sizeof(messages) / sizeof(messages[0]); i++)
		message_try(messages[i], &query);
	query_deinit(&query);
	return 0;
}
