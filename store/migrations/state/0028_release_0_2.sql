-- SPDX-License-Identifier: Apache-2.0
-- Jobs and all that belongs to them; the service's own lines on their way to logs.db; what the directory is called.
CREATE TABLE meta (
	name TEXT NOT NULL PRIMARY KEY,
	value ANY NOT NULL
) STRICT, WITHOUT ROWID;

-- A job of either API family. One of Vertex AI is a resource in a location and has a name that people give; its id is ours.
-- A trial is run by a job of its own, whose parent is the tuning job.
CREATE TABLE job (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	kind INTEGER NOT NULL DEFAULT 0,
	project TEXT NOT NULL,
	location TEXT,
	job_id TEXT NOT NULL,
	display_name TEXT,
	parent INTEGER REFERENCES job (id),
	trial INTEGER NOT NULL DEFAULT 0,
	state INTEGER NOT NULL CHECK (state BETWEEN 1 AND 7),
	priority INTEGER NOT NULL,
	version INTEGER NOT NULL DEFAULT 1,
	created_us INTEGER NOT NULL,
	started_us INTEGER NOT NULL DEFAULT 0,
	running_us INTEGER NOT NULL DEFAULT 0,
	ended_us INTEGER NOT NULL DEFAULT 0,
	updated_us INTEGER NOT NULL DEFAULT 0,
	verdict INTEGER NOT NULL DEFAULT 0,
	verdict_message TEXT,
	verdict_code INTEGER NOT NULL DEFAULT 0,
	attempt INTEGER NOT NULL DEFAULT 1,
	torn_down INTEGER NOT NULL DEFAULT 0,
	announced INTEGER NOT NULL DEFAULT 0,
	error_message TEXT,
	error_code INTEGER NOT NULL DEFAULT 0,
	labels TEXT,
	input TEXT NOT NULL,
	output TEXT NOT NULL,
	plan TEXT NOT NULL,
	assignment TEXT,
	ml_units_per_hour REAL NOT NULL DEFAULT 0,
	web_access INTEGER NOT NULL DEFAULT 0, -- shells are offered: of a tuning job, in its trials' replicas
	deleted INTEGER NOT NULL DEFAULT 0,
	traits INTEGER NOT NULL DEFAULT 0, -- what code must know without reading the documents, as bits: enum job_trait
	reason_bytes INTEGER NOT NULL DEFAULT 0, -- the length of the reason in error_message; after it comes the pointer to the logs
	replica_count INTEGER NOT NULL DEFAULT 0, -- the size of the job, or of one of its trials
	gpu_count INTEGER NOT NULL DEFAULT 0,
	max_wait_us INTEGER NOT NULL DEFAULT 0, -- how long it may wait in the queue; 0: no limit
	UNIQUE (project, job_id)
) STRICT;

-- Clients' pages are read newest first, all jobs or those in one state, and hold no trials. One index for each kind: of
-- "kind > 0" and "kind = 1" together the planner would take the former for its range.
CREATE INDEX job_newest ON job (project, created_us DESC, id DESC) WHERE kind = 0 AND parent IS NULL;
CREATE INDEX job_by_state ON job (project, state, created_us DESC, id DESC) WHERE kind = 0 AND parent IS NULL;
CREATE INDEX job_custom ON job (project, location, created_us DESC, id DESC) WHERE kind = 1 AND deleted = 0;
CREATE INDEX job_tuning ON job (project, location, created_us DESC, id DESC) WHERE kind = 2 AND deleted = 0;
-- Jobs of all kinds and projects in one list, newest first. It holds all that such a list is searched by, so that a search
-- of many thousand jobs reads no row, which holds a whole plan.
CREATE INDEX job_any ON job (created_us DESC, id DESC, project, state, deleted, kind, location, job_id, display_name, parent)
	WHERE parent IS NULL;
-- The scheduler's jobs, and the order in which jobs wait. States are compared and not looked up by IN: for an IN of more than
-- two values SQLite makes a temporary table at each change of a job, once for each index and trigger that has one.
CREATE INDEX job_unfinished ON job (id) WHERE state < 4 OR state = 6;
CREATE INDEX job_queue ON job (priority DESC, id) WHERE state = 1 AND parent IS NULL;
-- Clients' jobs that have ended, the oldest end first, which is the order in which they are removed.
CREATE INDEX job_ended ON job (ended_us, id) WHERE parent IS NULL AND state > 3 AND state <> 6 AND torn_down = 1;
-- All that a list of trials shows of their jobs, without the rows, which hold whole plans. For the foreign key too.
CREATE INDEX job_of_trial ON job (parent, trial, state, started_us, running_us, ended_us) WHERE parent IS NOT NULL;

-- What changed of a job, why and when, without texts: one row for each change, and one for the end of each replica that caused a
-- change. The numbers of attempts and restarts are limited, and so is the number of rows.
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

-- AUTOINCREMENT: logs.db remembers the greatest id it holds, so none may come twice.
CREATE TABLE outbox (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	job INTEGER NOT NULL,
	severity INTEGER NOT NULL,
	time_ns INTEGER NOT NULL,
	line TEXT NOT NULL
) STRICT;

-- Which GPUs the replicas of a job hold.
CREATE TABLE lease (
	job INTEGER NOT NULL REFERENCES job (id),
	role INTEGER NOT NULL,
	replica INTEGER NOT NULL,
	device TEXT NOT NULL,
	shared INTEGER NOT NULL,
	node TEXT NOT NULL DEFAULT '', -- the machine that has the GPU; '': the engine of --engine
	PRIMARY KEY (job, role, replica, device)
) STRICT, WITHOUT ROWID;
-- No device of a machine is given to two replicas, whatever the program believes. Machines may have GPUs with equal ids.
CREATE UNIQUE INDEX lease_exclusive ON lease (node, device) WHERE NOT shared;
CREATE TRIGGER lease_returned AFTER UPDATE OF state ON job WHEN new.state > 3 AND new.state <> 6
BEGIN
	DELETE FROM lease WHERE job = new.id;
END;

-- Who may do what with a job.
CREATE TABLE policy (
	job INTEGER PRIMARY KEY REFERENCES job (id),
	version INTEGER NOT NULL,
	policy TEXT NOT NULL
) STRICT;

-- Trials of tuning jobs.
CREATE TABLE trial (
	job INTEGER NOT NULL REFERENCES job (id),
	number INTEGER NOT NULL,
	run INTEGER NOT NULL UNIQUE REFERENCES job (id),
	outcome INTEGER NOT NULL DEFAULT 0 CHECK (outcome BETWEEN 0 AND 3),
	known INTEGER NOT NULL,
	ended_as INTEGER NOT NULL DEFAULT 0,
	stopped_early INTEGER NOT NULL DEFAULT 0,
	parameters TEXT NOT NULL,
	final TEXT, -- the values of the last measurement, a JSON array
	final_step INTEGER NOT NULL DEFAULT 0,
	PRIMARY KEY (job, number)
) STRICT, WITHOUT ROWID;

-- Measurements of trials, beside their rows: a list of trials does not read them.
CREATE TABLE curve (
	run INTEGER PRIMARY KEY REFERENCES job (id),
	points TEXT NOT NULL
) STRICT;

-- Deletions of resources, which clients can ask about for a while. Each is done when its row is written.
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

-- A pipeline has no life of its own: its state is that of the job behind it.
CREATE TABLE pipeline (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	project TEXT NOT NULL,
	location TEXT NOT NULL,
	pipeline_id TEXT NOT NULL,
	display_name TEXT NOT NULL,
	labels TEXT,
	input TEXT NOT NULL,
	job INTEGER NOT NULL UNIQUE REFERENCES job (id),
	created_us INTEGER NOT NULL,
	deleted INTEGER NOT NULL DEFAULT 0,
	UNIQUE (project, pipeline_id)
) STRICT;
CREATE INDEX pipeline_newest ON pipeline (project, location, created_us DESC, id DESC) WHERE deleted = 0;

-- One version of a model. It is written with the pipeline that is to make it, as version 0, and gets its number and its
-- times in the change that makes the job's success known.
CREATE TABLE model (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	pipeline INTEGER NOT NULL UNIQUE REFERENCES pipeline (id),
	project TEXT NOT NULL,
	location TEXT NOT NULL,
	model_id TEXT NOT NULL,
	version INTEGER NOT NULL DEFAULT 0,
	input TEXT NOT NULL,
	artifact_uri TEXT,
	created_us INTEGER NOT NULL DEFAULT 0,
	first_us INTEGER NOT NULL DEFAULT 0,
	deleted INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX model_version ON model (project, location, model_id, version) WHERE deleted = 0;
CREATE INDEX model_newest ON model (project, location, created_us DESC, id DESC) WHERE deleted = 0 AND created_us > 0;
CREATE INDEX model_version_newest ON model (project, location, model_id, created_us DESC, id DESC)
	WHERE deleted = 0 AND created_us > 0;

CREATE TABLE model_alias (
	project TEXT NOT NULL,
	location TEXT NOT NULL,
	model_id TEXT NOT NULL,
	alias TEXT NOT NULL,
	version INTEGER NOT NULL,
	PRIMARY KEY (project, location, model_id, alias)
) STRICT, WITHOUT ROWID;

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
	bytes_per_s INTEGER NOT NULL DEFAULT 0,
	line TEXT NOT NULL,
	PRIMARY KEY (job, attempt, stage, role, idx, restart)
) STRICT, WITHOUT ROWID;

-- Containers of jobs under way that have printed a line which a rule waits for. It is not read again after a restart.
CREATE TABLE fault_mark (
	job INTEGER NOT NULL REFERENCES job (id),
	attempt INTEGER NOT NULL,
	role INTEGER NOT NULL,
	idx INTEGER NOT NULL,
	restart INTEGER NOT NULL,
	fault INTEGER NOT NULL,
	PRIMARY KEY (job, attempt, role, idx, restart, fault)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER fault_mark_ended AFTER UPDATE OF state ON job WHEN new.state > 3 AND new.state <> 6
BEGIN
	DELETE FROM fault_mark WHERE job = new.id;
END;

CREATE INDEX fault_mark_of_rule ON fault_mark (fault);
