// SPDX-License-Identifier: Apache-2.0
// Google's Node library for Vertex AI with custom jobs, over REST or gRPC (its default, which the endpoint selects).
// Prints one line of JSON for each test; see test_aiplatform.py.
'use strict';
const assert = require('node:assert/strict');
const { v1, v1beta1 } = require('@google-cloud/aiplatform');
const { google } = require('googleapis');
const { PassThroughClient } = require('google-auth-library');

const byRest = process.env.TRAINYARD_ENDPOINT.startsWith('http:');
const [, apiEndpoint, port] = process.env.TRAINYARD_ENDPOINT.match(/^(?:http:\/\/)?([^:]+):(\d+)$/);
const rest = { fallback: true, protocol: 'http' };
// The options that a user sets besides credentials.
const options = { apiEndpoint, port: Number(port), ...(byRest ? rest : {}) };
const jobs = new v1.JobServiceClient(options), pipelines = new v1.PipelineServiceClient(options);
const parent = `projects/${process.env.GOOGLE_CLOUD_PROJECT}/locations/us-central1`;
const prefix = `node-${process.pid}`;
const forever = "trap 'exit 0' TERM; while :; do sleep 0.1; done";

const pool = (text, replicaCount = 1) => ({
  machineSpec: { machineType: 'n1-standard-4' }, replicaCount,
  containerSpec: { imageUri: 'trainyard-test:1', command: ['sh', '-c'], args: [text], env: [{ name: 'WORD', value: 'a b' }] } });
const described = (name, ...texts) => ({
  displayName: `${prefix}-${name}`, labels: { client: 'node' }, jobSpec: { workerPoolSpecs: texts.map((text) => pool(text)) } });
const create = async (name, ...texts) =>
  (await jobs.createCustomJob({ parent, customJob: described(name, ...texts) }))[0];
const remove = async (client, name) => {
  const [operation] = await client.deleteCustomJob({ name });
  const [, metadata] = await operation.promise();
  assert.ok(operation.done);
  return metadata;
};

async function until(name, state, client = jobs, get = 'getCustomJob') {
  for (const end = Date.now() + 60000; ;) {
    const [job] = await client[get]({ name });
    if (job.state === state) return job;
    assert.ok(!job.endTime, `${name} ended ${job.state}: ${job.error?.message}`);
    assert.ok(Date.now() < end, `${name} is ${job.state}, not ${state}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function refused(call) {
  try {
    await call;
  } catch (error) {
    return error;
  }
  throw new Error('was not refused');
}

const tests = {
  async 'creates a job and follows it to its end'() {
    const made = await create('ends', 'test "$WORD" = "a b"', 'exit 0');
    assert.match(made.name, /^projects\/\d+\/locations\/us-central1\/customJobs\/\d+$/);
    assert.equal(made.state, 'JOB_STATE_PENDING');
    const job = await until(made.name, 'JOB_STATE_SUCCEEDED');
    assert.deepEqual(job.labels, { client: 'node' });
    assert.equal(Number(job.jobSpec.workerPoolSpecs[1].replicaCount), 1);
    assert.deepEqual(job.jobSpec.workerPoolSpecs[0].containerSpec.env[0].value, 'a b');
    assert.ok(Number(job.startTime.seconds) <= Number(job.endTime.seconds));
  },

  async 'reads why a job failed'() {
    const job = await until((await create('fails', 'exit 7')).name, 'JOB_STATE_FAILED');
    assert.equal(job.error.code, 3);
    assert.match(job.error.message, /non-zero status of 7/);
  },

  async 'lists page after page by itself'() {
    const names = [];
    for (const i of [0, 1, 2]) names.push((await create(`list-${i}`, 'exit 0')).name);
    const filter = `display_name:"${prefix}-list-*"`;
    const [found] = await jobs.listCustomJobs({ parent, filter, pageSize: 2 });
    assert.deepEqual(found.map((job) => job.name), names.reverse());
    const seen = [];
    for await (const job of jobs.listCustomJobsAsync({ parent, filter, pageSize: 1, readMask: { paths: ['name'] } })) {
      assert.equal(job.displayName, '');
      seen.push(job.name);
    }
    assert.deepEqual(seen, names);
    for (const name of names) await until(name, 'JOB_STATE_SUCCEEDED');
  },

  async 'cancels and deletes'() {
    const { name } = await create('cancel', forever);
    await until(name, 'JOB_STATE_RUNNING');
    assert.equal((await refused(jobs.deleteCustomJob({ name }))).code, 9);
    assert.deepEqual((await jobs.cancelCustomJob({ name }))[0], {});
    await until(name, 'JOB_STATE_CANCELLED');
    const metadata = await remove(jobs, name);
    assert.ok(Number(metadata.genericMetadata.createTime.seconds) > 0);
    assert.equal((await refused(jobs.getCustomJob({ name }))).code, 5);
  },

  async 'searches for a parameter'() {
    const report = 'printf \'{"global_step": "3", "score": "1.5", "timestamp": %s.5}\\n\' "$(date +%s)" > "$CLOUD_ML_HP_METRIC_FILE"';
    const hyperparameterTuningJob = { displayName: `${prefix}-search`, maxTrialCount: 2, parallelTrialCount: 1,
      studySpec: { metrics: [{ metricId: 'score', goal: 'MINIMIZE' }], algorithm: 'RANDOM_SEARCH',
        parameters: [{ parameterId: 'x', doubleValueSpec: { minValue: 1, maxValue: 2 }, scaleType: 'UNIT_LINEAR_SCALE' }] },
      trialJobSpec: { workerPoolSpecs: [pool(report)] } };
    const [{ name }] = await jobs.createHyperparameterTuningJob({ parent, hyperparameterTuningJob });
    const job = await until(name, 'JOB_STATE_SUCCEEDED', jobs, 'getHyperparameterTuningJob');
    assert.deepEqual(job.trials.map((trial) => trial.finalMeasurement.metrics[0].value), [1.5, 1.5]);
    const { numberValue } = job.trials[0].parameters[0].value;
    assert.ok(numberValue >= 1 && numberValue <= 2);
    const [[found]] = await jobs.listHyperparameterTuningJobs({ parent, filter: `display_name="${prefix}-search"` });
    assert.equal(found.name, name);
    const [operation] = await jobs.deleteHyperparameterTuningJob({ name });
    await operation.promise();
  },

  async 'runs a training pipeline'() {
    const number = (numberValue) => ({ numberValue }), string = (stringValue) => ({ stringValue });
    const list = (...values) => ({ listValue: { values } }), struct = (fields) => ({ structValue: { fields } });
    const inputs = struct({ workerPoolSpecs: list(struct({ machineSpec: struct({ machineType: string('n1-standard-4') }),
      replicaCount: number(1), containerSpec: struct({ imageUri: string('trainyard-test:1'),
        command: list(string('sh'), string('-c'), string('exit 0')) }) })) });
    const [{ name }] = await pipelines.createTrainingPipeline({ parent, trainingPipeline: { displayName: `${prefix}-pipeline`,
      trainingTaskDefinition: 'gs://google-cloud-aiplatform/schema/trainingjob/definition/custom_task_1.0.0.yaml',
      trainingTaskInputs: inputs } });
    const pipeline = await until(name, 'PIPELINE_STATE_SUCCEEDED', pipelines, 'getTrainingPipeline');
    assert.match(pipeline.trainingTaskMetadata.structValue.fields.backingCustomJob.stringValue, /customJobs\/\d+$/);
    const [operation] = await pipelines.deleteTrainingPipeline({ name });
    await operation.promise();
  },

  async 'is called by the library of all APIs'() {
    if (!byRest) return; // it knows REST alone
    const { customJobs } = google.aiplatform({ version: 'v1', rootUrl: `${process.env.TRAINYARD_ENDPOINT}/` }).projects.locations;
    const { name } = (await customJobs.create({ parent, requestBody: described('all', forever) })).data;
    assert.deepEqual((await customJobs.cancel({ name })).data, {});
    await until(name, 'JOB_STATE_CANCELLED');
    const filter = `display_name="${prefix}-all"`;
    assert.equal((await customJobs.list({ parent, filter })).data.customJobs[0].name, name);
    assert.equal((await customJobs.delete({ name })).data.done, true);
  },

  async 'understands errors'() {
    const missing = await refused(jobs.getCustomJob({ name: `${parent}/customJobs/123` }));
    assert.equal(missing.code, 5);
    assert.match(missing.message, /does not exist/);
    const customJob = described('bad', 'exit 0');
    customJob.jobSpec.workerPoolSpecs[0].machineSpec.machineType = 'n1-nosuch-4';
    const bad = await refused(jobs.createCustomJob({ parent, customJob }));
    assert.equal(bad.code, 3);
    assert.match(bad.message, /worker_pool_specs\[0\]\.machine_spec\.machine_type/);
    const [detail] = bad.statusDetails;
    assert.match(detail.fieldViolations[0].field, /machine_type/);
  },

  async 'takes other credentials'() {
    const ways = byRest ? [{ apiKey: 'x' }, { authClient: new PassThroughClient() }] : [{ authClient: new PassThroughClient() }];
    for (const way of ways) {
      const client = new v1.JobServiceClient({ ...options, ...way });
      await client.listCustomJobs({ parent, pageSize: 1 }, { autoPaginate: false });
      await client.close();
    }
  },

  async 'calls the beta likewise'() {
    const beta = new v1beta1.JobServiceClient(options);
    const [{ name }] = await beta.createCustomJob({ parent, customJob: described('beta', 'exit 0') });
    await until(name, 'JOB_STATE_SUCCEEDED', beta);
    await remove(beta, name);
    await beta.close();
  },
};

require('./one_by_one.js').runTests(tests).then(() => process.exit());
