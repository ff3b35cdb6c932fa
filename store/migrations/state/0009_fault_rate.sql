-- SPDX-License-Identifier: Apache-2.0
-- How fast a slowed network still is.
ALTER TABLE fault_hit ADD COLUMN bytes_per_s INTEGER NOT NULL DEFAULT 0;
