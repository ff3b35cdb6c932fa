PRAGMA application_id = 1954116196;
PRAGMA user_version = 22;
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
INSERT INTO "entry" VALUES(1,1795815001363428260,1,1,200,0,0,1795815001392352310,NULL,'Validating job requirements...');
INSERT INTO "entry" VALUES(1,1795815001363428260,2,1,200,0,0,1795815001392352311,NULL,'Job creation request has been successfully validated.');
INSERT INTO "entry" VALUES(1,1795815001363428260,3,1,200,0,0,1795815001392352312,NULL,'Job one_that_ran is queued.');
INSERT INTO "entry" VALUES(1,1795815001379165801,4,1,300,0,0,1795815001392352313,NULL,'Unlike in the cloud: The cloud may not pull trainyard-test:1: it wants images to be in Artifact Registry or Container Registry. The master has 2 vCPUs and 15 GiB of memory at most here; n1-standard-4 has 4 and 15.');
INSERT INTO "entry" VALUES(1,1795815001379165801,5,1,200,0,0,1795815001392352314,NULL,'Waiting for job to be provisioned.');
INSERT INTO "entry" VALUES(1,1795815001379165801,6,1,200,0,0,1795815001392352315,NULL,'Job is preparing.');
INSERT INTO "entry" VALUES(1,1795815001599398603,7,1,200,0,0,1795815001623193688,NULL,'Waiting for training program to start.');
INSERT INTO "entry" VALUES(1,1795815002147396455,8,1,200,0,0,1795815002169167952,NULL,'Job is running.');
INSERT INTO "entry" VALUES(1,1795815002147396455,9,2,200,0,1,1795815002169167953,NULL,'a line of a job');
INSERT INTO "entry" VALUES(1,1795815002147396455,10,2,500,0,2,1795815002169167954,NULL,'another');
INSERT INTO "entry" VALUES(1,1795815002357260528,11,1,200,0,0,1795815002362872335,NULL,'Tearing down training program.');
INSERT INTO "entry" VALUES(1,1795815002397161263,12,1,200,0,0,1795815002398773562,NULL,'Finished tearing down training program.');
INSERT INTO "entry" VALUES(1,1795815002397161263,13,1,200,0,0,1795815002398773563,NULL,'Job completed successfully.');
INSERT INTO "entry" VALUES(2,1795815002570165392,14,3,200,0,0,1795815002602186079,NULL,'Validating job requirements...');
INSERT INTO "entry" VALUES(2,1795815002570165392,15,3,200,0,0,1795815002602186080,NULL,'Job creation request has been successfully validated.');
INSERT INTO "entry" VALUES(2,1795815002570165392,16,3,200,0,0,1795815002602186081,NULL,'Job one_that_failed is queued.');
INSERT INTO "entry" VALUES(2,1795815002580431824,17,3,300,0,0,1795815002602186082,NULL,'Unlike in the cloud: The cloud may not pull trainyard-test:1: it wants images to be in Artifact Registry or Container Registry. The master has 2 vCPUs and 15 GiB of memory at most here; n1-standard-4 has 4 and 15.');
INSERT INTO "entry" VALUES(2,1795815002580431824,18,3,200,0,0,1795815002602186083,NULL,'Waiting for job to be provisioned.');
INSERT INTO "entry" VALUES(2,1795815002580431824,19,3,200,0,0,1795815002602186084,NULL,'Job is preparing.');
INSERT INTO "entry" VALUES(2,1795815002666868090,20,3,200,0,0,1795815002688715508,NULL,'Waiting for training program to start.');
INSERT INTO "entry" VALUES(2,1795815003518127568,21,3,200,0,0,1795815003557773256,NULL,'Job is running.');
INSERT INTO "entry" VALUES(2,1795815003739401022,22,3,500,0,0,1795815003760812447,NULL,'The replica master 0 exited with a non-zero status of 3. Termination reason: Error. 

To find out more about why your job exited please check the logs: https://console.cloud.google.com/logs/viewer?project=123456789012&resource=ml_job%2Fjob_id%2Fone_that_failed&advancedFilter=resource.type%3D%22ml_job%22%0Aresource.labels.job_id%3D%22one_that_failed%22');
INSERT INTO "entry" VALUES(2,1795815003739401022,23,3,200,0,0,1795815003760812448,NULL,'Tearing down training program.');
INSERT INTO "entry" VALUES(2,1795815003862907137,24,3,200,0,0,1795815003863678587,NULL,'Finished tearing down training program.');
INSERT INTO "entry" VALUES(2,1795815003862907137,25,3,200,0,0,1795815003863678588,NULL,'Job failed.');
INSERT INTO "entry" VALUES(3,1795815003926813914,26,4,200,0,0,1795815003950574034,NULL,'Validating job requirements...');
INSERT INTO "entry" VALUES(3,1795815003926813914,27,4,200,0,0,1795815003950574035,NULL,'Job creation request has been successfully validated.');
INSERT INTO "entry" VALUES(3,1795815003926813914,28,4,200,0,0,1795815003950574036,NULL,'Job a_search is queued.');
INSERT INTO "entry" VALUES(3,1795815003933634584,29,5,300,0,0,1795815003950574037,NULL,'Unlike in the cloud: The master has 2 vCPUs and 15 GiB of memory at most here; n1-standard-4 has 4 and 15.');
INSERT INTO "entry" VALUES(3,1795815003933634584,30,5,200,0,0,1795815003950574038,NULL,'Waiting for job to be provisioned.');
INSERT INTO "entry" VALUES(3,1795815003933634584,31,5,200,0,0,1795815003950574039,NULL,'Job is preparing.');
INSERT INTO "entry" VALUES(3,1795815003943985088,32,4,300,0,0,1795815003950574040,NULL,'Unlike in the cloud: The cloud may not pull trainyard-test:1: it wants images to be in Artifact Registry or Container Registry.');
INSERT INTO "entry" VALUES(3,1795815003952689569,33,6,200,0,0,1795815003981053128,NULL,'Waiting for job to be provisioned.');
INSERT INTO "entry" VALUES(3,1795815003952689569,34,6,200,0,0,1795815003981053129,NULL,'Job is preparing.');
INSERT INTO "entry" VALUES(3,1795815003977809528,35,5,200,0,0,1795815003981053130,NULL,'Waiting for training program to start.');
INSERT INTO "entry" VALUES(3,1795815004250294958,36,6,200,0,0,1795815004271158062,NULL,'Waiting for training program to start.');
INSERT INTO "entry" VALUES(3,1795815005018018772,37,5,200,0,0,1795815005040159529,NULL,'Job is running.');
INSERT INTO "entry" VALUES(3,1795815005115182403,38,7,200,0,1,1795815005149794503,NULL,'trial 2 has 4.07226562498181 a, "b"');
INSERT INTO "entry" VALUES(3,1795815005127449004,39,6,200,0,0,1795815005149794504,NULL,'Job is running.');
INSERT INTO "entry" VALUES(3,1795815005127449004,40,8,200,0,1,1795815005402730932,NULL,'trial 1 has 5 plain');
INSERT INTO "entry" VALUES(3,1795815005403120198,41,5,200,0,0,1795815005481155800,NULL,'Tearing down training program.');
INSERT INTO "entry" VALUES(3,1795815005508243692,42,6,200,0,0,1795815005511172430,NULL,'Tearing down training program.');
INSERT INTO "entry" VALUES(3,1795815005513950777,43,4,200,0,0,1795815005534901452,NULL,'Tearing down training program.');
INSERT INTO "entry" VALUES(3,1795815005535343627,44,5,200,0,0,1795815005536562142,NULL,'Finished tearing down training program.');
INSERT INTO "entry" VALUES(3,1795815005535343627,45,5,200,0,0,1795815005536562143,NULL,'Job completed successfully.');
INSERT INTO "entry" VALUES(3,1795815005557308876,46,6,200,0,0,1795815005558821500,NULL,'Finished tearing down training program.');
INSERT INTO "entry" VALUES(3,1795815005557308876,47,6,200,0,0,1795815005558821501,NULL,'Job completed successfully.');
INSERT INTO "entry" VALUES(3,1795815005560988386,48,4,200,0,0,1795815005562160985,NULL,'Finished tearing down training program.');
INSERT INTO "entry" VALUES(3,1795815005560988386,49,4,200,0,0,1795815005562160986,NULL,'Job completed successfully.');
INSERT INTO "entry" VALUES(6,1795815005608751048,50,9,200,0,0,1795815005630407408,NULL,'Waiting for job to be provisioned.');
INSERT INTO "entry" VALUES(6,1795815005608751048,51,9,200,0,0,1795815005630407409,NULL,'Vertex AI is provisioning job running framework. First time usage might take couple of minutes, and subsequent runs can be much faster.');
INSERT INTO "entry" VALUES(6,1795815005611664728,52,9,300,0,0,1795815005630407410,NULL,'Unlike in the cloud: The cloud may not pull trainyard-test:1: it wants images to be in Artifact Registry or Container Registry. The replica of workerpool0 has 2 vCPUs and 15 GiB of memory at most here; n1-standard-4 has 4 and 15.');
INSERT INTO "entry" VALUES(6,1795815005611664728,53,9,200,0,0,1795815005630407411,NULL,'Vertex AI is setting up this job.');
INSERT INTO "entry" VALUES(6,1795815005752521505,54,9,200,0,0,1795815005774862035,NULL,'Waiting for training program to start.');
INSERT INTO "entry" VALUES(6,1795815005752521505,55,9,200,0,0,1795815005774862036,NULL,'Job is preparing.');
INSERT INTO "entry" VALUES(6,1795815006842639192,56,9,200,0,0,1795815006874110638,NULL,'Job is running.');
INSERT INTO "entry" VALUES(6,1795815006842639192,57,10,200,1,1,1795815007018073911,NULL,'{"message":"a line of a custom job","levelname":"INFO","attrs":{"tag":"workerpool0-0"},"created":1795815006.838652}');
INSERT INTO "entry" VALUES(6,1795815007046769796,58,11,200,0,0,1795815007051819493,NULL,'Job completed successfully.');
CREATE TABLE meta (
	name TEXT NOT NULL PRIMARY KEY,
	value ANY NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "meta" VALUES('instance','wkkezlx3');
INSERT INTO "meta" VALUES('outbox',53);
INSERT INTO "meta" VALUES('received',1795815007051819494);
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
INSERT INTO "replica_position" VALUES(1,1,0,0,0,1795815002136621629,0,0,0,1795815002136853913,0,0,0);
INSERT INTO "replica_position" VALUES(4,1,0,0,0,1795815005011571175,0,0,0,0,0,0,0);
INSERT INTO "replica_position" VALUES(5,1,0,0,0,1795815005115182403,0,0,0,0,0,0,0);
INSERT INTO "replica_position" VALUES(6,1,0,0,0,1795815006838652028,0,0,0,0,0,0,0);
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
INSERT INTO "source" VALUES(2,'demo-project','master-replica-0',1,'ml_job','{"project_id":"demo-project","job_id":"one_that_ran","task_name":"master-replica-0"}','{"compute.googleapis.com/resource_name":"cmle-training-master-edc6c67fb7-0-ad1be"}','one_that_ran');
INSERT INTO "source" VALUES(3,'demo-project','ml.googleapis.com%2Fone_that_failed',2,'ml_job','{"project_id":"demo-project","job_id":"one_that_failed","task_name":"service"}','{}','one_that_failed');
INSERT INTO "source" VALUES(4,'demo-project','ml.googleapis.com%2Fa_search',3,'ml_job','{"project_id":"demo-project","job_id":"a_search","task_name":"service"}','{}','a_search');
INSERT INTO "source" VALUES(5,'demo-project','ml.googleapis.com%2Fa_search',3,'ml_job','{"project_id":"demo-project","job_id":"a_search","task_name":"service"}','{"ml.googleapis.com/trial_id":"1"}','a_search');
INSERT INTO "source" VALUES(6,'demo-project','ml.googleapis.com%2Fa_search',3,'ml_job','{"project_id":"demo-project","job_id":"a_search","task_name":"service"}','{"ml.googleapis.com/trial_id":"2"}','a_search');
INSERT INTO "source" VALUES(7,'demo-project','master-replica-0',3,'ml_job','{"project_id":"demo-project","job_id":"a_search","task_name":"master-replica-0"}','{"compute.googleapis.com/resource_name":"cmle-training-master-0b5c48fc9e-0-b80c1","ml.googleapis.com/trial_id":"2"}','a_search');
INSERT INTO "source" VALUES(8,'demo-project','master-replica-0',3,'ml_job','{"project_id":"demo-project","job_id":"a_search","task_name":"master-replica-0"}','{"compute.googleapis.com/resource_name":"cmle-training-master-269ca451d4-0-37324","ml.googleapis.com/trial_id":"1"}','a_search');
INSERT INTO "source" VALUES(9,'demo-project','ml.googleapis.com%2F748636862908775746',6,'ml_job','{"project_id":"demo-project","job_id":"748636862908775746","task_name":"service"}','{"ml.googleapis.com/endpoint":""}','748636862908775746');
INSERT INTO "source" VALUES(10,'demo-project','workerpool0-0',6,'ml_job','{"project_id":"demo-project","job_id":"748636862908775746","task_name":"workerpool0-0"}','{"compute.googleapis.com/resource_name":"cmle-training-workerpool0-1a2a17c3dd-0-03f43"}','748636862908775746');
INSERT INTO "source" VALUES(11,'demo-project','ml.googleapis.com%2F748636862908775746',6,'ml_job','{"project_id":"demo-project","job_id":"748636862908775746","task_name":"service"}','{"ml.googleapis.com/endpoint":"","ml.googleapis.com/job_state":"SUCCEEDED"}','748636862908775746');
CREATE INDEX source_job_label ON source (job_label);
CREATE INDEX source_job ON source (job);
CREATE INDEX entry_time ON entry (ts, insert_id);
COMMIT;
