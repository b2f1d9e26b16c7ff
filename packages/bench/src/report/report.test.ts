import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { figure, isBusy, line, resultsText, table, withResults, writeResults } from './report.js';

const machine = { cores: 2, memoryGigabytes: 4, node: '20.19.0', platform: 'linux x64', loadBefore: 0, loadAfter: 2 };

const fast = line({
  measure: 'p1',
  what: 'refused',
  value: 60_000,
  unit: '/s',
  rival: { name: 'nginx deny', value: 80_000, ratio: 0.75 },
  bar: { of: 'ratio', is: 'at least', limit: 0.6 },
});

describe('a bar', () => {
  const held = (value: number, is: 'at least' | 'at most', limit: number) =>
    line({ measure: 'p2', what: 'x', value, unit: 'ms', bar: { of: 'value', is, limit } }).pass;

  it('is met by a figure on the right side of the limit, or equal to it', () => {
    expect(held(2, 'at most', 2)).toBe(true);
    expect(held(2.01, 'at most', 2)).toBe(false);
    expect(held(0.6, 'at least', 0.6)).toBe(true);
    expect(held(0.59, 'at least', 0.6)).toBe(false);
  });
  it('is missed by a figure that is not a number', () => {
    expect(held(Number.NaN, 'at most', 2)).toBe(false);
    expect(held(Number.NaN, 'at least', 2)).toBe(false);
  });
  it('can apply to the ratio instead of the value', () => expect(fast.pass).toBe(true));
  it('is neither met nor missed when there is none', () => {
    expect(line({ measure: 'p1', what: 'x', value: 1, unit: '/s' }).pass).toBeNull();
  });
});

describe('the report', () => {
  it('marks the bars that are missed', () => {
    const missed = line({
      measure: 'p2',
      what: 'slow',
      value: 3,
      unit: 'ms',
      bar: { of: 'value', is: 'at most', limit: 2 },
    });
    const [, , first, second] = table([fast, missed]).split('\n');
    expect(first).toMatch(/^P1 {2}refused +60,000 \/s {2}nginx deny: 80,000 +0\.75x {2}>= 0\.6x +pass$/);
    expect(second).toMatch(/<= 2 ms +MISSED$/);
  });
  it('shows three significant digits', () => {
    expect([figure(85_542.3), figure(17.23), figure(0.2641), figure(0), figure(-0.5)]).toEqual([
      '85,542',
      '17.2',
      '0.264',
      '0',
      '-0.5',
    ]);
  });
  it('rounds results to four significant digits', () => {
    const at = '2026-01-01T00:00:00.000Z';
    const lines = [{ ...fast, ratio: 1 / 3 }];
    const text = resultsText([{ measure: 'p1', at, rounds: 1, secondsPerTurn: 1, machine, lines }]);
    expect(JSON.parse(text)[0].lines[0].ratio).toBe(0.3333);
  });
});

describe('the document', () => {
  const results = {
    measure: 'p1',
    at: '2026-01-05T10:00:00.000Z',
    rounds: 5,
    secondsPerTurn: 2,
    machine,
    lines: [fast],
  };
  const page = [
    'Before.',
    '<!-- results of p1: written by npm run bench -->',
    'old',
    '<!-- end of results of p1 -->',
    '<!-- results of p2: written by npm run bench -->',
    "another measure's",
    '<!-- end of results of p2 -->',
    'After.\n',
  ].join('\n');

  it('gets the results of a measure between its two markers, and its other text stays', () => {
    const once = withResults(page, results);
    expect(once).toMatch(/^Before\.\n<!-- results/);
    expect(once).toMatch(/another measure's\n<!-- end of results of p2 -->\nAfter\.\n$/);
    expect(once).toContain('| P1 | refused | 60,000 /s | nginx deny: 80,000 | 0.75x | >= 0.6x | pass |');
    expect(once).not.toContain('old');
    expect(withResults(once, results)).toBe(once);
  });
  it('without markers for a measure is refused', () => expect(() => withResults('nothing', results)).toThrow());
});

describe('the file of results', () => {
  it('contains the newest results of each measure', () => {
    const folder = mkdtempSync(join(tmpdir(), 'results-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'bench', 'results.json');
    const of = (measure: string, rounds: number) =>
      writeResults(file, { measure, at: '2026-01-05T10:00:00.000Z', rounds, secondsPerTurn: 2, machine, lines: [] });
    of('p2', 1);
    of('p1', 1);
    of('p2', 3);
    const stored = JSON.parse(readFileSync(file, 'utf8')) as { measure: string; rounds: number }[];
    expect(stored.map(({ measure, rounds }) => [measure, rounds])).toEqual([
      ['p1', 1],
      ['p2', 3],
    ]);
  });
});

describe('the machine', () => {
  it('is busy when other programs use more than a quarter of it', () => {
    expect(isBusy({ cores: 2, loadBefore: 0.4 })).toBe(false);
    expect(isBusy({ cores: 2, loadBefore: 0.6 })).toBe(true);
  });
});
