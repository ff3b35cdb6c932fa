-- SPDX-License-Identifier: Apache-2.0
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

CREATE TRIGGER fault_mark_ended AFTER UPDATE OF state ON job WHEN new.state IN (4, 5, 7)
BEGIN
	DELETE FROM fault_mark WHERE job = new.id;
END;

CREATE INDEX fault_mark_of_rule ON fault_mark (fault);
