PRAGMA application_id = 1954116196;
PRAGMA user_version = 28;
BEGIN TRANSACTION;
CREATE TABLE curve (
	run INTEGER PRIMARY KEY REFERENCES job (id),
	points TEXT NOT NULL
) STRICT;
INSERT INTO "curve" VALUES(4,'{"reported":1,"stride":1,"points":[[0,7,0.0,5.0]]}');
INSERT INTO "curve" VALUES(5,'{"reported":1,"stride":1,"points":[[0,7,0.37262606620788574,4.07226562498181]]}');
CREATE TABLE fault (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	rule TEXT NOT NULL,
	from_file INTEGER NOT NULL DEFAULT 0,
	created_us INTEGER NOT NULL,
	hits INTEGER NOT NULL DEFAULT 0,
	draws INTEGER NOT NULL DEFAULT 0,
	last_hit_us INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE fault_hit (
	job INTEGER NOT NULL REFERENCES job (id),
	attempt INTEGER NOT NULL,
	stage INTEGER NOT NULL,
	role INTEGER NOT NULL,
	idx INTEGER NOT NULL,
	restart INTEGER NOT NULL,
	fault INTEGER NOT NULL,
	kind INTEGER NOT NULL,
	exit_code INTEGER NOT NULL,
	until_us INTEGER NOT NULL,
	bytes_per_s INTEGER NOT NULL DEFAULT 0,
	line TEXT NOT NULL,
	PRIMARY KEY (job, attempt, stage, role, idx, restart)
) STRICT, WITHOUT ROWID;
CREATE TABLE fault_mark (
	job INTEGER NOT NULL REFERENCES job (id),
	attempt INTEGER NOT NULL,
	role INTEGER NOT NULL,
	idx INTEGER NOT NULL,
	restart INTEGER NOT NULL,
	fault INTEGER NOT NULL,
	PRIMARY KEY (job, attempt, role, idx, restart, fault)
) STRICT, WITHOUT ROWID;
CREATE TABLE job (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	kind INTEGER NOT NULL DEFAULT 0,
	project TEXT NOT NULL,
	location TEXT,
	job_id TEXT NOT NULL,
	display_name TEXT,
	parent INTEGER REFERENCES job (id),
	trial INTEGER NOT NULL DEFAULT 0,
	state INTEGER NOT NULL CHECK (state BETWEEN 1 AND 7),
	priority INTEGER NOT NULL,
	version INTEGER NOT NULL DEFAULT 1,
	created_us INTEGER NOT NULL,
	started_us INTEGER NOT NULL DEFAULT 0,
	running_us INTEGER NOT NULL DEFAULT 0,
	ended_us INTEGER NOT NULL DEFAULT 0,
	updated_us INTEGER NOT NULL DEFAULT 0,
	verdict INTEGER NOT NULL DEFAULT 0,
	verdict_message TEXT,
	verdict_code INTEGER NOT NULL DEFAULT 0,
	attempt INTEGER NOT NULL DEFAULT 1,
	torn_down INTEGER NOT NULL DEFAULT 0,
	announced INTEGER NOT NULL DEFAULT 0,
	error_message TEXT,
	error_code INTEGER NOT NULL DEFAULT 0,
	labels TEXT,
	input TEXT NOT NULL,
	output TEXT NOT NULL,
	plan TEXT NOT NULL,
	assignment TEXT,
	ml_units_per_hour REAL NOT NULL DEFAULT 0,
	web_access INTEGER NOT NULL DEFAULT 0, -- shells are offered: of a tuning job, in its trials' replicas
	deleted INTEGER NOT NULL DEFAULT 0,
	traits INTEGER NOT NULL DEFAULT 0, -- what code must know without reading the documents, as bits: enum job_trait
	reason_bytes INTEGER NOT NULL DEFAULT 0, -- the length of the reason in error_message; after it comes the pointer to the logs
	replica_count INTEGER NOT NULL DEFAULT 0, -- the size of the job, or of one of its trials
	gpu_count INTEGER NOT NULL DEFAULT 0,
	max_wait_us INTEGER NOT NULL DEFAULT 0, -- how long it may wait in the queue; 0: no limit
	UNIQUE (project, job_id)
) STRICT;
INSERT INTO "job" VALUES(1,0,'demo-project',NULL,'one_that_ran',NULL,NULL,0,4,0,6,1795815001363428,1795815001378902,1795815002147278,1795815002363550,1795815002400157,4,NULL,0,1,1,1,NULL,0,'{"kept":"yes"}','{"args":["sh","-c","echo a line of a job; echo another >&2"],"region":"us-central1","masterConfig":{"imageUri":"trainyard-test:1"}}','{}','{"dialect":"ml","project":"demo-project","job_id":"one_that_ran","cluster_id":"edc6c67fb7","region":"us-central1","input":"{\"args\":[\"sh\",\"-c\",\"echo a line of a job; echo another \\u003e\\u00262\"],\"region\":\"us-central1\",\"run_on_raw_vm\":true,\"master_config\":{\"image_uri\":\"trainyard-test:1\"}}","max_running_us":604800000000,"differences":[{"kind":"IN_DOUBT_IN_CLOUD","code":"image-registry","field":"trainingInput.masterConfig.imageUri","text":"The cloud may not pull trainyard-test:1: it wants images to be in Artifact Registry or Container Registry."}],"pools":{"master":{"count":1,"image":"trainyard-test:1","machine_type":"n1-standard-4","args":["sh","-c","echo a line of a job; echo another >&2"]}}}','{"limits":{"master":{"nano_cpus":2000000000,"memory_bytes":16106127360,"shm_bytes":8053063680},"worker":{"nano_cpus":0,"memory_bytes":0,"shm_bytes":0},"ps":{"nano_cpus":0,"memory_bytes":0,"shm_bytes":0},"evaluator":{"nano_cpus":0,"memory_bytes":0,"shm_bytes":0}},"devices":{},"shared":false,"differences":[{"kind":"DONE_OTHERWISE","code":"machine-fitted","field":"pools.master.machine_type","text":"The master has 2 vCPUs and 15 GiB of memory at most here; n1-standard-4 has 4 and 15."}]}',3.87755102040816312936e-01,0,0,0,0,1,0,0);
INSERT INTO "job" VALUES(2,0,'demo-project',NULL,'one_that_failed',NULL,NULL,0,5,0,7,1795815002570165,1795815002578823,1795815003517928,1795815003740816,1795815003864145,5,'The replica master 0 exited with a non-zero status of 3. Termination reason: Error. ',3,1,1,1,'The replica master 0 exited with a non-zero status of 3. Termination reason: Error. 

To find out more about why your job exited please check the logs: https://console.cloud.google.com/logs/viewer?project=123456789012&resource=ml_job%2Fjob_id%2Fone_that_failed&advancedFilter=resource.type%3D%22ml_job%22%0Aresource.labels.job_id%3D%22one_that_failed%22',3,NULL,'{"args":["sh","-c","exit 3"],"region":"us-central1","masterConfig":{"imageUri":"trainyard-test:1"}}','{}','{"dialect":"ml","project":"demo-project","job_id":"one_that_failed","cluster_id":"5174248fac","region":"us-central1","input":"{\"args\":[\"sh\",\"-c\",\"exit 3\"],\"region\":\"us-central1\",\"run_on_raw_vm\":true,\"master_config\":{\"image_uri\":\"trainyard-test:1\"}}","max_running_us":604800000000,"differences":[{"kind":"IN_DOUBT_IN_CLOUD","code":"image-registry","field":"trainingInput.masterConfig.imageUri","text":"The cloud may not pull trainyard-test:1: it wants images to be in Artifact Registry or Container Registry."}],"pools":{"master":{"count":1,"image":"trainyard-test:1","machine_type":"n1-standard-4","args":["sh","-c","exit 3"]}}}','{"limits":{"master":{"nano_cpus":2000000000,"memory_bytes":16106127360,"shm_bytes":8053063680},"worker":{"nano_cpus":0,"memory_bytes":0,"shm_bytes":0},"ps":{"nano_cpus":0,"memory_bytes":0,"shm_bytes":0},"evaluator":{"nano_cpus":0,"memory_bytes":0,"shm_bytes":0}},"devices":{},"shared":false,"differences":[{"kind":"DONE_OTHERWISE","code":"machine-fitted","field":"pools.master.machine_type","text":"The master has 2 vCPUs and 15 GiB of memory at most here; n1-standard-4 has 4 and 15."}],"network":1,"network_turn":1}',3.87755102040816312936e-01,0,0,0,84,1,0,0);
INSERT INTO "job" VALUES(3,0,'demo-project',NULL,'a_search',NULL,NULL,0,4,0,6,1795815003926813,1795815003933499,1795815005017874,1795815005562683,1795815005562788,4,NULL,0,1,1,0,NULL,0,NULL,'{"args":["sh","-c","for a in \"$0\" \"$@\"; do case $a in --x=*) x=${a#--x=};; --kind=*) kind=${a#--kind=};; esac; done; echo trial $CLOUD_ML_TRIAL_ID has $x $kind; printf ''{\"global_step\": \"7\", \"score\": \"%s\", \"timestamp\": %s.5, \"trial\": \"%s\"}\\n'' \"$x\" \"$(date +%s)\" \"$CLOUD_ML_TRIAL_ID\" > \"$CLOUD_ML_HP_METRIC_FILE\""],"hyperparameters":{"goal":"MAXIMIZE","params":[{"parameterName":"x","type":"DOUBLE","maxValue":10},{"parameterName":"kind","type":"CATEGORICAL","categoricalValues":["plain","a, \"b\""]}],"maxTrials":2,"maxParallelTrials":2,"hyperparameterMetricTag":"score"},"region":"us-central1","masterConfig":{"imageUri":"trainyard-test:1"}}','{}','{"dialect":"ml","project":"demo-project","job_id":"a_search","cluster_id":"8110b822c6","region":"us-central1","input":"{\"args\":[\"sh\",\"-c\",\"for a in \\\"$0\\\" \\\"$@\\\"; do case $a in --x\\u003d*) x\\u003d${a#--x\\u003d};; --kind\\u003d*) kind\\u003d${a#--kind\\u003d};; esac; done; echo trial $CLOUD_ML_TRIAL_ID has $x $kind; printf \\u0027{\\\"global_step\\\": \\\"7\\\", \\\"score\\\": \\\"%s\\\", \\\"timestamp\\\": %s.5, \\\"trial\\\": \\\"%s\\\"}\\\\n\\u0027 \\\"$x\\\" \\\"$(date +%s)\\\" \\\"$CLOUD_ML_TRIAL_ID\\\" \\u003e \\\"$CLOUD_ML_HP_METRIC_FILE\\\"\"],\"hyperparameters\":{\"goal\":\"MAXIMIZE\",\"params\":[{\"parameter_name\":\"x\",\"type\":\"DOUBLE\",\"max_value\":10},{\"parameter_name\":\"kind\",\"type\":\"CATEGORICAL\",\"categorical_values\":[\"plain\",\"a, \\\"b\\\"\"]}],\"max_trials\":2,\"max_parallel_trials\":2,\"hyperparameter_metric_tag\":\"score\"},\"region\":\"us-central1\",\"run_on_raw_vm\":true,\"master_config\":{\"image_uri\":\"trainyard-test:1\"}}","max_running_us":604800000000,"differences":[{"kind":"IN_DOUBT_IN_CLOUD","code":"image-registry","field":"trainingInput.masterConfig.imageUri","text":"The cloud may not pull trainyard-test:1: it wants images to be in Artifact Registry or Container Registry."}],"search":{"seed":4439518507779521237,"algorithm":"bandit","stopping":"none","stops_by_elapsed":false,"best_counts":false,"repeats_allowed":false,"parameters":[{"name":"x","type":"double","scale":"linear","minimum":0.0,"maximum":10.0},{"name":"kind","type":"categorical","scale":"linear","categories":["plain","a, \"b\""]}],"metrics":[{"name":"score","minimized":false}]},"trial_count":2,"parallel_trial_count":2,"pools":{"master":{"count":1,"image":"trainyard-test:1","machine_type":"n1-standard-4","args":["sh","-c","for a in \"$0\" \"$@\"; do case $a in --x=*) x=${a#--x=};; --kind=*) kind=${a#--kind=};; esac; done; echo trial $CLOUD_ML_TRIAL_ID has $x $kind; printf ''{\"global_step\": \"7\", \"score\": \"%s\", \"timestamp\": %s.5, \"trial\": \"%s\"}\\n'' \"$x\" \"$(date +%s)\" \"$CLOUD_ML_TRIAL_ID\" > \"$CLOUD_ML_HP_METRIC_FILE\""]}}}',NULL,3.87755102040816312936e-01,0,0,1,0,1,0,0);
INSERT INTO "job" VALUES(4,0,'demo-project',NULL,'a_search.1',NULL,3,1,4,0,6,1795815003931011,1795815003933499,1795815005017874,1795815005415725,1795815005537117,4,NULL,0,1,1,1,NULL,0,NULL,'{}','{}','{"dialect":"ml","project":"demo-project","job_id":"a_search","cluster_id":"269ca451d4","region":"us-central1","input":"{\"args\":[\"sh\",\"-c\",\"for a in \\\"$0\\\" \\\"$@\\\"; do case $a in --x\\u003d*) x\\u003d${a#--x\\u003d};; --kind\\u003d*) kind\\u003d${a#--kind\\u003d};; esac; done; echo trial $CLOUD_ML_TRIAL_ID has $x $kind; printf \\u0027{\\\"global_step\\\": \\\"7\\\", \\\"score\\\": \\\"%s\\\", \\\"timestamp\\\": %s.5, \\\"trial\\\": \\\"%s\\\"}\\\\n\\u0027 \\\"$x\\\" \\\"$(date +%s)\\\" \\\"$CLOUD_ML_TRIAL_ID\\\" \\u003e \\\"$CLOUD_ML_HP_METRIC_FILE\\\"\"],\"hyperparameters\":{\"goal\":\"MAXIMIZE\",\"params\":[{\"parameter_name\":\"x\",\"type\":\"DOUBLE\",\"max_value\":10},{\"parameter_name\":\"kind\",\"type\":\"CATEGORICAL\",\"categorical_values\":[\"plain\",\"a, \\\"b\\\"\"]}],\"max_trials\":2,\"max_parallel_trials\":2,\"hyperparameter_metric_tag\":\"score\"},\"region\":\"us-central1\",\"run_on_raw_vm\":true,\"master_config\":{\"image_uri\":\"trainyard-test:1\"}}","differences":[],"search":{"metrics":[{"name":"score","minimized":false}]},"trial_count":2,"parallel_trial_count":2,"trial":1,"pools":{"master":{"count":1,"image":"trainyard-test:1","machine_type":"n1-standard-4","args":["sh","-c","for a in \"$0\" \"$@\"; do case $a in --x=*) x=${a#--x=};; --kind=*) kind=${a#--kind=};; esac; done; echo trial $CLOUD_ML_TRIAL_ID has $x $kind; printf ''{\"global_step\": \"7\", \"score\": \"%s\", \"timestamp\": %s.5, \"trial\": \"%s\"}\\n'' \"$x\" \"$(date +%s)\" \"$CLOUD_ML_TRIAL_ID\" > \"$CLOUD_ML_HP_METRIC_FILE\"","--x=5","--kind=plain"]}}}','{"limits":{"master":{"nano_cpus":2000000000,"memory_bytes":16106127360,"shm_bytes":8053063680},"worker":{"nano_cpus":0,"memory_bytes":0,"shm_bytes":0},"ps":{"nano_cpus":0,"memory_bytes":0,"shm_bytes":0},"evaluator":{"nano_cpus":0,"memory_bytes":0,"shm_bytes":0}},"devices":{},"shared":false,"differences":[{"kind":"DONE_OTHERWISE","code":"machine-fitted","field":"pools.master.machine_type","text":"The master has 2 vCPUs and 15 GiB of memory at most here; n1-standard-4 has 4 and 15."}],"network":1,"network_turn":2}',3.87755102040816312936e-01,0,0,0,0,0,0,0);
INSERT INTO "job" VALUES(5,0,'demo-project',NULL,'a_search.2',NULL,3,2,4,0,6,1795815003931011,1795815003952347,1795815005127374,1795815005511757,1795815005559921,4,NULL,0,1,1,1,NULL,0,NULL,'{}','{}','{"dialect":"ml","project":"demo-project","job_id":"a_search","cluster_id":"0b5c48fc9e","region":"us-central1","input":"{\"args\":[\"sh\",\"-c\",\"for a in \\\"$0\\\" \\\"$@\\\"; do case $a in --x\\u003d*) x\\u003d${a#--x\\u003d};; --kind\\u003d*) kind\\u003d${a#--kind\\u003d};; esac; done; echo trial $CLOUD_ML_TRIAL_ID has $x $kind; printf \\u0027{\\\"global_step\\\": \\\"7\\\", \\\"score\\\": \\\"%s\\\", \\\"timestamp\\\": %s.5, \\\"trial\\\": \\\"%s\\\"}\\\\n\\u0027 \\\"$x\\\" \\\"$(date +%s)\\\" \\\"$CLOUD_ML_TRIAL_ID\\\" \\u003e \\\"$CLOUD_ML_HP_METRIC_FILE\\\"\"],\"hyperparameters\":{\"goal\":\"MAXIMIZE\",\"params\":[{\"parameter_name\":\"x\",\"type\":\"DOUBLE\",\"max_value\":10},{\"parameter_name\":\"kind\",\"type\":\"CATEGORICAL\",\"categorical_values\":[\"plain\",\"a, \\\"b\\\"\"]}],\"max_trials\":2,\"max_parallel_trials\":2,\"hyperparameter_metric_tag\":\"score\"},\"region\":\"us-central1\",\"run_on_raw_vm\":true,\"master_config\":{\"image_uri\":\"trainyard-test:1\"}}","differences":[],"search":{"metrics":[{"name":"score","minimized":false}]},"trial_count":2,"parallel_trial_count":2,"trial":2,"pools":{"master":{"count":1,"image":"trainyard-test:1","machine_type":"n1-standard-4","args":["sh","-c","for a in \"$0\" \"$@\"; do case $a in --x=*) x=${a#--x=};; --kind=*) kind=${a#--kind=};; esac; done; echo trial $CLOUD_ML_TRIAL_ID has $x $kind; printf ''{\"global_step\": \"7\", \"score\": \"%s\", \"timestamp\": %s.5, \"trial\": \"%s\"}\\n'' \"$x\" \"$(date +%s)\" \"$CLOUD_ML_TRIAL_ID\" > \"$CLOUD_ML_HP_METRIC_FILE\"","--x=4.07226562498181","--kind=a, \"b\""]}}}','{"limits":{"master":{"nano_cpus":2000000000,"memory_bytes":16106127360,"shm_bytes":8053063680},"worker":{"nano_cpus":0,"memory_bytes":0,"shm_bytes":0},"ps":{"nano_cpus":0,"memory_bytes":0,"shm_bytes":0},"evaluator":{"nano_cpus":0,"memory_bytes":0,"shm_bytes":0}},"devices":{},"shared":false,"differences":[{"kind":"DONE_OTHERWISE","code":"machine-fitted","field":"pools.master.machine_type","text":"The master has 2 vCPUs and 15 GiB of memory at most here; n1-standard-4 has 4 and 15."}]}',3.87755102040816312936e-01,0,0,0,0,0,0,0);
INSERT INTO "job" VALUES(6,1,'demo-project','us-central1','748636862908775746','test',NULL,0,4,0,6,1795815005608751,1795815005610907,1795815006842566,1795815007018580,1795815007053417,4,NULL,0,1,1,1,NULL,0,NULL,'{"displayName":"test","jobSpec":{"workerPoolSpecs":[{"machineSpec":{"machineType":"n1-standard-4"},"replicaCount":"1","containerSpec":{"imageUri":"trainyard-test:1","command":["sh","-c","echo a line of a custom job"]},"diskSpec":{"bootDiskType":"pd-ssd","bootDiskSizeGb":100}}]}}','{}','{"dialect":"aiplatform","project":"demo-project","project_number":"123456789012","job_id":"748636862908775746","cluster_id":"1a2a17c3dd","region":"us-central1","input":"{\"python_module\":\"\",\"package_uris\":[],\"job_args\":[]}","uses_chief":true,"mounts_gcs":true,"max_running_us":604800000000,"differences":[{"kind":"IN_DOUBT_IN_CLOUD","code":"image-registry","field":"jobSpec.workerPoolSpecs[0].containerSpec.imageUri","text":"The cloud may not pull trainyard-test:1: it wants images to be in Artifact Registry or Container Registry."}],"pools":{"master":{"count":1,"image":"trainyard-test:1","machine_type":"n1-standard-4","command":["sh","-c","echo a line of a custom job"],"args":[]}}}','{"limits":{"master":{"nano_cpus":2000000000,"memory_bytes":16106127360,"shm_bytes":8053063680},"worker":{"nano_cpus":0,"memory_bytes":0,"shm_bytes":0},"ps":{"nano_cpus":0,"memory_bytes":0,"shm_bytes":0},"evaluator":{"nano_cpus":0,"memory_bytes":0,"shm_bytes":0}},"devices":{},"shared":false,"differences":[{"kind":"DONE_OTHERWISE","code":"machine-fitted","field":"pools.master.machine_type","text":"The replica of workerpool0 has 2 vCPUs and 15 GiB of memory at most here; n1-standard-4 has 4 and 15."}],"network":1,"network_turn":3}',0.0,0,0,0,0,1,0,0);
CREATE TABLE journal (
	job INTEGER NOT NULL REFERENCES job (id),
	seq INTEGER NOT NULL,
	time_us INTEGER NOT NULL,
	kind INTEGER NOT NULL,
	attempt INTEGER NOT NULL,
	role INTEGER,
	idx INTEGER,
	restart INTEGER,
	cause INTEGER NOT NULL,
	number INTEGER NOT NULL,
	flags INTEGER NOT NULL,
	PRIMARY KEY (job, seq)
) STRICT, WITHOUT ROWID;
INSERT INTO "journal" VALUES(1,1,1795815001363428,1,1,NULL,NULL,NULL,1,0,0);
INSERT INTO "journal" VALUES(1,2,1795815001379165,1,1,NULL,NULL,NULL,2,1,0);
INSERT INTO "journal" VALUES(1,3,1795815002147396,1,1,NULL,NULL,NULL,3,2,0);
INSERT INTO "journal" VALUES(1,4,1795815002143904,4,1,0,0,0,1,0,10);
INSERT INTO "journal" VALUES(1,5,1795815002357260,2,1,NULL,NULL,NULL,4,0,0);
INSERT INTO "journal" VALUES(1,6,1795815002400157,1,1,NULL,NULL,NULL,4,3,0);
INSERT INTO "journal" VALUES(2,1,1795815002570165,1,1,NULL,NULL,NULL,1,0,0);
INSERT INTO "journal" VALUES(2,2,1795815002580431,1,1,NULL,NULL,NULL,2,1,0);
INSERT INTO "journal" VALUES(2,3,1795815003518127,1,1,NULL,NULL,NULL,3,2,0);
INSERT INTO "journal" VALUES(2,4,1795815003513147,4,1,0,0,0,1,3,10);
INSERT INTO "journal" VALUES(2,5,1795815003736261,2,1,NULL,NULL,NULL,5,3,0);
INSERT INTO "journal" VALUES(2,6,1795815003864145,1,1,NULL,NULL,NULL,5,3,0);
INSERT INTO "journal" VALUES(3,1,1795815003926813,1,1,NULL,NULL,NULL,1,0,0);
INSERT INTO "journal" VALUES(3,2,1795815003943985,1,1,NULL,NULL,NULL,2,1,0);
INSERT INTO "journal" VALUES(3,3,1795815005019431,1,1,NULL,NULL,NULL,3,2,0);
INSERT INTO "journal" VALUES(3,4,1795815005513950,2,1,NULL,NULL,NULL,4,0,0);
INSERT INTO "journal" VALUES(3,5,1795815005562788,1,1,NULL,NULL,NULL,4,3,0);
INSERT INTO "journal" VALUES(4,1,1795815003931011,1,1,NULL,NULL,NULL,1,0,0);
INSERT INTO "journal" VALUES(4,2,1795815003933634,1,1,NULL,NULL,NULL,2,1,0);
INSERT INTO "journal" VALUES(4,3,1795815005018018,1,1,NULL,NULL,NULL,3,2,0);
INSERT INTO "journal" VALUES(4,4,1795815005004292,4,1,0,0,0,1,0,10);
INSERT INTO "journal" VALUES(4,5,1795815005403120,2,1,NULL,NULL,NULL,4,0,0);
INSERT INTO "journal" VALUES(4,6,1795815005537117,1,1,NULL,NULL,NULL,4,3,0);
INSERT INTO "journal" VALUES(5,1,1795815003931011,1,1,NULL,NULL,NULL,1,0,0);
INSERT INTO "journal" VALUES(5,2,1795815003952689,1,1,NULL,NULL,NULL,2,1,0);
INSERT INTO "journal" VALUES(5,3,1795815005127449,1,1,NULL,NULL,NULL,3,2,0);
INSERT INTO "journal" VALUES(5,4,1795815005120702,4,1,0,0,0,1,0,10);
INSERT INTO "journal" VALUES(5,5,1795815005508243,2,1,NULL,NULL,NULL,4,0,0);
INSERT INTO "journal" VALUES(5,6,1795815005559921,1,1,NULL,NULL,NULL,4,3,0);
INSERT INTO "journal" VALUES(6,1,1795815005608751,1,1,NULL,NULL,NULL,1,0,0);
INSERT INTO "journal" VALUES(6,2,1795815005611664,1,1,NULL,NULL,NULL,2,1,0);
INSERT INTO "journal" VALUES(6,3,1795815006842639,1,1,NULL,NULL,NULL,3,2,0);
INSERT INTO "journal" VALUES(6,4,1795815006838762,4,1,0,0,0,1,0,10);
INSERT INTO "journal" VALUES(6,5,1795815007015160,2,1,NULL,NULL,NULL,4,0,0);
INSERT INTO "journal" VALUES(6,6,1795815007053417,1,1,NULL,NULL,NULL,4,3,0);
CREATE TABLE lease (
	job INTEGER NOT NULL REFERENCES job (id),
	role INTEGER NOT NULL,
	replica INTEGER NOT NULL,
	device TEXT NOT NULL,
	shared INTEGER NOT NULL,
	node TEXT NOT NULL DEFAULT '', -- the machine that has the GPU; '': the engine of --engine
	PRIMARY KEY (job, role, replica, device)
) STRICT, WITHOUT ROWID;
CREATE TABLE meta (
	name TEXT NOT NULL PRIMARY KEY,
	value ANY NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "meta" VALUES('instance',X'776B6B657A6C7833');
INSERT INTO "meta" VALUES('page_key',X'41DF53EE7CD0210E37A1D8F278908470EA580C8689A30CC432C7F91D8D7FC282');
INSERT INTO "meta" VALUES('secret',X'156986824E97770BA036A8A3831D94F8E8BC9A684E8511436A706030587F2100');
INSERT INTO "meta" VALUES('starts',1);
CREATE TABLE model (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	pipeline INTEGER NOT NULL UNIQUE REFERENCES pipeline (id),
	project TEXT NOT NULL,
	location TEXT NOT NULL,
	model_id TEXT NOT NULL,
	version INTEGER NOT NULL DEFAULT 0,
	input TEXT NOT NULL,
	artifact_uri TEXT,
	created_us INTEGER NOT NULL DEFAULT 0,
	first_us INTEGER NOT NULL DEFAULT 0,
	deleted INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE model_alias (
	project TEXT NOT NULL,
	location TEXT NOT NULL,
	model_id TEXT NOT NULL,
	alias TEXT NOT NULL,
	version INTEGER NOT NULL,
	PRIMARY KEY (project, location, model_id, alias)
) STRICT, WITHOUT ROWID;
CREATE TABLE operation (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	project TEXT NOT NULL,
	location TEXT NOT NULL,
	operation_id TEXT NOT NULL,
	target TEXT NOT NULL,
	created_us INTEGER NOT NULL,
	UNIQUE (project, operation_id)
) STRICT;
CREATE TABLE outbox (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	job INTEGER NOT NULL,
	severity INTEGER NOT NULL,
	time_ns INTEGER NOT NULL,
	line TEXT NOT NULL
) STRICT;
CREATE TABLE pipeline (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	project TEXT NOT NULL,
	location TEXT NOT NULL,
	pipeline_id TEXT NOT NULL,
	display_name TEXT NOT NULL,
	labels TEXT,
	input TEXT NOT NULL,
	job INTEGER NOT NULL UNIQUE REFERENCES job (id),
	created_us INTEGER NOT NULL,
	deleted INTEGER NOT NULL DEFAULT 0,
	UNIQUE (project, pipeline_id)
) STRICT;
CREATE TABLE policy (
	job INTEGER PRIMARY KEY REFERENCES job (id),
	version INTEGER NOT NULL,
	policy TEXT NOT NULL
) STRICT;
CREATE TABLE trial (
	job INTEGER NOT NULL REFERENCES job (id),
	number INTEGER NOT NULL,
	run INTEGER NOT NULL UNIQUE REFERENCES job (id),
	outcome INTEGER NOT NULL DEFAULT 0 CHECK (outcome BETWEEN 0 AND 3),
	known INTEGER NOT NULL,
	ended_as INTEGER NOT NULL DEFAULT 0,
	stopped_early INTEGER NOT NULL DEFAULT 0,
	parameters TEXT NOT NULL,
	final TEXT, -- the values of the last measurement, a JSON array
	final_step INTEGER NOT NULL DEFAULT 0,
	PRIMARY KEY (job, number)
) STRICT, WITHOUT ROWID;
INSERT INTO "trial" VALUES(3,1,4,1,0,1,0,'[5.0,0.0]','[5.0]',7);
INSERT INTO "trial" VALUES(3,2,5,1,0,2,0,'[4.07226562498181,1.0]','[4.07226562498181]',7);
CREATE INDEX job_newest ON job (project, created_us DESC, id DESC) WHERE kind = 0 AND parent IS NULL;
CREATE INDEX job_by_state ON job (project, state, created_us DESC, id DESC) WHERE kind = 0 AND parent IS NULL;
CREATE INDEX job_custom ON job (project, location, created_us DESC, id DESC) WHERE kind = 1 AND deleted = 0;
CREATE INDEX job_tuning ON job (project, location, created_us DESC, id DESC) WHERE kind = 2 AND deleted = 0;
CREATE INDEX job_any ON job (created_us DESC, id DESC, project, state, deleted, kind, location, job_id, display_name, parent)
	WHERE parent IS NULL;
CREATE INDEX job_unfinished ON job (id) WHERE state < 4 OR state = 6;
CREATE INDEX job_queue ON job (priority DESC, id) WHERE state = 1 AND parent IS NULL;
CREATE INDEX job_ended ON job (ended_us, id) WHERE parent IS NULL AND state > 3 AND state <> 6 AND torn_down = 1;
CREATE INDEX job_of_trial ON job (parent, trial, state, started_us, running_us, ended_us) WHERE parent IS NOT NULL;
CREATE UNIQUE INDEX lease_exclusive ON lease (node, device) WHERE NOT shared;
CREATE TRIGGER lease_returned AFTER UPDATE OF state ON job WHEN new.state > 3 AND new.state <> 6
BEGIN
	DELETE FROM lease WHERE job = new.id;
END;
CREATE INDEX operation_newest ON operation (project, location, created_us DESC, id DESC);
CREATE INDEX operation_of_target ON operation (project, location, target, created_us DESC, id DESC);
CREATE INDEX operation_age ON operation (created_us);
CREATE INDEX pipeline_newest ON pipeline (project, location, created_us DESC, id DESC) WHERE deleted = 0;
CREATE INDEX model_version ON model (project, location, model_id, version) WHERE deleted = 0;
CREATE INDEX model_newest ON model (project, location, created_us DESC, id DESC) WHERE deleted = 0 AND created_us > 0;
CREATE INDEX model_version_newest ON model (project, location, model_id, created_us DESC, id DESC)
	WHERE deleted = 0 AND created_us > 0;
CREATE TRIGGER fault_mark_ended AFTER UPDATE OF state ON job WHEN new.state > 3 AND new.state <> 6
BEGIN
	DELETE FROM fault_mark WHERE job = new.id;
END;
CREATE INDEX fault_mark_of_rule ON fault_mark (fault);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('job',6);
INSERT INTO "sqlite_sequence" VALUES('outbox',53);
COMMIT;
