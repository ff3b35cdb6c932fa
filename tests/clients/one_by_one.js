// SPDX-License-Identifier: Apache-2.0
// Runs the tests of a script of this directory, and prints one line of JSON for each.
'use strict';

exports.runTests = async (tests) => {
  for (const [name, run] of Object.entries(tests)) {
    let error = null;
    try {
      await run();
    } catch (thrown) {
      error = thrown.stack ?? String(thrown);
    }
    console.log(JSON.stringify({ name, error }));
  }
};
