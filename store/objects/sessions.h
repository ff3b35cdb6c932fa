/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/objects/sessions.h: resumable upload sessions, as uploads use them. */
#include "store/connection.h"
#include "store/objects/objects.h"

/* Makes SESSION_ID_SIZE unguessable bytes. */
void session_id_make(char *ret_id);

/* Inside a change: the session has become this object. ABORTED: it was deleted or has ended otherwise. */
enum status session_row_answer(struct connection *connection, const char *id, const struct object *object,
			       struct error *err);
