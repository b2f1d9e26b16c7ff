import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { setFlagsFromString } from 'node:v8';
import { type ResourceLimits, Worker } from 'node:worker_threads';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { collectStartGarbage, letThreadsLimitThemselves } from './process-tuning.js';

/** Allocates until the young generation of a thread has its greatest size. Returns that size in megabytes. */
async function getYoungGeneration(resourceLimits: ResourceLimits): Promise<number> {
  const program = `
    const kept = [];
    for (let i = 0; i < 1_500_000; i++) kept[i % 200_000] = { i, list: [i] };
    const { space_size: bytes } = require('node:v8').getHeapSpaceStatistics().find(
      ({ space_name: name }) => name === 'new_space');
    require('node:worker_threads').parentPort.postMessage(bytes / 2 ** 20);
  `;
  const worker = new Worker(program, { eval: true, execArgv: [], resourceLimits });
  const [megabytes] = await once(worker, 'message');
  await worker.terminate();
  return megabytes;
}

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

  it('is limited for each thread by its own limit, although Node was started with another for its main thread', async () => {
    setFlagsFromString('--max-semi-space-size=16');
    onTestFinished(() => setFlagsFromString('--max-semi-space-size=0'));
    expect(await getYoungGeneration({ maxYoungGenerationSizeMb: 8 })).toBeGreaterThan(8);
    letThreadsLimitThemselves();
    expect(await getYoungGeneration({ maxYoungGenerationSizeMb: 8 })).toBeLessThanOrEqual(8);
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
