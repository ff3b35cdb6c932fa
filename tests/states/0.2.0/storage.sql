PRAGMA application_id = 1954116196;
PRAGMA user_version = 20;
BEGIN TRANSACTION;
CREATE TABLE assembly (
	id TEXT PRIMARY KEY,
	bucket INTEGER NOT NULL REFERENCES bucket (id),
	name TEXT NOT NULL,
	content_type TEXT,
	metadata TEXT NOT NULL,
	created_us INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE bucket (
	id INTEGER PRIMARY KEY,
	name TEXT NOT NULL UNIQUE,
	project TEXT NOT NULL,
	created_us INTEGER NOT NULL,
	updated_us INTEGER NOT NULL,
	metageneration INTEGER NOT NULL DEFAULT 1,
	metadata TEXT NOT NULL
) STRICT;
INSERT INTO "bucket" VALUES(1,'kept','demo-project',1795815007243104,1795815007243104,1,'{}');
CREATE TABLE meta (
	name TEXT PRIMARY KEY,
	value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "meta" VALUES('generation',1795815007244424);
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
INSERT INTO "object" VALUES(1,'a/b.txt',1795815007244424,1,11,1795815007244424,1795815007244424,'x/y','{}',1706421188,X'62EF21E5201137D133F98706C24E7205',0,7355658269669756242);
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
CREATE TABLE post_commit (
	id INTEGER PRIMARY KEY,
	bucket TEXT NOT NULL,
	name TEXT,
	blob INTEGER
) STRICT;
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
CREATE INDEX bucket_of_project ON bucket (project, name);
CREATE INDEX object_of_blob ON object (blob);
CREATE INDEX session_of_blob ON session (blob);
CREATE INDEX session_by_age ON session (created_us);
CREATE INDEX assembly_by_name ON assembly (bucket, name, id);
CREATE INDEX assembly_by_age ON assembly (created_us);
CREATE INDEX part_of_blob ON part (blob);
COMMIT;
