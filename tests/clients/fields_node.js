// SPDX-License-Identifier: Apache-2.0
// Sends every field of fields.json by Google's Node library. See test_fields.py.
'use strict';
const assert = require('node:assert/strict');
const path = require('node:path');
const { google } = require('googleapis');
const FIELDS = require(path.join(__dirname, 'fields.json'));

const parent = `projects/${process.env.GOOGLE_CLOUD_PROJECT}`;
const prefix = `node_${process.pid}`;
const { projects } = google.ml({ version: 'v1', rootUrl: process.env.TRAINYARD_ENDPOINT + '/' });
const { jobs } = projects;
const LABELS = { changed: 'yes' };

const idOf = (number) => `${prefix}_${number}`;
const nameOf = (number) => `${parent}/jobs/${idOf(number)}`;
const create = async (number, job) => (await jobs.create({ parent, requestBody: { ...job, jobId: idOf(number) } })).data;
const get = async (number) => (await jobs.get({ name: nameOf(number) })).data;

// Waits until the job is in that state, and, if asked, has something in its output.
async function until(number, state, output) {
  const end = Date.now() + 60000;
  for (;;) {
    const job = await get(number);
    if (job.state === state && (output ? job.trainingOutput[output] : job.endTime)) return job;
    assert.ok(!job.endTime && Date.now() < end, JSON.stringify(job));
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

// Changes a job's labels; returns the job from that answer, and a list with only this job.
async function label(number) {
  const { data: patched } = await jobs.patch({ name: nameOf(number), updateMask: 'labels', requestBody: { labels: LABELS } });
  return { patched, listed: (await jobs.list({ parent, filter: `jobId=${idOf(number)}` })).data.jobs };
}

// The daemon runs one job at a time, so later jobs stay queued. The machine is so expensive that consumed units show at
// once.
async function holdsTheQueue() {
  await create('hold', FIELDS.hold);
  const { trainingOutput: output } = await until('hold', 'RUNNING', 'consumedMLUnits');
  const { patched, listed } = await label('hold');
  for (const { trainingOutput: other } of [patched, ...listed]) {
    assert.deepEqual(other.webAccessUris, output.webAccessUris);
    assert.ok(other.consumedMLUnits >= output.consumedMLUnits);
  }
  assert.deepEqual(Object.keys(output.webAccessUris), ['master-replica-0']);
}

async function accepted(number, { job: sent, ignored = [] }) {
  const created = await create(number, sent);
  assert.deepEqual(created.trainingInput, sent.trainingInput);
  assert.deepEqual(created.labels, sent.labels);
  assert.equal(created.state, 'QUEUED');
  for (const field of ignored) assert.notDeepEqual(created[field], sent[field]);
  // A body may have more fields than the mask names.
  const { data: patched } = await jobs.patch({
    name: nameOf(number), updateMask: 'labels,etag',
    requestBody: { ...sent, jobId: idOf(number), labels: LABELS, etag: created.etag } });
  assert.deepEqual(patched.labels, LABELS);
  assert.notEqual(patched.etag, created.etag);
  const got = await get(number);
  assert.deepEqual([got.trainingInput, got.labels], [sent.trainingInput, LABELS]);
}

async function refused(number, { job, says }) {
  const error = await create(number, job).then(() => assert.fail('was not refused'), (thrown) => thrown);
  assert.equal(error.response?.status, 400, error.stack);
  assert.ok(error.message.includes(says), error.message);
}

async function pages(resource, field, parameters) {
  const found = [];
  let pageToken;
  do {
    const { data } = await resource.list({ parent, pageToken, ...parameters });
    found.push(...data[field]);
    pageToken = data.nextPageToken;
  } while (pageToken);
  return found;
}

async function listsThemAllPageAfterPage() {
  const listed = await pages(jobs, 'jobs', { filter: `jobId:${prefix}_*`, pageSize: 2 });
  const seen = Object.fromEntries(listed.map((job) => [job.jobId, job]));
  FIELDS.accepted.forEach((row, number) =>
    assert.deepEqual(seen[idOf(number)].trainingInput, row.job.trainingInput));
}

async function takesTheParametersOfEveryMethod() {
  const { data } = await jobs.get({ name: nameOf(0), ...FIELDS.parameters });
  const { region, args } = FIELDS.accepted[0].job.trainingInput;
  assert.deepEqual(data, { jobId: idOf(0), trainingInput: { region, args } });
}

async function keepsAPolicy() {
  const resource = nameOf(0);
  assert.deepEqual((await jobs.getIamPolicy({ resource })).data, { etag: 'ACAB' });
  const { data: put } = await jobs.setIamPolicy({
    resource, requestBody: { policy: { ...FIELDS.policy, etag: 'ACAB' }, updateMask: 'bindings,auditConfigs,etag' } });
  assert.deepEqual(put, { ...FIELDS.policy, etag: put.etag });
  assert.deepEqual((await jobs.getIamPolicy({ resource, 'options.requestedPolicyVersion': 3 })).data, put);
  const { data: held } = await jobs.testIamPermissions({ resource, requestBody: { permissions: ['ml.jobs.get', 'ml.jobs.fly'] } });
  assert.deepEqual(held, { permissions: ['ml.jobs.get'] });
}

async function knowsTheProjectAndItsLocations() {
  const { data } = await projects.getConfig({ name: parent });
  assert.ok(data.serviceAccount.includes(data.serviceAccountProject) && data.config.tpuServiceAccount);
  const locations = await pages(projects.locations, 'locations', { pageSize: 10 });
  assert.ok(locations.length > 10);
  assert.deepEqual((await projects.locations.get({ name: locations[0].name })).data, locations[0]);
}

async function seesHowJobsEnd() {
  for (const number of [...FIELDS.accepted.keys(), 'hold']) {
    await jobs.cancel({ name: nameOf(number), requestBody: {} });
    await until(number, 'CANCELLED');
  }
  await create('fails', FIELDS.fails);
  assert.match((await until('fails', 'FAILED')).errorMessage, /non-zero status of 3/);
  const created = await create('ends', FIELDS.ends);
  assert.ok(created.trainingOutput.isBuiltInAlgorithmJob);
  assert.match((await until('ends', 'SUCCEEDED')).trainingOutput.builtInAlgorithmOutput.modelPath, /^gs:/);
  for (const number of ['fails', 'ends']) {
    const { patched, listed } = await label(number);
    assert.deepEqual([listed, await get(number)], [[patched], patched]);
  }
}

const tests = [
  ['holds the queue', holdsTheQueue],
  ...FIELDS.accepted.map((row, number) => [`sends ${row.name}`, () => accepted(number, row)]),
  ...FIELDS.refused.map((row, number) => [`is refused ${row.name}`, () => refused(`refused_${number}`, row)]),
  ['lists them all page after page', listsThemAllPageAfterPage],
  ['takes the parameters of every method', takesTheParametersOfEveryMethod],
  ['keeps a policy', keepsAPolicy],
  ['knows the project and its locations', knowsTheProjectAndItsLocations],
  ['sees how jobs end', seesHowJobsEnd],
];

require('./one_by_one.js').runTests(Object.fromEntries(tests));
