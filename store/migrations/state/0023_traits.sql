-- SPDX-License-Identifier: Apache-2.0
-- What code must know of a job without reading its documents, as bits: enum job_trait.
ALTER TABLE job ADD COLUMN traits INTEGER NOT NULL DEFAULT 0;
UPDATE job SET traits =
	(kind = 2 OR (kind = 0 AND json_type(input, '$.hyperparameters') IS NOT NULL))
	| (coalesce(json_extract(input, '$.jobSpec.scheduling.strategy'),
	            json_extract(input, '$.trialJobSpec.scheduling.strategy')) IS 'FLEX_START') * 2
	| (json_type(output, '$.builtInAlgorithmOutput') IS NOT NULL) * 4
	WHERE parent IS NULL;
