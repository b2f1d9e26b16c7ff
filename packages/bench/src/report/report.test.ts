import { describe, expect, it } from 'vitest';
import { withResults } from './document.js';
import { line } from './line.js';
import { isBusy } from './machine.js';
import { resultsText } from './results.js';
import { figure, table } from './table.js';

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

  it('is met when the figure is on its side or exactly on it', () => {
    expect(held(2, 'at most', 2)).toBe(true);
    expect(held(2.01, 'at most', 2)).toBe(false);
    expect(held(0.6, 'at least', 0.6)).toBe(true);
    expect(held(0.59, 'at least', 0.6)).toBe(false);
  });
  it('is missed by a figure that is no number', () => {
    expect(held(Number.NaN, 'at most', 2)).toBe(false);
    expect(held(Number.NaN, 'at least', 2)).toBe(false);
  });
  it('can be held against the ratio instead of the value', () => expect(fast.pass).toBe(true));
  it('that is not set is neither met nor missed', () => {
    expect(line({ measure: 'p1', what: 'x', value: 1, unit: '/s' }).pass).toBeNull();
  });
});

describe('the report', () => {
  it('says plainly which bar is missed', () => {
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
  it('shows three digits that count', () => {
    expect([figure(85_542.3), figure(17.23), figure(0.2641), figure(0), figure(-0.5)]).toEqual([
      '85,542',
      '17.2',
      '0.264',
      '0',
      '-0.5',
    ]);
  });
  it('keeps no more digits than mean something', () => {
    const machine = {
      cores: 2,
      memoryGigabytes: 4,
      node: '20.19.0',
      platform: 'linux x64',
      loadBefore: 0,
      loadAfter: 2,
    };
    const text = resultsText({
      at: '2026-01-01T00:00:00.000Z',
      rounds: 1,
      secondsPerTurn: 1,
      machine,
      lines: [{ ...fast, ratio: 1 / 3 }],
    });
    expect(JSON.parse(text).lines[0].ratio).toBe(0.3333);
  });
});

describe('the document', () => {
  const machine = { cores: 2, memoryGigabytes: 4, node: '20.19.0', platform: 'linux x64', loadBefore: 0, loadAfter: 2 };
  const results = { at: '2026-01-05T10:00:00.000Z', rounds: 5, secondsPerTurn: 2, machine, lines: [fast] };
  const page = 'Before.\n<!-- results: written by npm run bench -->\nold\n<!-- end of results -->\nAfter.\n';

  it('gets the results between its two marks and keeps the rest', () => {
    const once = withResults(page, results);
    expect(once).toMatch(/^Before\.\n<!-- results/);
    expect(once).toMatch(/<!-- end of results -->\nAfter\.\n$/);
    expect(once).toContain('| P1 | refused | 60,000 /s | nginx deny: 80,000 | 0.75x | >= 0.6x | pass |');
    expect(once).not.toContain('old');
    expect(withResults(once, results)).toBe(once);
  });
  it('without a place for them is refused', () => expect(() => withResults('nothing', results)).toThrow());
});

describe('the machine', () => {
  it('is called busy when others leave less than three quarters of it', () => {
    expect(isBusy({ cores: 2, loadBefore: 0.4 })).toBe(false);
    expect(isBusy({ cores: 2, loadBefore: 0.6 })).toBe(true);
  });
});
