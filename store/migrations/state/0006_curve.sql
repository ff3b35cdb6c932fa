-- SPDX-License-Identifier: Apache-2.0
-- What trials have reported, beside their rows: who lists trials does not read it.
CREATE TABLE curve (
	run INTEGER PRIMARY KEY REFERENCES job (id),
	points TEXT NOT NULL
) STRICT;

-- All that a list of trials tells of their runs, without the runs' rows, which hold whole plans. For the foreign key too.
DROP INDEX job_parent;
CREATE INDEX job_of_trial ON job (parent, trial, state, started_us, running_us, ended_us) WHERE parent IS NOT NULL;
