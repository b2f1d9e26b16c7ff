import { readFile } from 'node:fs/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { collectStartGarbage } from './process-tuning.js';

describe('the memory of guard', () => {
  it('loses what the start has left, once, some seconds later', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const left = (() => new WeakRef({ garbage: true }))();
    const inUse = { kept: true };
    const kept = new WeakRef(inUse);
    collectStartGarbage();
    // What a WeakRef has returned is kept until the current task ends.
    await new Promise((resolve) => setImmediate(resolve));
    vi.runAllTimers();
    await new Promise((resolve) => setImmediate(resolve));
    expect(left.deref()).toBeUndefined();
    expect(kept.deref()).toBe(inUse);
  });

  it.each([
    'docs/operator/examples/security-optimizer.service',
    'docs/operator/examples/npm-package.conf',
    'packaging/debian/security-optimizer',
  ])('is limited for new objects by %s, whatever the machine has', async (file) => {
    expect(await readFile(new URL(`../../../../${file}`, import.meta.url), 'utf8')).toMatch(
      /(?:\/usr\/bin\/node|bin\/node") --max-semi-space-size=16 /,
    );
  });
});
