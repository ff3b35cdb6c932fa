-- SPDX-License-Identifier: Apache-2.0
-- What changed of a job, why and when, without texts: one row a change, and one for the end of each replica that a change was
-- made for. Attempts and restarts are limited, and so is their number.
CREATE TABLE journal (
	job INTEGER NOT NULL REFERENCES job (id),
	seq INTEGER NOT NULL,
	time_us INTEGER NOT NULL,
	kind INTEGER NOT NULL,
	attempt INTEGER NOT NULL,
	role INTEGER,
	idx INTEGER,
	restart INTEGER,
	cause INTEGER NOT NULL,
	number INTEGER NOT NULL,
	flags INTEGER NOT NULL,
	PRIMARY KEY (job, seq)
) STRICT, WITHOUT ROWID;
