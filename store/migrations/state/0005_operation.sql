-- SPDX-License-Identifier: Apache-2.0
-- What took place on request and can be asked about for a while: deletions of resources. Each is done when its row is written.
CREATE TABLE operation (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	project TEXT NOT NULL,
	location TEXT NOT NULL,
	operation_id TEXT NOT NULL,
	target TEXT NOT NULL,
	created_us INTEGER NOT NULL,
	UNIQUE (project, operation_id)
) STRICT;
CREATE INDEX operation_newest ON operation (project, location, created_us DESC, id DESC);
CREATE INDEX operation_of_target ON operation (project, location, target, created_us DESC, id DESC);
CREATE INDEX operation_age ON operation (created_us);

-- One index for each kind: of "kind > 0" and "kind = 1" together the planner would take the former for its range.
DROP INDEX job_resource;
CREATE INDEX job_custom ON job (project, location, created_us DESC, id DESC) WHERE kind = 1 AND deleted = 0;
CREATE INDEX job_tuning ON job (project, location, created_us DESC, id DESC) WHERE kind = 2 AND deleted = 0;
