// SPDX-License-Identifier: Apache-2.0
// Google's storage library for Node, pointed at trainyard by `trainyard env`. Prints one line of JSON a test; see
// test_storage_clients.py.
'use strict';
const assert = require('node:assert/strict');
const crypto = require('node:crypto');
const fs = require('node:fs/promises');
const os = require('node:os');
const path = require('node:path');
const { PassThrough, Readable } = require('node:stream');
const { pipeline } = require('node:stream/promises');
const { Storage, TransferManager } = require('@google-cloud/storage');

const projectId = process.env.GOOGLE_CLOUD_PROJECT;
const storage = new Storage({ projectId, retryOptions: { autoRetry: false } });
const bucket = storage.bucket(`node-${process.pid}`);
const KIB = 1 << 10;
const MIB = 1 << 20;

// A pattern in which no two positions look the same.
const pattern = Buffer.alloc(3 * MIB + 7);
for (let i = 0; i + 4 <= pattern.length; i += 4) pattern.writeUInt32BE(i, i);
const md5 = (data) => crypto.createHash('md5').update(data).digest('base64');
const hostileNames = ['a//b', 'a/../b', '../b', '/a', 'a/', 'a/./b', '...', 'ü/日本', 'a?b#c%2F', 'a%2Fb', '%00', 'a b+c', 'case',
  'CASE', 'x'.repeat(1024), 'a\tb', 'a\\b', '$(x)', "a\"b'c", 'e\u0301', '\u00e9', '&=;', '\u{1f600}'];

async function refused(code, call) {
  try {
    await call;
  } catch (error) {
    assert.equal(error.code, code, error.stack);
    return error;
  }
  throw new Error(`was not refused with ${code}`);
}

async function put(name, data = 'hello', options = {}) {
  const file = bucket.file(name);
  await file.save(data, { resumable: false, ...options });
  return file;
}
const read = async (name, options) => (await bucket.file(name).download(options))[0];
const inDirectory = async (work) => {
  const directory = await fs.mkdtemp(path.join(os.tmpdir(), 'trainyard-node-'));
  try {
    await work(directory);
  } finally {
    await fs.rm(directory, { recursive: true });
  }
};

const tests = {
  async 'makes, lists, changes and deletes buckets'() {
    const name = `node-more-${process.pid}`;
    const [made, answer] = await storage.createBucket(name, { location: 'EUROPE-WEST1', labels: { a: '1' } });
    assert.equal(answer.name, name);
    await refused(409, storage.createBucket(name));
    assert.deepEqual((await storage.getBuckets({ prefix: 'node-more-' }))[0].map((b) => b.name), [name]);
    const [metadata] = await made.setMetadata({ labels: { b: '2', a: null } });
    assert.deepEqual(metadata.labels, { b: '2' });
    assert.equal((await made.getMetadata())[0].metageneration, '2');
    assert.deepEqual(await made.exists(), [true]);
    await made.file('left').save('x');
    await refused(409, made.delete());
    await made.deleteFiles();
    await made.delete();
    assert.deepEqual(await made.exists(), [false]);
  },

  async 'uploads in one request and checks what comes back'() {
    for (const data of [Buffer.alloc(0), Buffer.from('x'), pattern.subarray(0, KIB)]) {
      const file = await put('small', data, { contentType: 'x/y', validation: 'md5', metadata: { metadata: { epoch: '7' } } });
      const [metadata] = await file.getMetadata();
      assert.deepEqual([Number(metadata.size), metadata.contentType, metadata.md5Hash, metadata.metadata.epoch],
        [data.length, 'x/y', md5(data), '7']);
      assert.deepEqual(await read('small', { validation: 'crc32c' }), data);
      assert.deepEqual(await read('small', { validation: 'md5' }), data);
    }
  },

  async 'uploads in resumable chunks and as streams'() {
    await bucket.file('chunked').save(pattern, { resumable: true, chunkSize: 256 * KIB, validation: 'crc32c' });
    assert.deepEqual(await read('chunked'), pattern);
    await bucket.file('whole').save(pattern, { resumable: true });
    assert.deepEqual(await read('whole'), pattern);
    for (const resumable of [false, true]) {
      const blocks = Array.from({ length: 50 }, (_, i) => pattern.subarray(i * 60000, (i + 1) * 60000));
      await pipeline(Readable.from(blocks), bucket.file('stream').createWriteStream({ resumable, contentType: 'x/y' }));
      assert.deepEqual(await read('stream'), pattern.subarray(0, 3000000));
    }
    await inDirectory(async (directory) => {
      await fs.writeFile(`${directory}/f.txt`, 'from a file');
      const [file] = await bucket.upload(`${directory}/f.txt`, { destination: 'u/f.txt' });
      assert.equal((await file.getMetadata())[0].contentType, 'text/plain');
      await file.download({ destination: `${directory}/back` });
      assert.equal(await fs.readFile(`${directory}/back`, 'utf8'), 'from a file');
    });
  },

  async 'resumes an upload that was interrupted'() {
    const file = bucket.file('resumed');
    const [uri] = await file.createResumableUpload({ metadata: { contentType: 'x/y' } });
    const half = await fetch(uri, { method: 'PUT', body: pattern.subarray(0, MIB),
      headers: { 'content-range': `bytes 0-${MIB - 1}/*` } });
    assert.equal(half.status, 308);
    assert.deepEqual(await file.exists(), [false]);
    const rest = file.createWriteStream({ uri, offset: MIB, resumable: true, isPartialUpload: false, validation: false });
    await pipeline(Readable.from([pattern.subarray(MIB)]), rest);
    assert.deepEqual(await read('resumed'), pattern);
    assert.equal((await file.getMetadata())[0].contentType, 'x/y');
  },

  async 'leaves no object when an upload is broken off'() {
    const stream = bucket.file('broken').createWriteStream({ resumable: false });
    const source = new PassThrough();
    source.write(pattern.subarray(0, KIB));
    const ended = pipeline(source, stream);
    setImmediate(() => source.destroy(new Error('broken off')));
    await assert.rejects(ended, /broken off/);
    assert.deepEqual(await bucket.file('broken').exists(), [false]);
  },

  async 'downloads ranges and streams'() {
    const file = await put('ranges', pattern);
    assert.deepEqual(await read('ranges', { start: 5, end: 9 }), pattern.subarray(5, 10));
    assert.deepEqual(await read('ranges', { start: MIB }), pattern.subarray(MIB));
    assert.deepEqual(await read('ranges', { end: -7 }), pattern.subarray(-7));
    const parts = [];
    for await (const part of file.createReadStream()) parts.push(part);
    assert.deepEqual(Buffer.concat(parts), pattern);
    await refused(416, read('ranges', { start: pattern.length }));
  },

  async 'has checksums checked'() {
    const wrong = bucket.file('wrong').createWriteStream({ resumable: false, metadata: { md5Hash: md5('else') } });
    await refused(400, pipeline(Readable.from(['bytes']), wrong));
    assert.deepEqual(await bucket.file('wrong').exists(), [false]);
  },

  async 'lists by prefix, delimiter and page'() {
    const names = ['l/a', 'l/b/1', 'l/b/2', 'l/c/', 'l/z'];
    for (const name of names) await put(name);
    const list = async (query) => (await bucket.getFiles(query))[0].map((f) => f.name);
    assert.deepEqual(await list({ prefix: 'l/' }), names);
    const [files, , answer] = await bucket.getFiles({ prefix: 'l/', delimiter: '/', autoPaginate: false });
    assert.deepEqual([files.map((f) => f.name), answer.prefixes], [['l/a', 'l/z'], ['l/b/', 'l/c/']]);
    const seen = [];
    for (let query = { prefix: 'l/', maxResults: 2, autoPaginate: false }; query;) {
      const [page, next] = await bucket.getFiles(query);
      assert.ok(page.length <= 2);
      seen.push(...page.map((f) => f.name));
      query = next;
    }
    assert.deepEqual(seen, names);
    assert.deepEqual(await list({ matchGlob: 'l/*/?' }), ['l/b/1', 'l/b/2']);
    assert.deepEqual(await list({ startOffset: 'l/b/2', endOffset: 'l/z' }), ['l/b/2', 'l/c/']);
    const streamed = [];
    for await (const file of bucket.getFilesStream({ prefix: 'l/b/' })) streamed.push(file.name);
    assert.deepEqual(streamed, ['l/b/1', 'l/b/2']);
  },

  async 'copies, moves and composes'() {
    const from = await put('from', pattern, { contentType: 'x/y' });
    const [copy] = await from.copy(bucket.file('copy'), { contentType: 'x/z' });
    assert.equal((await copy.getMetadata())[0].contentType, 'x/z');
    await copy.move('moved');
    assert.deepEqual([await copy.exists(), (await read('moved')).equals(pattern)], [[false], true]);
    const [renamed] = await bucket.file('moved').rename('renamed');
    assert.equal((await renamed.getMetadata())[0].size, String(pattern.length));
    const parts = await Promise.all(['one ', 'two ', 'three'].map((text, i) => put(`part/${i}`, text)));
    const [whole] = await bucket.combine(parts, bucket.file('composed.txt'));
    assert.equal(String(await read('composed.txt')), 'one two three');
    assert.equal((await whole.getMetadata())[0].componentCount, 3);
    await refused(404, bucket.file('none').copy('x'));
  },

  async 'changes metadata'() {
    const file = await put('described');
    const [metadata] = await file.setMetadata({ cacheControl: 'no-store', metadata: { a: '1', b: '2' } });
    assert.deepEqual([metadata.metageneration, metadata.metadata], ['2', { a: '1', b: '2' }]);
    await file.setMetadata({ metadata: { b: null } });
    assert.deepEqual((await file.getMetadata())[0].metadata, { a: '1' });
    await refused(404, bucket.file('none').setMetadata({ cacheControl: 'x' }));
  },

  async 'holds conditions'() {
    const once = { preconditionOpts: { ifGenerationMatch: 0 } };
    await put('held', '1', once);
    await refused(412, put('held', '2', once));
    await refused(412, bucket.file('held').save(pattern, { resumable: true, ...once }));
    const [metadata] = await bucket.file('held').getMetadata();
    await put('held', '2', { preconditionOpts: { ifGenerationMatch: metadata.generation } });
    await refused(412, bucket.file('held').delete({ ifGenerationMatch: metadata.generation }));
    await refused(404, bucket.file('held', { generation: metadata.generation }).download());
    await bucket.file('held').delete();
    await refused(404, bucket.file('held').delete());
  },

  async 'moves many files at once'() {
    await inDirectory(async (directory) => {
      const names = Array.from({ length: 20 }, (_, i) => `${i}.txt`);
      await Promise.all(names.map((name) => fs.writeFile(`${directory}/${name}`, `contents of ${name}`)));
      const manager = new TransferManager(bucket);
      await manager.uploadManyFiles(names.map((name) => `${directory}/${name}`), { concurrencyLimit: 8,
        customDestinationBuilder: (file) => `many/${path.basename(file)}` });
      assert.equal((await bucket.getFiles({ prefix: 'many/' }))[0].length, 20);
      await manager.downloadManyFiles('many/', { concurrencyLimit: 8, stripPrefix: 'many/',
        passthroughOptions: { destination: `${directory}/back` } });
      for (const name of names) assert.equal(await fs.readFile(`${directory}/back/${name}`, 'utf8'), `contents of ${name}`);
      await put('large', pattern);
      await manager.downloadFileInChunks('large', { chunkSizeBytes: MIB, destination: `${directory}/large`, validation: 'crc32c' });
      assert.ok((await fs.readFile(`${directory}/large`)).equals(pattern));
    });
  },

  async 'keeps any name'() {
    for (const name of hostileNames) await put(name, name);
    const [files] = await bucket.getFiles();
    for (const name of hostileNames) {
      assert.ok(files.some((file) => file.name === name), name);
      assert.equal(String(await read(name)), name);
    }
    for (const name of hostileNames) await bucket.file(name).delete();
    for (const name of ['.', '..', 'a\nb', 'x'.repeat(1025)]) await refused(400, put(name));
  },

  async 'tells what is missing'() {
    const missing = await refused(404, bucket.file('none').getMetadata());
    assert.match(missing.message, new RegExp(`No such object: ${bucket.name}/none`));
    await refused(404, read('none'));
    await refused(404, storage.bucket('no-such-bucket-here').getMetadata());
  },
};

(async () => {
  await storage.createBucket(bucket.name);
  await require('./one_by_one.js').runTests(tests);
  process.exit(); // not when the last idle connection has been closed
})();
