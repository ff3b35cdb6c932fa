/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/answer.h"

#include "api/http/pretty.h"

static const char json_media_type[] = "application/json; charset=UTF-8";

static enum status fields_apply(const char *mask, struct text *answer, struct error *err)
{
	struct text kept AUTO_TEXT = { .may_fail = true };
	enum status rc = mask ? fields_mask_write(&kept, mask, answer->data, err) : STATUS_OK;

	if (rc || !mask)
		return rc;
	text_deinit(answer);
	*answer = kept;
	kept = (struct text){ 0 };
	return STATUS_OK;
}

static void answer_json(struct exchange *exchange, const struct text *compact)
{
	exchange->content_type = json_media_type;
	if (exchange->parameters.compact || exchange->rules->compact)
		text_append(&exchange->answer, compact->data, compact->length);
	else
		pretty_write(&exchange->answer, compact->data, compact->length);
	exchange->answer.failed |= compact->failed;
}

static enum status answer_made(struct exchange *exchange, struct error *err)
{
	struct text *answer = &exchange->call.answer;
	enum status rc;

	if (exchange->call.content_type || headers_find(exchange, "Content-Type")) {
		exchange->content_type = exchange->call.content_type;
		const struct text room = exchange->answer;

		exchange->answer = *answer;
		*answer = room;
	} else {
		if (answer->length == 0)
			text_puts(answer, "{}");
		rc = answer->failed ? STATUS_OK : fields_apply(exchange->parameters.fields, answer, err);
		if (rc)
			return rc;
		answer_json(exchange, answer);
	}
	return exchange->answer.failed ? error_no_memory(err) : STATUS_OK;
}

/* Source: RFC 9110 sections 15.3.5 and 15.4.5 */
static bool has_content(unsigned http_status)
{
	return http_status != 204 && http_status != 304;
}

enum status answer_success(struct exchange *exchange, struct error *err)
{
	const struct call *call = &exchange->call;

	exchange->http_status = call->http_status ? call->http_status : error_http_status(STATUS_OK);
	if (!call->stream.read && !has_content(exchange->http_status))
		return STATUS_OK;
	if (!call->stream.read)
		return answer_made(exchange, err);
	exchange->content_type = call->content_type ? call->content_type : "application/octet-stream";
	return STATUS_OK;
}

/* Renders the error in the family's own form. Internal errors show no details in that form either. */
static void error_render(struct exchange *exchange)
{
	struct error shown AUTO_ERROR = { 0 };
	const struct error *err = &exchange->error;

	if (error_is_internal(err->status)) {
		error_set(&shown, err->status, NULL, "%s", error_message(err));
		err = &shown;
	}
	exchange->content_type = exchange->match.family->error_render(
		&exchange->call, err, exchange->http_status, &exchange->answer);
}

static unsigned refused_status(const struct exchange *exchange)
{
	const struct match *match = &exchange->match;

	if (exchange->refusal)
		return (unsigned)exchange->refusal;
	if (match->kind == MATCH_ROUTE && match->family->error_status && !exchange->stopped)
		return match->family->error_status(&exchange->call, &exchange->error);
	return error_http_status(exchange->error.status);
}

void answer_refusal(struct exchange *exchange)
{
	struct text compact AUTO_TEXT = { 0 };

	text_renew(&exchange->answer, ANSWER_ROOM_KEPT_BYTES);
	exchange->http_status = refused_status(exchange);
	if (exchange->match.kind == MATCH_ROUTE && exchange->match.family->error_render) {
		error_render(exchange);
		return;
	}
	error_body_write(&compact, &exchange->error, exchange->refusal, exchange->parameters.form);
	answer_json(exchange, &compact);
}
