-- SPDX-License-Identifier: Apache-2.0
-- Jobs, the service's own lines on their way to logs.db, and what the directory is called.
CREATE TABLE meta (
	name TEXT NOT NULL PRIMARY KEY,
	value ANY NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE job (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	project TEXT NOT NULL,
	job_id TEXT NOT NULL,
	state INTEGER NOT NULL CHECK (state BETWEEN 1 AND 7),
	priority INTEGER NOT NULL,
	version INTEGER NOT NULL DEFAULT 1,
	created_us INTEGER NOT NULL,
	started_us INTEGER NOT NULL DEFAULT 0,
	running_us INTEGER NOT NULL DEFAULT 0,
	ended_us INTEGER NOT NULL DEFAULT 0,
	verdict INTEGER NOT NULL DEFAULT 0,
	attempt INTEGER NOT NULL DEFAULT 1,
	torn_down INTEGER NOT NULL DEFAULT 0,
	announced INTEGER NOT NULL DEFAULT 0,
	error_message TEXT,
	verdict_message TEXT,
	labels TEXT,
	input TEXT NOT NULL,
	output TEXT NOT NULL,
	plan TEXT NOT NULL,
	UNIQUE (project, job_id)
) STRICT;

-- Pages are read newest first, all of them or those in one state.
CREATE INDEX job_newest ON job (project, created_us DESC, id DESC);
CREATE INDEX job_by_state ON job (project, state, created_us DESC, id DESC);
-- What the scheduler asks for, and the order in which jobs wait.
CREATE INDEX job_unfinished ON job (id) WHERE state IN (1, 2, 3, 6);
CREATE INDEX job_queue ON job (priority DESC, id) WHERE state = 1;

-- AUTOINCREMENT: logs.db remembers the greatest id it holds, so none may come twice.
CREATE TABLE outbox (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	job INTEGER NOT NULL,
	severity INTEGER NOT NULL,
	time_ns INTEGER NOT NULL,
	line TEXT NOT NULL
) STRICT;
