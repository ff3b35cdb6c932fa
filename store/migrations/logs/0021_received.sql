-- SPDX-License-Identifier: Apache-2.0
-- How far entries were numbered in the order in which they came: readers that follow a log know by it what is new.
INSERT INTO meta (name, value) SELECT 'received', coalesce(max(received_ns), 0) FROM entry;
