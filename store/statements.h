/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/statements.h: every statement that does not depend on a filter, by name. */

/* The four kinds of connections. */
enum connection_role { STATE_WRITER, STATE_READER, LOGS_WRITER, LOGS_READER, CONNECTION_ROLE_COUNT };

enum statement_id {
	/* state.db */
	STATE_META_GET,
	STATE_META_PUT,
	JOB_INSERT,
	JOB_BY_ID,
	JOB_BY_NAME,
	JOB_ROW, /* without its place in the queue */
	JOB_SET_LABELS,
	JOB_CANCEL,
	JOB_ADVANCE,
	JOB_UNFINISHED,
	JOB_QUEUE,
	LEASE_INSERT,
	LEASES,
	OUTBOX_INSERT,
	OUTBOX_AFTER,
	OUTBOX_DELETE,
	POLICY_OF_JOB,
	POLICY_PUT,
	/* logs.db */
	LOGS_META_GET,
	LOGS_META_PUT,
	SOURCE_INSERT,
	SOURCE_ID,
	SOURCE_BY_ID,
	SOURCE_NAMES,
	ENTRY_INSERT,
	ENTRY_LAST,
	ENTRY_STDERR_TAIL,
	POSITION_PUT,
	POSITION_GET,
	STATEMENT_COUNT
};

struct statement {
	unsigned roles; /* bits of 1 << connection_role: where it is prepared */
	const char *sql;
};

extern const struct statement statements[STATEMENT_COUNT];
