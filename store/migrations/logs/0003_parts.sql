-- SPDX-License-Identifier: Apache-2.0
-- Parts of a long line that are stored while its end is not, and its time.
ALTER TABLE replica_position ADD COLUMN stdout_parts INTEGER NOT NULL DEFAULT 0;
ALTER TABLE replica_position ADD COLUMN stdout_parts_ns INTEGER NOT NULL DEFAULT 0;
ALTER TABLE replica_position ADD COLUMN stderr_parts INTEGER NOT NULL DEFAULT 0;
ALTER TABLE replica_position ADD COLUMN stderr_parts_ns INTEGER NOT NULL DEFAULT 0;
