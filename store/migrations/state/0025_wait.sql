-- SPDX-License-Identifier: Apache-2.0
-- How long a job may wait in the queue; 0: no limit. With it, a start reads no plan of a job that merely waits.
ALTER TABLE job ADD COLUMN max_wait_us INTEGER NOT NULL DEFAULT 0;
UPDATE job SET max_wait_us = coalesce(json_extract(plan, '$.max_wait_us'), 0) WHERE state = 1;
