import { describe, expect, it } from 'vitest';
import { eventually } from '../../test/support/scratch.js';
import { CommandQueue, type CommandRequest, type SessionPriority, type SessionRequest } from './command-queue.js';

/** A queue whose tasks go on until the test ends them; `started` are their names in order. */
function watched(options: { sessionWaitMs?: number } = {}) {
  const queue = new CommandQueue(options);
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  const outcomes = new Map<string, unknown>();
  const run = (name: string, round: CommandRequest | SessionRequest): void => {
    const task = () =>
      new Promise<void>((resolve) => {
        started.push(name);
        ends.set(name, resolve);
      });
    queue.run(round, task).then(
      () => outcomes.set(name, 'done'),
      (error: { code?: string }) => outcomes.set(name, error.code),
    );
  };
  return {
    queue,
    started,
    outcomes,
    checkSession: (name: string, client: string, priority: SessionPriority = 'anonymous', isWanted = () => true) =>
      run(name, { kind: 'session', priority, client, isWanted }),
    command: (name: string, slow = false) => run(name, { kind: 'command', slow, waitMs: 60_000 }),
    async end(...names: string[]) {
      await settle();
      for (const name of names) {
        ends.get(name)?.();
        await settle();
      }
    },
  };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));
const names = (count: number, of: string) => Array.from({ length: count }, (_, i) => `${of}${i}`);

describe('questions who somebody is', () => {
  it('are asked two at a time for anonymous clients, one for each address, and in rounds with one question of each', async () => {
    const { checkSession, end, started } = watched();
    for (const name of ['a1', 'a2', 'a3', 'b1', 'b2', 'c1']) checkSession(name, name.charAt(0));
    await end();
    expect(started).toEqual(['a1', 'b1']);
    await end('a1', 'b1', 'c1');
    expect(started).toEqual(['a1', 'b1', 'c1', 'a2', 'b2']);
    // Who comes now is in the round that is on.
    checkSession('d1', 'd');
    await end('a2', 'b2');
    expect(started.slice(5)).toEqual(['d1', 'a3']);
  });

  it('are asked for administrators before members, and for both before all others', async () => {
    const { checkSession, end, started } = watched();
    for (const name of names(6, 'x')) checkSession(name, name);
    for (const name of names(4, 'member')) checkSession(name, name, 'member');
    for (const name of names(2, 'owner')) checkSession(name, name, 'administrator');
    await end();
    // One connection is for administrators alone, and another not for anonymous clients.
    expect(started).toEqual(['x0', 'x1', 'member0', 'owner0']);
    await end('x0', 'member0', 'owner0');
    expect(started.slice(4)).toEqual(['owner1', 'member1', 'member2']);
  });

  it('of one address wait 16 at a time', async () => {
    const { checkSession, end, outcomes } = watched();
    for (const name of names(20, 'a')) checkSession(name, 'a');
    await end();
    expect([...outcomes]).toEqual(
      names(20, 'a')
        .slice(17)
        .map((name) => [name, 'too_many_calls']),
    );
  });

  it('of all addresses wait 64 at a time; who has most of them makes room', async () => {
    const { checkSession, end, outcomes } = watched();
    for (const client of ['a', 'b', 'c', 'd', 'e']) for (const name of names(16, client)) checkSession(name, client);
    await end();
    // Two are under way, so 64 wait and one each of the last address had no room.
    expect([...outcomes.values()].every((code) => code === 'too_many_calls' || code === 'wordpress_busy')).toBe(true);
    outcomes.clear();
    checkSession('late', 'late');
    await end();
    expect([...outcomes.values()]).toEqual(['too_many_calls']);
    expect(outcomes.has('late')).toBe(false);
  });

  it('find no room where everybody waits for one answer only', async () => {
    const { checkSession, end, outcomes } = watched();
    for (const name of names(67, 'n')) checkSession(name, name);
    await end();
    expect([...outcomes]).toEqual([['n66', 'wordpress_busy']]);
    checkSession('owner', 'owner', 'member');
    await end();
    expect(outcomes.has('owner')).toBe(false);
  });

  it('are given up when they have waited too long', async () => {
    const { checkSession, outcomes, end } = watched({ sessionWaitMs: 20 });
    for (const name of names(3, 'n')) checkSession(name, name);
    await eventually(() => outcomes.size > 0);
    expect([...outcomes]).toEqual([['n2', 'wordpress_busy']]);
    await end('n0');
    expect(outcomes.get('n0')).toBe('done');
  });

  it('of clients that have gone leave the line', async () => {
    const { checkSession, end, started } = watched();
    let here = true;
    for (const name of names(5, 'n')) checkSession(name, name, 'anonymous', () => here);
    checkSession('last', 'last');
    await end();
    here = false;
    await end('n0');
    expect(started).toEqual(['n0', 'n1', 'last']);
  });
});

describe('commands', () => {
  it('are carried out six at a time for all users together, three slow ones among them', async () => {
    const { checkSession, command, end, started } = watched();
    for (const name of names(90, 'n')) checkSession(name, name);
    for (const name of names(5, 'mail')) command(name, true);
    for (const name of names(5, 'policy')) command(name);
    await end();
    expect(started).toEqual(['n0', 'n1', 'mail0', 'mail1', 'mail2', 'policy0', 'policy1', 'policy2']);
    await end('policy0');
    expect(started.at(-1)).toBe('policy3');
    await end('mail0');
    expect(started.at(-1)).toBe('mail3');
  });

  it('that wait are refused when guard stops', async () => {
    const { queue, command, checkSession, end, outcomes } = watched();
    for (const name of names(7, 'policy')) command(name);
    for (const name of names(3, 'n')) checkSession(name, name);
    await end();
    queue.close('guard is stopping');
    await end();
    expect([...outcomes]).toEqual([
      ['policy6', 'wordpress_unreachable'],
      ['n2', 'wordpress_unreachable'],
    ]);
  });
});
