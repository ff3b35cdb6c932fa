-- SPDX-License-Identifier: Apache-2.0
-- Jobs, and the runs of their trials, whose replicas are offered interactive shells while they run.
ALTER TABLE job ADD COLUMN web_access INTEGER NOT NULL DEFAULT 0;
UPDATE job SET web_access = 1 WHERE instr(input, '"enableWebAccess":true') > 0;
