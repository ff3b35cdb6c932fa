-- SPDX-License-Identifier: Apache-2.0
-- For wrk: each request creates a job of a name of its own.
local threads = 0
function setup(thread)
	thread:set("number", threads)
	threads = threads + 1
end
local count = 0
function request()
	count = count + 1
	local body = string.format('{"jobId":"job_%d_%d","trainingInput":{"region":"us-central1","masterConfig":{"imageUri":"image:1"},"args":["true"]}}', number, count)
	return wrk.format("POST", nil, { ["Content-Type"] = "application/json" }, body)
end
