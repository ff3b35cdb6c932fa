-- SPDX-License-Identifier: Apache-2.0
-- What a job was let in with and what it consumes, which GPUs its replicas hold, and who may do what with it.
ALTER TABLE job ADD COLUMN assignment TEXT;
ALTER TABLE job ADD COLUMN ml_units_per_hour REAL NOT NULL DEFAULT 0;

CREATE TABLE lease (
	job INTEGER NOT NULL REFERENCES job (id),
	role INTEGER NOT NULL,
	replica INTEGER NOT NULL,
	device TEXT NOT NULL,
	shared INTEGER NOT NULL,
	PRIMARY KEY (job, role, replica, device)
) STRICT, WITHOUT ROWID;
-- No device is given to two replicas, whatever the program believes.
CREATE UNIQUE INDEX lease_exclusive ON lease (device) WHERE NOT shared;
CREATE TRIGGER lease_returned AFTER UPDATE OF state ON job WHEN new.state IN (4, 5, 7)
BEGIN
	DELETE FROM lease WHERE job = new.id;
END;

CREATE TABLE policy (
	job INTEGER PRIMARY KEY REFERENCES job (id),
	version INTEGER NOT NULL,
	policy TEXT NOT NULL
) STRICT;
