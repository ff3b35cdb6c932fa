-- SPDX-License-Identifier: Apache-2.0
-- The same rows as before, by comparisons: for an IN of more than two values, SQLite makes a table of them at each change
-- of a job, once for each index and trigger that has one.
DROP INDEX job_unfinished;
CREATE INDEX job_unfinished ON job (id) WHERE state < 4 OR state = 6;
DROP INDEX job_ended;
CREATE INDEX job_ended ON job (ended_us, id) WHERE parent IS NULL AND state > 3 AND state <> 6 AND torn_down = 1;
DROP TRIGGER lease_returned;
CREATE TRIGGER lease_returned AFTER UPDATE OF state ON job WHEN new.state > 3 AND new.state <> 6
BEGIN
	DELETE FROM lease WHERE job = new.id;
END;
DROP TRIGGER fault_mark_ended;
CREATE TRIGGER fault_mark_ended AFTER UPDATE OF state ON job WHEN new.state > 3 AND new.state <> 6
BEGIN
	DELETE FROM fault_mark WHERE job = new.id;
END;
