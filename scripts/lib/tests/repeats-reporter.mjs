/** Names every test that passed only when it was run again, with what was wrong the first time. */
export default class RepeatsReporter {
  #repeated = 0;

  onTestCaseResult(test) {
    if (!test.diagnostic()?.flaky) return;
    this.#repeated += 1;
    const [error] = test.result().errors ?? [];
    const wrong = [error?.stack ?? error, error?.diff].filter(Boolean).join('\n');
    process.stderr.write(`\nrepeated: ${test.module.relativeModuleId} > ${test.fullName}\n${wrong}\n`);
  }

  onTestRunEnd() {
    if (this.#repeated > 0)
      process.stderr.write(`${this.#repeated} passed only when repeated; they are named above.\n`);
  }
}
