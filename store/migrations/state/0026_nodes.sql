-- SPDX-License-Identifier: Apache-2.0
-- Which machine a leased GPU is in: '' is the engine of --engine. GPUs of different machines may have the same id.
ALTER TABLE lease ADD COLUMN node TEXT NOT NULL DEFAULT '';
DROP INDEX lease_exclusive;
CREATE UNIQUE INDEX lease_exclusive ON lease (node, device) WHERE NOT shared;
