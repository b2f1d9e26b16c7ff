import { expect, it } from 'vitest';
import { KeyedMutex } from './mutex.js';

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

it('runs tasks of one key one after another, also after a failed task', async () => {
  const mutex = new KeyedMutex();
  const steps: string[] = [];
  const slow = mutex.run('a', async () => {
    await pause(20);
    steps.push('slow');
    throw new Error('expected');
  });
  const quick = mutex.run('a', async () => void steps.push('quick'));
  await expect(slow).rejects.toThrow('expected');
  await quick;
  expect(steps).toEqual(['slow', 'quick']);
});

it('does not make one key wait for another', async () => {
  const mutex = new KeyedMutex();
  const steps: string[] = [];
  const slow = mutex.run('a', async () => {
    await pause(20);
    steps.push('a');
  });
  await mutex.run('b', async () => void steps.push('b'));
  await slow;
  expect(steps).toEqual(['b', 'a']);
});

it('keeps a key only while a task runs or waits', async () => {
  const mutex = new KeyedMutex();
  const seen: number[] = [];
  const task = async () => {
    await pause(1);
    seen.push(mutex.size);
  };
  await Promise.allSettled([
    mutex.run('a', task),
    mutex.run('a', async () => Promise.reject(new Error('expected'))),
    mutex.run('b', task),
    mutex.run('a', task),
  ]);
  expect(seen.every((size) => size > 0)).toBe(true);
  expect(mutex.size).toBe(0);
});
