-- SPDX-License-Identifier: Apache-2.0
-- Clients' jobs that have ended, the oldest end first: those that are removed first.
CREATE INDEX job_ended ON job (ended_us, id) WHERE parent IS NULL AND state IN (4, 5, 7) AND torn_down = 1;
