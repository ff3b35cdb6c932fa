-- SPDX-License-Identifier: Apache-2.0
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
