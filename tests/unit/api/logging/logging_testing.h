/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* tests/unit/api/logging/logging_testing.h: calls handlers as the listener does, on a store of the test. */
#include "api/logging/handlers.h"
#include "api/logging/messages.h"
#include "api/logging/routes.h"
#include "daemon/base/json.h"
#include "tests/unit/store/store_testing.h"

/* Tests write double quotes as '. */
static __attribute__((unused)) char *quotes(const char *text)
{
	char *copy = strdup(text);

	for (char *c = copy; *c; c++)
		*c = *c == '\'' ? '"' : *c;
	return copy;
}

/* Calls @handler with a body (JSON with ' for ") read by @message; gives its answer, "{}" when it left
 * none. */
/* The replica that writes entries; NULL: a client does. */
static const struct log_source *writing_source;

static const struct log_source *writer_find(void *arg, uint32_t peer)
{
	(void)arg, (void)peer;
	return writing_source;
}

static __attribute__((unused)) enum status handler_call(struct bench *bench, call_handler handler,
							const struct message *message, const char *body,
							char **ret_answer)
{
	struct logging_context context = {
		bench->store, &bench->clock, "demo", "123456789", writer_find, NULL
	};
	AUTO(string) char *text = quotes(body);
	AUTO(json) json_t *value = NULL;
	struct call call = { .context = &context, .method = "POST" };
	enum status rc = message_parse_body(text, strlen(text), &value, &bench->err);

	if (!rc)
		rc = message_read(message, value, "", &call.body, &bench->err);
	if (!rc)
		rc = handler(&call, &bench->err);
	json_decref(call.body);
	if (!rc && call.answer.length == 0)
		text_puts(&call.answer, "{}");
	*ret_answer = rc ? NULL : text_take(&call.answer);
	text_deinit(&call.answer);
	return rc;
}

/* The answer as JSON; fails the test if it is not JSON. */
static __attribute__((unused)) json_t *list_ask(struct bench *bench, const char *body)
{
	AUTO(string) char *answer = NULL;
	json_error_t problem;
	json_t *value;

	if (handler_call(bench, entry_list, &logging_list_entries_request, body, &answer))
		fail_msg("%s: %s", body, bench->err.text);
	value = json_loads(answer, JSON_REJECT_DUPLICATES, &problem);
	if (!value)
		fail_msg("%s: %s: %s", body, problem.text, answer);
	return value;
}

static __attribute__((unused)) void write_entries(struct bench *bench, const char *body)
{
	AUTO(string) char *answer = NULL;

	if (handler_call(bench, entry_write, &logging_write_entries_request, body, &answer))
		fail_msg("%s: %s", body, bench->err.text);
	assert_string_equal(answer, "{}");
}

static __attribute__((unused)) void assert_refused(struct bench *bench, call_handler handler,
						   const struct message *message, const char *body,
						   const char *field)
{
	AUTO(string) char *answer = NULL;

	if (handler_call(bench, handler, message, body, &answer) != STATUS_INVALID_ARGUMENT)
		fail_msg("%s: %s", body, answer);
	if (field)
		assert_string_equal(bench->err.violations[0].field, field);
}
