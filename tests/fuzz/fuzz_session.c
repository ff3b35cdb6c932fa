/* SPDX-License-Identifier: Apache-2.0 */
/* A connection of gRPC, from the client's preface on; its calls are echoed, or fail.
 *
 * The first byte says how many bytes are read at once: frames come in pieces. */
#include <stdint.h>
#include <stdlib.h>

#include "api/grpc/session.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool call_admit(void *arg, const struct session_call *call, struct rpc_outcome *outcome)
{
	(void)arg;
	if (!call->authorization)
		return true;
	rpc_outcome_fail(outcome, GRPC_UNIMPLEMENTED, call->authorization);
	return false;
}

static void call_answer(void *arg, const struct session_call *call, struct text *bytes,
			struct rpc_outcome *outcome)
{
	(void)arg;
	if (call->length % 2)
		rpc_outcome_fail(outcome, GRPC_INVALID_ARGUMENT, call->path);
	else
		text_append(bytes, call->data, call->length);
}

static void sent_drop(struct session *session)
{
	const uint8_t *data;

	while (session_send(session, &data) > 0)
		;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0";
	struct session_pool pool = { 0 };
	AUTO(session)
	struct session *session = session_new(
		&(struct session_options){ .pool = &pool, .admit = call_admit, .call = call_answer });
	const size_t step = size && *data ? *data : SIZE_MAX;

	if (!size || !session_receive(session, preface, sizeof(preface)))
		return 0;
	for (data++, size--; size && session_lives(session);) {
		const size_t length = size < step ? size : step;

		if (!session_receive(session, data, length))
			break;
		sent_drop(session);
		data += length;
		size -= length;
	}
	sent_drop(session);
	return 0;
}
