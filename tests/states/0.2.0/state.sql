PRAGMA application_id = 1954116196;
PRAGMA user_version = 20;
BEGIN TRANSACTION;
CREATE TABLE curve (
	run INTEGER PRIMARY KEY REFERENCES job (id),
	points TEXT NOT NULL
) STRICT;
INSERT INTO "curve" VALUES(4,'{"reported":1,"stride":1,"points":[[0,7,0.0,5.0]]}');
INSERT INTO "curve" VALUES(5,'{"reported":1,"stride":1,"points":[[0,7,0.0,4.07226562498181]]}');
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
	UNIQUE (project, job_id)
) STRICT;
INSERT INTO "job" VALUES(1,0,'demo-project',NULL,'one_that_ran',NULL,NULL,0,4,0,6,1795662482220858,1795662482304198,1795662487147020,1795662488237425,1795662488291656,4,NULL,0,1,1,1,NULL,0,'{"kept":"yes"}','{"args":["sh","-c","echo a line of a job; echo another >&2"],"region":"us-central1","masterConfig":{"imageUri":"trainyard-test:1"}}','{}','{"dialect":"ml","project":"demo-project","job_id":"one_that_ran","cluster_id":"c34937ed76","region":"us-central1","input":"{\"args\":[\"sh\",\"-c\",\"echo a line of a job; echo another \\u003e\\u00262\"],\"region\":\"us-central1\",\"run_on_raw_vm\":true,\"master_config\":{\"image_uri\":\"trainyard-test:1\"}}","max_running_us":604800000000,"differences":[{"kind":"IN_DOUBT_IN_CLOUD","code":"image-registry","field":"trainingInput.masterConfig.imageUri","text":"The cloud may not pull trainyard-test:1: it wants images to be in Artifact Registry or Container Registry."}],"pools":{"master":{"count":1,"image":"trainyard-test:1","machine_type":"n1-standard-4","args":["sh","-c","echo a line of a job; echo another >&2"]}}}','{"limits":{"master":{"nano_cpus":2000000000,"memory_bytes":16106127360,"shm_bytes":8053063680},"worker":{"nano_cpus":0,"memory_bytes":0,"shm_bytes":0},"ps":{"nano_cpus":0,"memory_bytes":0,"shm_bytes":0},"evaluator":{"nano_cpus":0,"memory_bytes":0,"shm_bytes":0}},"devices":{},"shared":false,"differences":[{"kind":"DONE_OTHERWISE","code":"machine-fitted","field":"pools.master.machine_type","text":"The master has 2 vCPUs and 15 GiB of memory at most here; n1-standard-4 has 4 and 15."}]}',3.87755102040816312936e-01,0,0);
INSERT INTO "job" VALUES(2,0,'demo-project',NULL,'one_that_failed',NULL,NULL,0,5,0,7,1795662488464441,1795662488473627,1795662492933931,1795662493399457,1795662493539037,5,'The replica master 0 exited with a non-zero status of 3. Termination reason: Error. ',3,1,1,1,'The replica master 0 exited with a non-zero status of 3. Termination reason: Error. 

To find out more about why your job exited please check the logs: https://console.cloud.google.com/logs/viewer?project=123456789012&resource=ml_job%2Fjob_id%2Fone_that_failed&advancedFilter=resource.type%3D%22ml_job%22%0Aresource.labels.job_id%3D%22one_that_failed%22',3,NULL,'{"args":["sh","-c","exit 3"],"region":"us-central1","masterConfig":{"imageUri":"trainyard-test:1"}}','{}','{"dialect":"ml","project":"demo-project","job_id":"one_that_failed","cluster_id":"d0a341ff9f","region":"us-central1","input":"{\"args\":[\"sh\",\"-c\",\"exit 3\"],\"region\":\"us-central1\",\"run_on_raw_vm\":true,\"master_config\":{\"image_uri\":\"trainyard-test:1\"}}","max_running_us":604800000000,"differences":[{"kind":"IN_DOUBT_IN_CLOUD","code":"image-registry","field":"trainingInput.masterConfig.imageUri","text":"The cloud may not pull trainyard-test:1: it wants images to be in Artifact Registry or Container Registry."}],"pools":{"master":{"count":1,"image":"trainyard-test:1","machine_type":"n1-standard-4","args":["sh","-c","exit 3"]}}}','{"limits":{"master":{"nano_cpus":2000000000,"memory_bytes":16106127360,"shm_bytes":8053063680},"worker":{"nano_cpus":0,"memory_bytes":0,"shm_bytes":0},"ps":{"nano_cpus":0,"memory_bytes":0,"shm_bytes":0},"evaluator":{"nano_cpus":0,"memory_bytes":0,"shm_bytes":0}},"devices":{},"shared":false,"differences":[{"kind":"DONE_OTHERWISE","code":"machine-fitted","field":"pools.master.machine_type","text":"The master has 2 vCPUs and 15 GiB of memory at most here; n1-standard-4 has 4 and 15."}],"network":1,"network_turn":1}',3.87755102040816312936e-01,0,0);
INSERT INTO "job" VALUES(3,0,'demo-project',NULL,'a_search',NULL,NULL,0,4,0,6,1795662493665693,1795662493681915,1795662499581947,1795662500885755,1795662500885860,4,NULL,0,1,1,0,NULL,0,NULL,'{"args":["sh","-c","for a in \"$0\" \"$@\"; do case $a in --x=*) x=${a#--x=};; --kind=*) kind=${a#--kind=};; esac; done; echo trial $CLOUD_ML_TRIAL_ID has $x $kind; printf ''{\"global_step\": \"7\", \"score\": \"%s\", \"timestamp\": %s.5, \"trial\": \"%s\"}\\n'' \"$x\" \"$(date +%s)\" \"$CLOUD_ML_TRIAL_ID\" > \"$CLOUD_ML_HP_METRIC_FILE\""],"hyperparameters":{"goal":"MAXIMIZE","params":[{"parameterName":"x","type":"DOUBLE","maxValue":10},{"parameterName":"kind","type":"CATEGORICAL","categoricalValues":["plain","a, \"b\""]}],"maxTrials":2,"maxParallelTrials":2,"hyperparameterMetricTag":"score"},"region":"us-central1","masterConfig":{"imageUri":"trainyard-test:1"}}','{}','{"dialect":"ml","project":"demo-project","job_id":"a_search","cluster_id":"72ff8feebf","region":"us-central1","input":"{\"args\":[\"sh\",\"-c\",\"for a in \\\"$0\\\" \\\"$@\\\"; do case $a in --x\\u003d*) x\\u003d${a#--x\\u003d};; --kind\\u003d*) kind\\u003d${a#--kind\\u003d};; esac; done; echo trial $CLOUD_ML_TRIAL_ID has $x $kind; printf \\u0027{\\\"global_step\\\": \\\"7\\\", \\\"score\\\": \\\"%s\\\", \\\"timestamp\\\": %s.5, \\\"trial\\\": \\\"%s\\\"}\\\\n\\u0027 \\\"$x\\\" \\\"$(date +%s)\\\" \\\"$CLOUD_ML_TRIAL_ID\\\" \\u003e \\\"$CLOUD_ML_HP_METRIC_FILE\\\"\"],\"hyperparameters\":{\"goal\":\"MAXIMIZE\",\"params\":[{\"parameter_name\":\"x\",\"type\":\"DOUBLE\",\"max_value\":10},{\"parameter_name\":\"kind\",\"type\":\"CATEGORICAL\",\"categorical_values\":[\"plain\",\"a, \\\"b\\\"\"]}],\"max_trials\":2,\"max_parallel_trials\":2,\"hyperparameter_metric_tag\":\"score\"},\"region\":\"us-central1\",\"run_on_raw_vm\":true,\"master_config\":{\"image_uri\":\"trainyard-test:1\"}}","max_running_us":604800000000,"differences":[{"kind":"IN_DOUBT_IN_CLOUD","code":"image-registry","field":"trainingInput.masterConfig.imageUri","text":"The cloud may not pull trainyard-test:1: it wants images to be in Artifact Registry or Container Registry."}],"search":{"seed":4439518507779521237,"algorithm":"bandit","stopping":"none","stops_by_elapsed":false,"best_counts":false,"repeats_allowed":false,"parameters":[{"name":"x","type":"double","scale":"linear","minimum":0.0,"maximum":10.0},{"name":"kind","type":"categorical","scale":"linear","categories":["plain","a, \"b\""]}],"metrics":[{"name":"score","minimized":false}]},"trial_count":2,"parallel_trial_count":2,"pools":{"master":{"count":1,"image":"trainyard-test:1","machine_type":"n1-standard-4","args":["sh","-c","for a in \"$0\" \"$@\"; do case $a in --x=*) x=${a#--x=};; --kind=*) kind=${a#--kind=};; esac; done; echo trial $CLOUD_ML_TRIAL_ID has $x $kind; printf ''{\"global_step\": \"7\", \"score\": \"%s\", \"timestamp\": %s.5, \"trial\": \"%s\"}\\n'' \"$x\" \"$(date +%s)\" \"$CLOUD_ML_TRIAL_ID\" > \"$CLOUD_ML_HP_METRIC_FILE\""]}}}',NULL,3.87755102040816312936e-01,0,0);
INSERT INTO "job" VALUES(4,0,'demo-project',NULL,'a_search.1',NULL,3,1,4,0,6,1795662493670979,1795662493681915,1795662499748212,1795662500688154,1795662500848866,4,NULL,0,1,1,1,NULL,0,NULL,'{}','{}','{"dialect":"ml","project":"demo-project","job_id":"a_search","cluster_id":"c36312364e","region":"us-central1","input":"{\"args\":[\"sh\",\"-c\",\"for a in \\\"$0\\\" \\\"$@\\\"; do case $a in --x\\u003d*) x\\u003d${a#--x\\u003d};; --kind\\u003d*) kind\\u003d${a#--kind\\u003d};; esac; done; echo trial $CLOUD_ML_TRIAL_ID has $x $kind; printf \\u0027{\\\"global_step\\\": \\\"7\\\", \\\"score\\\": \\\"%s\\\", \\\"timestamp\\\": %s.5, \\\"trial\\\": \\\"%s\\\"}\\\\n\\u0027 \\\"$x\\\" \\\"$(date +%s)\\\" \\\"$CLOUD_ML_TRIAL_ID\\\" \\u003e \\\"$CLOUD_ML_HP_METRIC_FILE\\\"\"],\"hyperparameters\":{\"goal\":\"MAXIMIZE\",\"params\":[{\"parameter_name\":\"x\",\"type\":\"DOUBLE\",\"max_value\":10},{\"parameter_name\":\"kind\",\"type\":\"CATEGORICAL\",\"categorical_values\":[\"plain\",\"a, \\\"b\\\"\"]}],\"max_trials\":2,\"max_parallel_trials\":2,\"hyperparameter_metric_tag\":\"score\"},\"region\":\"us-central1\",\"run_on_raw_vm\":true,\"master_config\":{\"image_uri\":\"trainyard-test:1\"}}","differences":[],"search":{"metrics":[{"name":"score","minimized":false}]},"trial_count":2,"parallel_trial_count":2,"trial":1,"pools":{"master":{"count":1,"image":"trainyard-test:1","machine_type":"n1-standard-4","args":["sh","-c","for a in \"$0\" \"$@\"; do case $a in --x=*) x=${a#--x=};; --kind=*) kind=${a#--kind=};; esac; done; echo trial $CLOUD_ML_TRIAL_ID has $x $kind; printf ''{\"global_step\": \"7\", \"score\": \"%s\", \"timestamp\": %s.5, \"trial\": \"%s\"}\\n'' \"$x\" \"$(date +%s)\" \"$CLOUD_ML_TRIAL_ID\" > \"$CLOUD_ML_HP_METRIC_FILE\"","--x=5","--kind=plain"]}}}','{"limits":{"master":{"nano_cpus":2000000000,"memory_bytes":16106127360,"shm_bytes":8053063680},"worker":{"nano_cpus":0,"memory_bytes":0,"shm_bytes":0},"ps":{"nano_cpus":0,"memory_bytes":0,"shm_bytes":0},"evaluator":{"nano_cpus":0,"memory_bytes":0,"shm_bytes":0}},"devices":{},"shared":false,"differences":[{"kind":"DONE_OTHERWISE","code":"machine-fitted","field":"pools.master.machine_type","text":"The master has 2 vCPUs and 15 GiB of memory at most here; n1-standard-4 has 4 and 15."}],"network":1,"network_turn":2}',3.87755102040816312936e-01,0,0);
INSERT INTO "job" VALUES(5,0,'demo-project',NULL,'a_search.2',NULL,3,2,4,0,6,1795662493670979,1795662493682058,1795662499581947,1795662500537423,1795662500787827,4,NULL,0,1,1,1,NULL,0,NULL,'{}','{}','{"dialect":"ml","project":"demo-project","job_id":"a_search","cluster_id":"b1fe41712f","region":"us-central1","input":"{\"args\":[\"sh\",\"-c\",\"for a in \\\"$0\\\" \\\"$@\\\"; do case $a in --x\\u003d*) x\\u003d${a#--x\\u003d};; --kind\\u003d*) kind\\u003d${a#--kind\\u003d};; esac; done; echo trial $CLOUD_ML_TRIAL_ID has $x $kind; printf \\u0027{\\\"global_step\\\": \\\"7\\\", \\\"score\\\": \\\"%s\\\", \\\"timestamp\\\": %s.5, \\\"trial\\\": \\\"%s\\\"}\\\\n\\u0027 \\\"$x\\\" \\\"$(date +%s)\\\" \\\"$CLOUD_ML_TRIAL_ID\\\" \\u003e \\\"$CLOUD_ML_HP_METRIC_FILE\\\"\"],\"hyperparameters\":{\"goal\":\"MAXIMIZE\",\"params\":[{\"parameter_name\":\"x\",\"type\":\"DOUBLE\",\"max_value\":10},{\"parameter_name\":\"kind\",\"type\":\"CATEGORICAL\",\"categorical_values\":[\"plain\",\"a, \\\"b\\\"\"]}],\"max_trials\":2,\"max_parallel_trials\":2,\"hyperparameter_metric_tag\":\"score\"},\"region\":\"us-central1\",\"run_on_raw_vm\":true,\"master_config\":{\"image_uri\":\"trainyard-test:1\"}}","differences":[],"search":{"metrics":[{"name":"score","minimized":false}]},"trial_count":2,"parallel_trial_count":2,"trial":2,"pools":{"master":{"count":1,"image":"trainyard-test:1","machine_type":"n1-standard-4","args":["sh","-c","for a in \"$0\" \"$@\"; do case $a in --x=*) x=${a#--x=};; --kind=*) kind=${a#--kind=};; esac; done; echo trial $CLOUD_ML_TRIAL_ID has $x $kind; printf ''{\"global_step\": \"7\", \"score\": \"%s\", \"timestamp\": %s.5, \"trial\": \"%s\"}\\n'' \"$x\" \"$(date +%s)\" \"$CLOUD_ML_TRIAL_ID\" > \"$CLOUD_ML_HP_METRIC_FILE\"","--x=4.07226562498181","--kind=a, \"b\""]}}}','{"limits":{"master":{"nano_cpus":2000000000,"memory_bytes":16106127360,"shm_bytes":8053063680},"worker":{"nano_cpus":0,"memory_bytes":0,"shm_bytes":0},"ps":{"nano_cpus":0,"memory_bytes":0,"shm_bytes":0},"evaluator":{"nano_cpus":0,"memory_bytes":0,"shm_bytes":0}},"devices":{},"shared":false,"differences":[{"kind":"DONE_OTHERWISE","code":"machine-fitted","field":"pools.master.machine_type","text":"The master has 2 vCPUs and 15 GiB of memory at most here; n1-standard-4 has 4 and 15."}]}',3.87755102040816312936e-01,0,0);
INSERT INTO "job" VALUES(6,1,'demo-project','us-central1','6199594227990568849','test',NULL,0,4,0,6,1795662500986234,1795662500988327,1795662504035752,1795662504705738,1795662504864774,4,NULL,0,1,1,1,NULL,0,NULL,'{"displayName":"test","jobSpec":{"workerPoolSpecs":[{"machineSpec":{"machineType":"n1-standard-4"},"replicaCount":"1","containerSpec":{"imageUri":"trainyard-test:1","command":["sh","-c","echo a line of a custom job"]},"diskSpec":{"bootDiskType":"pd-ssd","bootDiskSizeGb":100}}]}}','{}','{"dialect":"aiplatform","project":"demo-project","project_number":"123456789012","job_id":"6199594227990568849","cluster_id":"7e4a6ae3a1","region":"us-central1","input":"{\"python_module\":\"\",\"package_uris\":[],\"job_args\":[]}","uses_chief":true,"mounts_gcs":true,"max_running_us":604800000000,"differences":[{"kind":"IN_DOUBT_IN_CLOUD","code":"image-registry","field":"jobSpec.workerPoolSpecs[0].containerSpec.imageUri","text":"The cloud may not pull trainyard-test:1: it wants images to be in Artifact Registry or Container Registry."}],"pools":{"master":{"count":1,"image":"trainyard-test:1","machine_type":"n1-standard-4","command":["sh","-c","echo a line of a custom job"],"args":[]}}}','{"limits":{"master":{"nano_cpus":2000000000,"memory_bytes":16106127360,"shm_bytes":8053063680},"worker":{"nano_cpus":0,"memory_bytes":0,"shm_bytes":0},"ps":{"nano_cpus":0,"memory_bytes":0,"shm_bytes":0},"evaluator":{"nano_cpus":0,"memory_bytes":0,"shm_bytes":0}},"devices":{},"shared":false,"differences":[{"kind":"DONE_OTHERWISE","code":"machine-fitted","field":"pools.master.machine_type","text":"The replica of workerpool0 has 2 vCPUs and 15 GiB of memory at most here; n1-standard-4 has 4 and 15."}],"network":5,"network_turn":1}',0.0,0,0);
CREATE TABLE lease (
	job INTEGER NOT NULL REFERENCES job (id),
	role INTEGER NOT NULL,
	replica INTEGER NOT NULL,
	device TEXT NOT NULL,
	shared INTEGER NOT NULL,
	PRIMARY KEY (job, role, replica, device)
) STRICT, WITHOUT ROWID;
CREATE TABLE meta (
	name TEXT NOT NULL PRIMARY KEY,
	value ANY NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "meta" VALUES('instance',X'636168693672706D');
INSERT INTO "meta" VALUES('page_key',X'8C13BEA49FA43644C4870C723432EAAA6AC7E60B5B68D2A7CDF2190A7E6D4938');
INSERT INTO "meta" VALUES('secret',X'0F1BF6298C2254C0902FE1F6D233882254A51EDE579535CE043D00ACF70725DC');
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
	final TEXT,
	PRIMARY KEY (job, number)
) STRICT, WITHOUT ROWID;
INSERT INTO "trial" VALUES(3,1,4,1,0,2,0,'[5.0,0.0]','{"step":7,"values":[5.0]}');
INSERT INTO "trial" VALUES(3,2,5,1,0,1,0,'[4.07226562498181,1.0]','{"step":7,"values":[4.07226562498181]}');
CREATE INDEX job_newest ON job (project, created_us DESC, id DESC) WHERE kind = 0 AND parent IS NULL;
CREATE INDEX job_by_state ON job (project, state, created_us DESC, id DESC) WHERE kind = 0 AND parent IS NULL;
CREATE INDEX job_custom ON job (project, location, created_us DESC, id DESC) WHERE kind = 1 AND deleted = 0;
CREATE INDEX job_tuning ON job (project, location, created_us DESC, id DESC) WHERE kind = 2 AND deleted = 0;
CREATE INDEX job_any ON job (created_us DESC, id DESC, project, state, deleted, kind, location, job_id, display_name, parent)
	WHERE parent IS NULL;
CREATE INDEX job_unfinished ON job (id) WHERE state IN (1, 2, 3, 6);
CREATE INDEX job_queue ON job (priority DESC, id) WHERE state = 1 AND parent IS NULL;
CREATE INDEX job_of_trial ON job (parent, trial, state, started_us, running_us, ended_us) WHERE parent IS NOT NULL;
CREATE UNIQUE INDEX lease_exclusive ON lease (device) WHERE NOT shared;
CREATE TRIGGER lease_returned AFTER UPDATE OF state ON job WHEN new.state IN (4, 5, 7)
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
CREATE TRIGGER fault_mark_ended AFTER UPDATE OF state ON job WHEN new.state IN (4, 5, 7)
BEGIN
	DELETE FROM fault_mark WHERE job = new.id;
END;
CREATE INDEX fault_mark_of_rule ON fault_mark (fault);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('job',6);
INSERT INTO "sqlite_sequence" VALUES('outbox',53);
COMMIT;
