-- SPDX-License-Identifier: Apache-2.0
-- Faults that users order: their rules, and what they did to whom. A hit outlives its rule: what it caused is true.
CREATE TABLE fault (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	rule TEXT NOT NULL,
	from_file INTEGER NOT NULL DEFAULT 0,
	created_us INTEGER NOT NULL,
	hits INTEGER NOT NULL DEFAULT 0,
	draws INTEGER NOT NULL DEFAULT 0,
	last_hit_us INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE fault_hit (
	job INTEGER NOT NULL REFERENCES job (id),
	attempt INTEGER NOT NULL,
	stage INTEGER NOT NULL,
	role INTEGER NOT NULL,
	idx INTEGER NOT NULL,
	restart INTEGER NOT NULL,
	fault INTEGER NOT NULL,
	kind INTEGER NOT NULL,
	exit_code INTEGER NOT NULL,
	until_us INTEGER NOT NULL,
	line TEXT NOT NULL,
	PRIMARY KEY (job, attempt, stage, role, idx, restart)
) STRICT, WITHOUT ROWID;
