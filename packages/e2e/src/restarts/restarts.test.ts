import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RestartReport, runRestarts } from './run.js';

const RESTARTS = 3;
const UPGRADES = 1;

/**
 * A few turns of `npm run restarts`, at a rate that a busy machine reaches, too. `drainSeconds` is long, so that nothing
 * depends on how soon a client sends its next request.
 */
describe.runIf(process.platform === 'linux')(`${RESTARTS} restarts and ${UPGRADES} upgrade under load`, () => {
  const dir = mkdtempSync(join(tmpdir(), 'so-restarts-'));
  let report: RestartReport;

  beforeAll(async () => {
    report = await runRestarts(dir, { restarts: RESTARTS, upgrades: UPGRADES, perSecond: 100, drainSeconds: 30 });
  });
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  it('lose no request and no visit, and count each failed login once', () => {
    expect(report.faults).toEqual([]);
    expect(report.load.failed).toBe(0);
    expect(report.logged).toBe(report.load.requests);
  });

  it('happen to every kind of request', () => {
    expect(Object.keys(report.load.kinds).sort()).toEqual([
      ...['form', 'guess', 'page', 'page, new connection', 'refused', 'slow download', 'slow upload'],
    ]);
  });

  it('let each attacker have as many password checks as the limit allows', () => {
    expect(report.lockouts).toBe(2 * (RESTARTS + UPGRADES));
    expect(report.checks).toBe(5 * report.lockouts);
  });
});
