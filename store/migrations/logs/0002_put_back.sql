-- SPDX-License-Identifier: Apache-2.0
-- Lines after the clock was put back, and whose container a position is of (-1: not known).
ALTER TABLE replica_position ADD COLUMN restart INTEGER NOT NULL DEFAULT -1;
ALTER TABLE replica_position ADD COLUMN stdout_behind INTEGER NOT NULL DEFAULT 0;
ALTER TABLE replica_position ADD COLUMN stderr_behind INTEGER NOT NULL DEFAULT 0;
