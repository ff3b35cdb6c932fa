-- SPDX-License-Identifier: Apache-2.0
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
