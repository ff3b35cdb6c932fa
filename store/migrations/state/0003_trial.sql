-- SPDX-License-Identifier: Apache-2.0
-- Trials of tuning jobs. Each is run by a job of its own, which no client sees: its parent is the tuning job.
ALTER TABLE job ADD COLUMN parent INTEGER REFERENCES job (id);
ALTER TABLE job ADD COLUMN trial INTEGER NOT NULL DEFAULT 0;

CREATE TABLE trial (
	job INTEGER NOT NULL REFERENCES job (id),
	number INTEGER NOT NULL,
	run INTEGER NOT NULL UNIQUE REFERENCES job (id),
	outcome INTEGER NOT NULL DEFAULT 0 CHECK (outcome BETWEEN 0 AND 3),
	known INTEGER NOT NULL,
	ended_as INTEGER NOT NULL DEFAULT 0,
	stopped_early INTEGER NOT NULL DEFAULT 0,
	parameters TEXT NOT NULL,
	final TEXT,
	PRIMARY KEY (job, number)
) STRICT, WITHOUT ROWID;

-- Clients' pages and places in the queue hold no trials.
DROP INDEX job_newest;
DROP INDEX job_by_state;
DROP INDEX job_queue;
CREATE INDEX job_newest ON job (project, created_us DESC, id DESC) WHERE parent IS NULL;
CREATE INDEX job_by_state ON job (project, state, created_us DESC, id DESC) WHERE parent IS NULL;
CREATE INDEX job_queue ON job (priority DESC, id) WHERE state = 1 AND parent IS NULL;
-- For the foreign key: without it each new job would look at all jobs.
CREATE INDEX job_parent ON job (parent) WHERE parent IS NOT NULL;
