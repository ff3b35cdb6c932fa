-- SPDX-License-Identifier: Apache-2.0
-- Buckets, objects, resumable sessions, and the work on files that follows a change.
CREATE TABLE meta (
	name TEXT PRIMARY KEY,
	value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO meta (name, value) VALUES ('generation', 0);

CREATE TABLE bucket (
	id INTEGER PRIMARY KEY,
	name TEXT NOT NULL UNIQUE,
	project TEXT NOT NULL,
	created_us INTEGER NOT NULL,
	updated_us INTEGER NOT NULL,
	metageneration INTEGER NOT NULL DEFAULT 1,
	metadata TEXT NOT NULL
) STRICT;
CREATE INDEX bucket_of_project ON bucket (project, name);

-- The live objects. Names compare by their bytes. Several may share a blob, the file with the bytes.
CREATE TABLE object (
	bucket INTEGER NOT NULL REFERENCES bucket (id),
	name TEXT NOT NULL,
	generation INTEGER NOT NULL,
	metageneration INTEGER NOT NULL,
	size_bytes INTEGER NOT NULL,
	created_us INTEGER NOT NULL,
	updated_us INTEGER NOT NULL,
	content_type TEXT,
	metadata TEXT NOT NULL,
	crc32c INTEGER NOT NULL,
	md5 BLOB,
	component_count INTEGER NOT NULL,
	blob INTEGER NOT NULL,
	PRIMARY KEY (bucket, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX object_of_blob ON object (blob);

-- A resumable upload. Its bytes are the file of its blob among the uploads, as many as that file has.
CREATE TABLE session (
	id TEXT PRIMARY KEY,
	bucket TEXT NOT NULL,
	name TEXT NOT NULL,
	content_type TEXT,
	metadata TEXT NOT NULL,
	generation_match INTEGER NOT NULL,
	generation_not_match INTEGER NOT NULL,
	metageneration_match INTEGER NOT NULL,
	metageneration_not_match INTEGER NOT NULL,
	crc32c INTEGER, -- what the client says, or null
	md5 BLOB,
	total_bytes INTEGER NOT NULL,
	created_us INTEGER NOT NULL,
	blob INTEGER NOT NULL,
	answer TEXT -- the object that it became
) STRICT, WITHOUT ROWID;
CREATE INDEX session_of_blob ON session (blob);
CREATE INDEX session_by_age ON session (created_us);

-- Work on files that is still to be done: the tree's file of an object (name null: the directory of a bucket) is to be
-- as the index says, and a blob that nothing uses any more is to be removed.
CREATE TABLE post_commit (
	id INTEGER PRIMARY KEY,
	bucket TEXT NOT NULL,
	name TEXT,
	blob INTEGER
) STRICT;

-- Uploads in parts, and their parts. The bytes of a part are the file of its blob among the uploads.
CREATE TABLE assembly (
	id TEXT PRIMARY KEY,
	bucket INTEGER NOT NULL REFERENCES bucket (id),
	name TEXT NOT NULL,
	content_type TEXT,
	metadata TEXT NOT NULL,
	created_us INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX assembly_by_name ON assembly (bucket, name, id);
CREATE INDEX assembly_by_age ON assembly (created_us);

CREATE TABLE part (
	assembly TEXT NOT NULL REFERENCES assembly (id),
	number INTEGER NOT NULL,
	size_bytes INTEGER NOT NULL,
	created_us INTEGER NOT NULL,
	crc32c INTEGER NOT NULL,
	md5 BLOB NOT NULL,
	blob INTEGER NOT NULL,
	PRIMARY KEY (assembly, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX part_of_blob ON part (blob);
