import { describe, expect, it } from 'vitest';
import { Cleanup } from './services.js';

describe('the cleanup', () => {
  it('releases in reverse order, one after another', async () => {
    const released: string[] = [];
    const cleanup = new Cleanup();
    cleanup.add('first', () => void released.push('first'));
    cleanup.add('second', async () => {
      await Promise.resolve();
      released.push('second');
    });
    await cleanup.run();
    expect(released).toEqual(['second', 'first']);
    expect(cleanup.pending).toEqual([]);
  });

  it('lists what is being released, and what follows', async () => {
    const cleanup = new Cleanup();
    cleanup.add('database', () => undefined);
    let release = () => {};
    cleanup.add('connections', () => new Promise<void>((resolve) => (release = resolve)));
    expect(cleanup.pending).toEqual(['connections', 'database']);
    const done = cleanup.run();
    expect(cleanup.pending).toEqual(['connections', 'database']);
    release();
    await done;
    expect(cleanup.pending).toEqual([]);
  });
});
