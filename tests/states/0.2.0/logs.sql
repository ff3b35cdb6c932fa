PRAGMA application_id = 1954116196;
PRAGMA user_version = 20;
BEGIN TRANSACTION;
CREATE TABLE dated_job (
	job INTEGER NOT NULL PRIMARY KEY,
	last_ns INTEGER NOT NULL,
	named INTEGER NOT NULL
) STRICT;
CREATE TABLE entry (
	job INTEGER NOT NULL,
	ts INTEGER NOT NULL,
	insert_id ANY NOT NULL,
	source INTEGER NOT NULL,
	severity INTEGER NOT NULL,
	kind INTEGER NOT NULL,
	stream INTEGER NOT NULL,
	received_ns INTEGER NOT NULL,
	extra TEXT,
	payload TEXT NOT NULL,
	PRIMARY KEY (job, ts, insert_id, source)
) STRICT, WITHOUT ROWID;
INSERT INTO "entry" VALUES(1,1795662482220858809,1,1,200,0,0,1795662482269306490,NULL,'Validating job requirements...');
INSERT INTO "entry" VALUES(1,1795662482220858809,2,1,200,0,0,1795662482269306491,NULL,'Job creation request has been successfully validated.');
INSERT INTO "entry" VALUES(1,1795662482220858809,3,1,200,0,0,1795662482269306492,NULL,'Job one_that_ran is queued.');
INSERT INTO "entry" VALUES(1,1795662482304534653,4,1,300,0,0,1795662482327175995,NULL,'Unlike in the cloud: The cloud may not pull trainyard-test:1: it wants images to be in Artifact Registry or Container Registry. The master has 2 vCPUs and 15 GiB of memory at most here; n1-standard-4 has 4 and 15.');
INSERT INTO "entry" VALUES(1,1795662482304534653,5,1,200,0,0,1795662482327175996,NULL,'Waiting for job to be provisioned.');
INSERT INTO "entry" VALUES(1,1795662482304534653,6,1,200,0,0,1795662482327175997,NULL,'Job is preparing.');
INSERT INTO "entry" VALUES(1,1795662483621330687,7,1,200,0,0,1795662483663868542,NULL,'Waiting for training program to start.');
INSERT INTO "entry" VALUES(1,1795662487158405253,8,1,200,0,0,1795662487208891808,NULL,'Job is running.');
INSERT INTO "entry" VALUES(1,1795662487158405253,9,2,500,0,2,1795662488204865575,NULL,'another');
INSERT INTO "entry" VALUES(1,1795662487158405253,10,2,200,0,1,1795662488204865576,NULL,'a line of a job');
INSERT INTO "entry" VALUES(1,1795662488184069244,11,1,200,0,0,1795662488205733543,NULL,'Tearing down training program.');
INSERT INTO "entry" VALUES(1,1795662488282835085,12,1,200,0,0,1795662488289198582,NULL,'Finished tearing down training program.');
INSERT INTO "entry" VALUES(1,1795662488282835085,13,1,200,0,0,1795662488289198583,NULL,'Job completed successfully.');
INSERT INTO "entry" VALUES(2,1795662488464441644,14,3,200,0,0,1795662488493216291,NULL,'Validating job requirements...');
INSERT INTO "entry" VALUES(2,1795662488464441644,15,3,200,0,0,1795662488493216292,NULL,'Job creation request has been successfully validated.');
INSERT INTO "entry" VALUES(2,1795662488464441644,16,3,200,0,0,1795662488493216293,NULL,'Job one_that_failed is queued.');
INSERT INTO "entry" VALUES(2,1795662488473792735,17,3,300,0,0,1795662488493216294,NULL,'Unlike in the cloud: The cloud may not pull trainyard-test:1: it wants images to be in Artifact Registry or Container Registry. The master has 2 vCPUs and 15 GiB of memory at most here; n1-standard-4 has 4 and 15.');
INSERT INTO "entry" VALUES(2,1795662488473792735,18,3,200,0,0,1795662488493216295,NULL,'Waiting for job to be provisioned.');
INSERT INTO "entry" VALUES(2,1795662488473792735,19,3,200,0,0,1795662488493216296,NULL,'Job is preparing.');
INSERT INTO "entry" VALUES(2,1795662488993158242,20,3,200,0,0,1795662489035667202,NULL,'Waiting for training program to start.');
INSERT INTO "entry" VALUES(2,1795662492936723216,21,3,200,0,0,1795662492982359944,NULL,'Job is running.');
INSERT INTO "entry" VALUES(2,1795662493385822543,22,3,500,0,0,1795662493419908093,NULL,'The replica master 0 exited with a non-zero status of 3. Termination reason: Error. 

To find out more about why your job exited please check the logs: https://console.cloud.google.com/logs/viewer?project=123456789012&resource=ml_job%2Fjob_id%2Fone_that_failed&advancedFilter=resource.type%3D%22ml_job%22%0Aresource.labels.job_id%3D%22one_that_failed%22');
INSERT INTO "entry" VALUES(2,1795662493385822543,23,3,200,0,0,1795662493419908094,NULL,'Tearing down training program.');
INSERT INTO "entry" VALUES(2,1795662493525348384,24,3,200,0,0,1795662493537754837,NULL,'Finished tearing down training program.');
INSERT INTO "entry" VALUES(2,1795662493525348384,25,3,200,0,0,1795662493537754838,NULL,'Job failed.');
INSERT INTO "entry" VALUES(3,1795662493665693121,26,4,200,0,0,1795662493689302629,NULL,'Validating job requirements...');
INSERT INTO "entry" VALUES(3,1795662493665693121,27,4,200,0,0,1795662493689302630,NULL,'Job creation request has been successfully validated.');
INSERT INTO "entry" VALUES(3,1795662493665693121,28,4,200,0,0,1795662493689302631,NULL,'Job a_search is queued.');
INSERT INTO "entry" VALUES(3,1795662493682157196,29,5,300,0,0,1795662493689302632,NULL,'Unlike in the cloud: The master has 2 vCPUs and 15 GiB of memory at most here; n1-standard-4 has 4 and 15.');
INSERT INTO "entry" VALUES(3,1795662493682157196,30,5,200,0,0,1795662493689302633,NULL,'Waiting for job to be provisioned.');
INSERT INTO "entry" VALUES(3,1795662493682157196,31,5,200,0,0,1795662493689302634,NULL,'Job is preparing.');
INSERT INTO "entry" VALUES(3,1795662493682157196,32,6,200,0,0,1795662493689302635,NULL,'Waiting for job to be provisioned.');
INSERT INTO "entry" VALUES(3,1795662493682157196,33,6,200,0,0,1795662493689302636,NULL,'Job is preparing.');
INSERT INTO "entry" VALUES(3,1795662493760914082,34,4,300,0,0,1795662493832188894,NULL,'Unlike in the cloud: The cloud may not pull trainyard-test:1: it wants images to be in Artifact Registry or Container Registry.');
INSERT INTO "entry" VALUES(3,1795662493991983126,35,5,200,0,0,1795662494033802052,NULL,'Waiting for training program to start.');
INSERT INTO "entry" VALUES(3,1795662495921099687,36,6,200,0,0,1795662495965143708,NULL,'Waiting for training program to start.');
INSERT INTO "entry" VALUES(3,1795662499582063301,37,6,200,0,0,1795662499606416655,NULL,'Job is running.');
INSERT INTO "entry" VALUES(3,1795662499748368246,38,5,200,0,0,1795662499793355496,NULL,'Job is running.');
INSERT INTO "entry" VALUES(3,1795662499748368246,39,7,200,0,1,1795662500463421295,NULL,'trial 2 has 4.07226562498181 a, "b"');
INSERT INTO "entry" VALUES(3,1795662500475516565,40,6,200,0,0,1795662500518654655,NULL,'Tearing down training program.');
INSERT INTO "entry" VALUES(3,1795662500475516565,41,8,200,0,1,1795662500654091887,NULL,'trial 1 has 5 plain');
INSERT INTO "entry" VALUES(3,1795662500662077697,42,5,200,0,0,1795662500678117565,NULL,'Tearing down training program.');
INSERT INTO "entry" VALUES(3,1795662500717144875,43,4,200,0,0,1795662500783667983,NULL,'Tearing down training program.');
INSERT INTO "entry" VALUES(3,1795662500780798611,44,6,200,0,0,1795662500783667984,NULL,'Finished tearing down training program.');
INSERT INTO "entry" VALUES(3,1795662500780798611,45,6,200,0,0,1795662500783667985,NULL,'Job completed successfully.');
INSERT INTO "entry" VALUES(3,1795662500816894471,46,5,200,0,0,1795662500820533758,NULL,'Finished tearing down training program.');
INSERT INTO "entry" VALUES(3,1795662500816894471,47,5,200,0,0,1795662500820533759,NULL,'Job completed successfully.');
INSERT INTO "entry" VALUES(3,1795662500871275503,48,4,200,0,0,1795662500883030934,NULL,'Finished tearing down training program.');
INSERT INTO "entry" VALUES(3,1795662500871275503,49,4,200,0,0,1795662500883030935,NULL,'Job completed successfully.');
INSERT INTO "entry" VALUES(6,1795662500986234950,50,9,200,0,0,1795662501011996385,NULL,'Waiting for job to be provisioned.');
INSERT INTO "entry" VALUES(6,1795662500986234950,51,9,200,0,0,1795662501011996386,NULL,'Vertex AI is provisioning job running framework. First time usage might take couple of minutes, and subsequent runs can be much faster.');
INSERT INTO "entry" VALUES(6,1795662500988673976,52,9,300,0,0,1795662501011996387,NULL,'Unlike in the cloud: The cloud may not pull trainyard-test:1: it wants images to be in Artifact Registry or Container Registry. The replica of workerpool0 has 2 vCPUs and 15 GiB of memory at most here; n1-standard-4 has 4 and 15.');
INSERT INTO "entry" VALUES(6,1795662500988673976,53,9,200,0,0,1795662501011996388,NULL,'Vertex AI is setting up this job.');
INSERT INTO "entry" VALUES(6,1795662501718676338,54,9,200,0,0,1795662501761931939,NULL,'Waiting for training program to start.');
INSERT INTO "entry" VALUES(6,1795662501718676338,55,9,200,0,0,1795662501761931940,NULL,'Job is preparing.');
INSERT INTO "entry" VALUES(6,1795662504036225936,56,9,200,0,0,1795662504073673151,NULL,'Job is running.');
INSERT INTO "entry" VALUES(6,1795662504036225936,57,10,200,1,1,1795662504704272557,NULL,'{"message":"a line of a custom job","levelname":"INFO","attrs":{"tag":"workerpool0-0"},"created":1795662504.012881}');
INSERT INTO "entry" VALUES(6,1795662504800429554,58,11,200,0,0,1795662504843821481,NULL,'Job completed successfully.');
CREATE TABLE meta (
	name TEXT NOT NULL PRIMARY KEY,
	value ANY NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "meta" VALUES('instance','cahi6rpm');
INSERT INTO "meta" VALUES('outbox',53);
INSERT INTO "meta" VALUES('sequence',58);
CREATE TABLE replica_position (
	job INTEGER NOT NULL,
	attempt INTEGER NOT NULL,
	role INTEGER NOT NULL,
	replica INTEGER NOT NULL,
	restart INTEGER NOT NULL,
	stdout_ns INTEGER NOT NULL,
	stdout_behind INTEGER NOT NULL, -- lines after the clock was put back
	stdout_parts INTEGER NOT NULL,  -- parts of a long line that are stored while its end is not, and its time
	stdout_parts_ns INTEGER NOT NULL,
	stderr_ns INTEGER NOT NULL,
	stderr_behind INTEGER NOT NULL,
	stderr_parts INTEGER NOT NULL,
	stderr_parts_ns INTEGER NOT NULL,
	PRIMARY KEY (job, attempt, role, replica)
) STRICT, WITHOUT ROWID;
INSERT INTO "replica_position" VALUES(1,1,0,0,0,1795662487090094151,0,0,0,1795662487090005494,0,0,0);
INSERT INTO "replica_position" VALUES(4,1,0,0,0,1795662499547892742,0,0,0,0,0,0,0);
INSERT INTO "replica_position" VALUES(5,1,0,0,0,1795662499509775339,0,0,0,0,0,0,0);
INSERT INTO "replica_position" VALUES(6,1,0,0,0,1795662504012881374,0,0,0,0,0,0,0);
CREATE TABLE source (
	id INTEGER PRIMARY KEY,
	project TEXT NOT NULL,
	log_name TEXT NOT NULL,
	job INTEGER NOT NULL,
	resource_type TEXT NOT NULL,
	resource_labels TEXT NOT NULL,
	labels TEXT NOT NULL,
	job_label TEXT COLLATE NOCASE, -- of resource_labels
	UNIQUE (project, log_name, job, resource_type, resource_labels, labels)
) STRICT;
INSERT INTO "source" VALUES(1,'demo-project','ml.googleapis.com%2Fone_that_ran',1,'ml_job','{"project_id":"demo-project","job_id":"one_that_ran","task_name":"service"}','{}','one_that_ran');
INSERT INTO "source" VALUES(2,'demo-project','master-replica-0',1,'ml_job','{"project_id":"demo-project","job_id":"one_that_ran","task_name":"master-replica-0"}','{"compute.googleapis.com/resource_name":"cmle-training-master-c34937ed76-0-fc8c6"}','one_that_ran');
INSERT INTO "source" VALUES(3,'demo-project','ml.googleapis.com%2Fone_that_failed',2,'ml_job','{"project_id":"demo-project","job_id":"one_that_failed","task_name":"service"}','{}','one_that_failed');
INSERT INTO "source" VALUES(4,'demo-project','ml.googleapis.com%2Fa_search',3,'ml_job','{"project_id":"demo-project","job_id":"a_search","task_name":"service"}','{}','a_search');
INSERT INTO "source" VALUES(5,'demo-project','ml.googleapis.com%2Fa_search',3,'ml_job','{"project_id":"demo-project","job_id":"a_search","task_name":"service"}','{"ml.googleapis.com/trial_id":"1"}','a_search');
INSERT INTO "source" VALUES(6,'demo-project','ml.googleapis.com%2Fa_search',3,'ml_job','{"project_id":"demo-project","job_id":"a_search","task_name":"service"}','{"ml.googleapis.com/trial_id":"2"}','a_search');
INSERT INTO "source" VALUES(7,'demo-project','master-replica-0',3,'ml_job','{"project_id":"demo-project","job_id":"a_search","task_name":"master-replica-0"}','{"compute.googleapis.com/resource_name":"cmle-training-master-b1fe41712f-0-86494","ml.googleapis.com/trial_id":"2"}','a_search');
INSERT INTO "source" VALUES(8,'demo-project','master-replica-0',3,'ml_job','{"project_id":"demo-project","job_id":"a_search","task_name":"master-replica-0"}','{"compute.googleapis.com/resource_name":"cmle-training-master-c36312364e-0-1c7b5","ml.googleapis.com/trial_id":"1"}','a_search');
INSERT INTO "source" VALUES(9,'demo-project','ml.googleapis.com%2F6199594227990568849',6,'ml_job','{"project_id":"demo-project","job_id":"6199594227990568849","task_name":"service"}','{"ml.googleapis.com/endpoint":""}','6199594227990568849');
INSERT INTO "source" VALUES(10,'demo-project','workerpool0-0',6,'ml_job','{"project_id":"demo-project","job_id":"6199594227990568849","task_name":"workerpool0-0"}','{"compute.googleapis.com/resource_name":"cmle-training-workerpool0-7e4a6ae3a1-0-deccd"}','6199594227990568849');
INSERT INTO "source" VALUES(11,'demo-project','ml.googleapis.com%2F6199594227990568849',6,'ml_job','{"project_id":"demo-project","job_id":"6199594227990568849","task_name":"service"}','{"ml.googleapis.com/endpoint":"","ml.googleapis.com/job_state":"SUCCEEDED"}','6199594227990568849');
CREATE INDEX source_job_label ON source (job_label);
CREATE INDEX source_job ON source (job);
CREATE INDEX entry_time ON entry (ts, insert_id);
COMMIT;
