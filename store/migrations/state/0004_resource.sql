-- SPDX-License-Identifier: Apache-2.0
-- Jobs of the other API family, which are resources in a location and have names that people give; ours are their ids.
ALTER TABLE job ADD COLUMN kind INTEGER NOT NULL DEFAULT 0;
ALTER TABLE job ADD COLUMN location TEXT;
ALTER TABLE job ADD COLUMN display_name TEXT;
ALTER TABLE job ADD COLUMN updated_us INTEGER NOT NULL DEFAULT 0;
ALTER TABLE job ADD COLUMN verdict_code INTEGER NOT NULL DEFAULT 0;
ALTER TABLE job ADD COLUMN error_code INTEGER NOT NULL DEFAULT 0;
ALTER TABLE job ADD COLUMN deleted INTEGER NOT NULL DEFAULT 0;

DROP INDEX job_newest;
DROP INDEX job_by_state;
CREATE INDEX job_newest ON job (project, created_us DESC, id DESC) WHERE kind = 0 AND parent IS NULL;
CREATE INDEX job_by_state ON job (project, state, created_us DESC, id DESC) WHERE kind = 0 AND parent IS NULL;
CREATE INDEX job_resource ON job (project, kind, location, created_us DESC, id DESC) WHERE kind > 0 AND deleted = 0;
