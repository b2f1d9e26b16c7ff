import { describe, expect, it } from 'vitest';
import { createProgress } from '../src/fetch/progress.js';

function output(isTTY: boolean) {
  const lines: string[] = [];
  return { lines, isTTY, write: (text: string) => lines.push(text) > 0 };
}

describe('progress', () => {
  it('prints one plain line for each tenth where there is no terminal', () => {
    const to = output(false);
    const progress = createProgress('WordPress', to);
    for (let done = 0; done <= 200e6; done += 1e6) progress.update(done, 200e6);
    progress.end();
    expect(to.lines).toHaveLength(11);
    expect(to.lines[5]).toBe('WordPress 50% of 200 MB\n');
  });

  it('draws a bar on a terminal, at most ten times a second, and ends with the last state', () => {
    const to = output(true);
    let now = 0;
    const progress = createProgress('WordPress', to, () => now);
    for (let step = 0; step <= 100; step += 1) {
      now += 10;
      progress.update(step * 1e6, 100e6);
    }
    progress.end();
    expect(to.lines.length).toBeLessThanOrEqual(12);
    expect(to.lines.at(-1)).toBe(`\rWordPress [${'#'.repeat(30)}] 100% of 100 MB\n`);
  });
});
