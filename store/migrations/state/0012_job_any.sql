-- SPDX-License-Identifier: Apache-2.0
-- Jobs of all kinds and projects in one list, newest first. It holds all that such a list is searched by, so that a search
-- of many thousand jobs reads no row, which holds a whole plan.
CREATE INDEX job_any ON job (created_us DESC, id DESC, project, state, deleted, kind, location, job_id, display_name, parent)
	WHERE parent IS NULL;
