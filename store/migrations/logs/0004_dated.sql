-- SPDX-License-Identifier: Apache-2.0
-- Jobs of which a program dated entries itself, and how far the times of the others have come.
CREATE TABLE dated_job (
	job INTEGER NOT NULL PRIMARY KEY,
	last_ns INTEGER NOT NULL,
	named INTEGER NOT NULL
) STRICT;
