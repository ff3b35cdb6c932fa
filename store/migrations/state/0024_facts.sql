-- SPDX-License-Identifier: Apache-2.0
-- What was searched in a job's texts and documents: how much of error_message is its reason, without the pointer to the
-- logs; the size of a job, or of one of its trials; a trial's last measurement, whose values stay a JSON array.
ALTER TABLE job ADD COLUMN reason_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE job ADD COLUMN replica_count INTEGER NOT NULL DEFAULT 0;
ALTER TABLE job ADD COLUMN gpu_count INTEGER NOT NULL DEFAULT 0;
ALTER TABLE trial ADD COLUMN final_step INTEGER NOT NULL DEFAULT 0;
UPDATE job SET reason_bytes = coalesce(
	nullif(instr(CAST(error_message AS BLOB), CAST(char(10, 10)
	       || 'To find out more about why your job exited please check the logs: ' AS BLOB)), 0) - 1,
	length(CAST(error_message AS BLOB)))
	WHERE error_message IS NOT NULL;
UPDATE job SET
	replica_count = coalesce((SELECT sum(json_extract(value, '$.count')) FROM json_each(plan, '$.pools')), 0),
	gpu_count = coalesce((SELECT sum(json_extract(value, '$.count') * json_extract(value, '$.accelerator_count'))
		FROM json_each(plan, '$.pools') WHERE json_extract(value, '$.accelerator_type') NOT LIKE 'TPU%'), 0)
	WHERE parent IS NULL;
UPDATE trial SET final_step = json_extract(final, '$.step'), final = json_extract(final, '$.values')
	WHERE final IS NOT NULL;
