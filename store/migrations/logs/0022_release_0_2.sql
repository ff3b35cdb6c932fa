-- SPDX-License-Identifier: Apache-2.0
-- Log entries, what they share, and how far each container's output was taken in.
CREATE TABLE meta (
	name TEXT NOT NULL PRIMARY KEY,
	value ANY NOT NULL
) STRICT, WITHOUT ROWID;
-- How far entries are numbered in the order in which they came, by which readers that follow a log know what is new.
INSERT INTO meta (name, value) VALUES ('received', 0);

CREATE TABLE source (
	id INTEGER PRIMARY KEY,
	project TEXT NOT NULL,
	log_name TEXT NOT NULL,
	job INTEGER NOT NULL,
	resource_type TEXT NOT NULL,
	resource_labels TEXT NOT NULL,
	labels TEXT NOT NULL,
	job_label TEXT COLLATE NOCASE, -- of resource_labels
	UNIQUE (project, log_name, job, resource_type, resource_labels, labels)
) STRICT;
CREATE INDEX source_job_label ON source (job_label);
CREATE INDEX source_job ON source (job);

-- insert_id: a number where the store made it (the global sequence), a text where it came with the
-- entry. Numbers sort before texts, texts by their bytes, so that the key is the order of reading.
CREATE TABLE entry (
	job INTEGER NOT NULL,
	ts INTEGER NOT NULL,
	insert_id ANY NOT NULL,
	source INTEGER NOT NULL,
	severity INTEGER NOT NULL,
	kind INTEGER NOT NULL,
	stream INTEGER NOT NULL,
	received_ns INTEGER NOT NULL,
	extra TEXT,
	payload TEXT NOT NULL,
	PRIMARY KEY (job, ts, insert_id, source)
) STRICT, WITHOUT ROWID;
CREATE INDEX entry_time ON entry (ts, insert_id);

CREATE TABLE replica_position (
	job INTEGER NOT NULL,
	attempt INTEGER NOT NULL,
	role INTEGER NOT NULL,
	replica INTEGER NOT NULL,
	restart INTEGER NOT NULL,
	stdout_ns INTEGER NOT NULL,
	stdout_behind INTEGER NOT NULL, -- lines after the clock was put back
	stdout_parts INTEGER NOT NULL,  -- parts of a long line that are stored while its end is not, and its time
	stdout_parts_ns INTEGER NOT NULL,
	stderr_ns INTEGER NOT NULL,
	stderr_behind INTEGER NOT NULL,
	stderr_parts INTEGER NOT NULL,
	stderr_parts_ns INTEGER NOT NULL,
	PRIMARY KEY (job, attempt, role, replica)
) STRICT, WITHOUT ROWID;

-- Jobs of which a program dated entries itself, and how far the times of the others have come.
CREATE TABLE dated_job (
	job INTEGER NOT NULL PRIMARY KEY,
	last_ns INTEGER NOT NULL,
	named INTEGER NOT NULL
) STRICT;
