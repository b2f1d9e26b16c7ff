import { describe, expect, it } from 'vitest';
import { LookupQueue, type Urgency } from './lookup-queue.js';

function fill(queue: LookupQueue<string>, urgency: Urgency): number {
  let added = 0;
  while (!queue.isFull(urgency)) {
    const key = `${urgency} ${added++}`;
    queue.add(key, key, urgency);
  }
  return added;
}

function drain(queue: LookupQueue<string>): string[] {
  const tasks: string[] = [];
  for (let task = queue.next(); task !== null; task = queue.next()) tasks.push(task);
  return tasks;
}

describe('lookups in line', () => {
  it('come the most urgent first, each once', () => {
    const queue = new LookupQueue<string>();
    queue.add('a', 'a', 'seen');
    queue.add('b', 'b', 'claimed');
    queue.add('c', 'c', 'shown');
    queue.add('a', 'a, looked at', 'shown');
    queue.add('b', 'b, seen again', 'seen');
    expect(drain(queue)).toEqual(['c', 'a, looked at', 'b']);
    expect(queue.size).toBe(0);
  });

  it('are known by their key, as long as they wait no less urgently', () => {
    const queue = new LookupQueue<string>();
    queue.add('a', 'a', 'claimed');
    expect([queue.has('a', 'seen'), queue.has('a', 'claimed'), queue.has('a', 'shown')]).toEqual([true, true, false]);
    expect(queue.has('b', 'seen')).toBe(false);
  });

  it('stay bounded, and nobody loses a place because a better one is taken', () => {
    const queue = new LookupQueue<string>();
    queue.add('early', 'early', 'seen');
    const shown = fill(queue, 'shown');
    queue.add('early', 'early', 'shown');
    queue.add('late', 'late', 'shown');
    const tasks = drain(queue);
    expect(tasks).toHaveLength(shown + 1);
    expect(tasks.at(-1)).toBe('early');
  });
});
