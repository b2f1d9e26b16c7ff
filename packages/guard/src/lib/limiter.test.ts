import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Limiter, type LimiterOptions } from './limiter.js';

interface Client {
  readonly name: string;
  readonly key: string;
  readonly priority: number;
  readonly deadline: number;
}

function createTestLimiter(options: Omit<LimiterOptions<Client>, 'grant' | 'refuse'> = {}) {
  const granted: string[] = [];
  const refused: string[] = [];
  const limiter = new Limiter<Client>({
    ...options,
    grant: ({ name }) => granted.push(name),
    refuse: ({ name }) => refused.push(name),
  });
  const enqueue = (name: string, { key = 'a', priority = 0, deadline = 100 } = {}): Client | null => {
    const client = { name, key, priority, deadline };
    return limiter.enqueue(key, client, priority, deadline) ? client : null;
  };
  return { limiter, granted, refused, enqueue };
}

describe('a limiter', () => {
  it('grants permits up to the limit of a key, and up to the total limit', () => {
    const { limiter } = createTestLimiter({ permits: 3 });
    const acquired = ['a', 'a', 'a', 'b', 'b'].map((key) => limiter.tryAcquire(key, 2));
    expect(acquired).toEqual([true, true, false, true, false]);
    limiter.release('a');
    expect([limiter.tryAcquire('b', 2), limiter.tryAcquire('c', 2)]).toEqual([true, false]);
  });

  it('grants no permit to a new request while others of its key are queued', () => {
    const { limiter, granted, enqueue } = createTestLimiter();
    limiter.tryAcquire('a', 1);
    enqueue('first');
    limiter.release('a');
    expect([limiter.tryAcquire('a', 1), limiter.tryAcquire('b', 1)]).toEqual([false, true]);
    expect([limiter.serve('a', 1), limiter.serve('a', 1), granted]).toEqual([true, false, ['first']]);
  });

  it('serves by priority, then by age', () => {
    const { limiter, granted, enqueue } = createTestLimiter();
    for (const [name, priority] of [
      ['c', 2],
      ['b1', 1],
      ['d', 3],
      ['a', 0],
      ['b2', 1],
    ] as const)
      enqueue(name, { priority });
    while (limiter.serve('a', 10));
    expect(granted).toEqual(['a', 'b1', 'b2', 'c', 'd']);
  });

  it('skips keys that are at their limit', () => {
    const { limiter, granted, enqueue } = createTestLimiter({ permits: 3 });
    limiter.tryAcquire('a', 1);
    enqueue('a2');
    enqueue('c1', { key: 'c', priority: 1 });
    enqueue('b1', { key: 'b' });
    limiter.serveAll(1);
    expect(granted).toEqual(['b1', 'c1']);
    limiter.release('a');
    limiter.serveAll(1);
    expect(granted).toEqual(['b1', 'c1', 'a2']);
  });

  it('has bounded queues, for each key and in total', () => {
    const { enqueue, refused, limiter } = createTestLimiter({ waiting: 3, waitingPerKey: 2 });
    const accepted = ['a', 'a', 'a', 'b', 'b'].map((key, i) => enqueue(`${i}`, { key }) !== null);
    expect([accepted, refused, limiter.waiting]).toEqual([[true, true, false, true, false], [], 3]);
  });

  it('refuses the last waiters when a queue is shortened', () => {
    const { limiter, refused, enqueue } = createTestLimiter();
    for (const [name, priority] of [
      ['1', 1],
      ['4', 4],
      ['2', 2],
      ['0', 0],
    ] as const)
      enqueue(name, { priority });
    limiter.trim('a', 2);
    expect(refused).toEqual(['4', '2']);
  });

  it('refuses at the deadline, and forgets cancelled waiters', () => {
    const { limiter, refused, enqueue } = createTestLimiter();
    const first = enqueue('first', { deadline: 50 }) as Client;
    enqueue('second', { deadline: 50 });
    enqueue('third', { deadline: 60 });
    expect([limiter.cancel('a', first), limiter.cancel('a', first)]).toEqual([true, false]);
    limiter.expire(49);
    expect(refused).toEqual([]);
    limiter.expire(50);
    expect(refused).toEqual(['second']);
    limiter.refuseAll('a');
    expect([refused, limiter.size]).toEqual([['second', 'third'], 0]);
  });

  it('may be called from its own callbacks', () => {
    const order: string[] = [];
    const limiter: Limiter<string> = new Limiter({
      waiting: 10,
      grant(name) {
        order.push(name);
        limiter.release('a');
        if (name === 'one') limiter.enqueue('a', 'again');
      },
      refuse(name) {
        order.push(`no ${name}`);
        limiter.refuseAll('a');
      },
    });
    limiter.tryAcquire('a', 1);
    for (const name of ['one', 'two']) limiter.enqueue('a', name);
    limiter.release('a');
    while (limiter.serve('a', 1));
    expect([order, limiter.size]).toEqual([['one', 'two', 'again'], 0]);
    for (const name of ['x', 'y']) limiter.enqueue('a', name, 0, 5);
    limiter.expire(5);
    expect([order.slice(3), limiter.size]).toEqual([['no x', 'no y'], 0]);
  });
});

describe('a limiter for several addresses', () => {
  it('keeps the reserve for keys without permits', () => {
    const { limiter, granted, enqueue } = createTestLimiter({ permits: 4, reserve: 2 });
    const acquired = ['a', 'a', 'a', 'b', 'b', 'c', 'd'].map((key) => limiter.tryAcquire(key, 10));
    expect(acquired).toEqual([true, true, false, true, false, true, false]);
    enqueue('a3');
    enqueue('d1', { key: 'd' });
    expect(limiter.withoutPermit).toBe(1);
    limiter.release('c');
    limiter.serveAll(10);
    limiter.release('b');
    limiter.serveAll(10);
    limiter.release('a');
    limiter.serveAll(10);
    expect(granted).toEqual(['d1']);
    limiter.release('d');
    limiter.serveAll(10);
    expect(granted).toEqual(['d1', 'a3']);
  });

  it('serves those with the fewest permits first', () => {
    const { limiter, granted, enqueue } = createTestLimiter({ permits: 3 });
    for (const key of ['a', 'a', 'b']) limiter.tryAcquire(key, 10);
    for (const key of ['a', 'b', 'c']) enqueue(`${key}1`, { key });
    limiter.release('a');
    limiter.serveAll(10);
    limiter.release('a');
    limiter.serveAll(10);
    limiter.release('b');
    limiter.serveAll(10);
    expect(granted).toEqual(['c1', 'a1', 'b1']);
  });

  it('refuses the last waiter of the largest share when its queue is full', () => {
    const { limiter, refused, enqueue } = createTestLimiter({ waiting: 3, toGroup: (key) => key.slice(0, 1) });
    for (const key of ['a1', 'a1', 'a2']) enqueue(key, { key });
    const enqueued = [enqueue('b1', { key: 'b1' }), enqueue('a2 again', { key: 'a2' }), enqueue('c1', { key: 'c1' })];
    expect(enqueued.map((client) => client !== null)).toEqual([true, false, true]);
    expect(refused).toEqual(['a1', 'a2']);
    expect([limiter.waiting, limiter.waitingFor('a1'), limiter.size]).toEqual([3, 1, 3]);
  });

  it('stays within its limits when refused waiters call it', () => {
    const limiter: Limiter<string> = new Limiter({
      waiting: 2,
      toGroup: (key) => key,
      grant() {},
      refuse: (name) => void limiter.enqueue('a', `${name} again`),
    });
    limiter.enqueue('a', 'one');
    limiter.enqueue('a', 'two');
    expect(limiter.enqueue('b', 'three')).toBe(false);
    expect(limiter.waiting).toBe(2);
  });
});

describe('a limiter with calls in any order', () => {
  const PERMITS = 5;
  const PER_KEY = 2;
  const WAITING = 8;
  const WAITING_PER_KEY = 4;
  const step = fc.record({
    call: fc.constantFrom(
      'acquire',
      'enqueue',
      'enqueue',
      'cancel',
      'release',
      'serve',
      'serveAll',
      'refuseAll',
      'trim',
      'expire',
    ),
    key: fc.constantFrom('a', 'b', 'c', 'd'),
    priority: fc.integer({ min: 0, max: 2 }),
    wait: fc.integer({ min: 0, max: 20 }),
  });

  it('exceeds no limit, keeps the order, leaks nothing, and answers each waiter once', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 150 }), (steps) => {
        const held = new Map<string, number>();
        let waiting: Client[] = [];
        let settled: Client[] = [];
        const settle = (client: Client): void => {
          expect(waiting).toContain(client);
          waiting = waiting.filter((other) => other !== client);
          settled.push(client);
        };
        const changeHeld = (key: string, by: number): void => void held.set(key, (held.get(key) ?? 0) + by);
        /**
         * The next waiter of these keys: the lowest priority value, then the key with the fewest permits, then the
         * oldest.
         */
        const next = (keys: readonly string[]): Client | undefined => {
          const count = ({ key }: Client): number => held.get(key) ?? 0;
          const order = (one: Client, other: Client) => one.priority - other.priority || count(one) - count(other);
          return waiting.filter(({ key }) => keys.includes(key)).sort(order)[0];
        };
        const withRoom = (keys: readonly string[]): string[] => {
          const total = [...held.values()].reduce((sum, each) => sum + each, 0);
          return total >= PERMITS ? [] : keys.filter((key) => (held.get(key) ?? 0) < PER_KEY);
        };
        let eligible: readonly string[] = [];
        const limiter = new Limiter<Client>({
          permits: PERMITS,
          waiting: WAITING,
          waitingPerKey: WAITING_PER_KEY,
          grant(client, key) {
            expect(client).toBe(next(withRoom(eligible)));
            settle(client);
            changeHeld(key, 1);
          },
          refuse: settle,
        });
        const all = ['a', 'b', 'c', 'd'];
        for (const [now, { call, key, priority, wait }] of steps.entries()) {
          eligible = call === 'serveAll' ? all : [key];
          settled = [];
          const isWaiting = waiting.some((client) => client.key === key);
          if (call === 'acquire') {
            const expected = !isWaiting && withRoom([key]).length === 1;
            expect(limiter.tryAcquire(key, PER_KEY)).toBe(expected);
            if (expected) changeHeld(key, 1);
          } else if (call === 'enqueue') {
            const client = { name: `${now}`, key, priority, deadline: now + wait };
            const ofKey = waiting.filter((other) => other.key === key).length;
            const expected = waiting.length < WAITING && ofKey < WAITING_PER_KEY;
            expect(limiter.enqueue(key, client, priority, client.deadline)).toBe(expected);
            if (expected) waiting.push(client);
          } else if (call === 'cancel') {
            const client = waiting.find((other) => other.key === key);
            if (client !== undefined) {
              expect(limiter.cancel(key, client)).toBe(true);
              waiting = waiting.filter((other) => other !== client);
            }
          } else if (call === 'release') {
            if ((held.get(key) ?? 0) > 0) changeHeld(key, -1);
            limiter.release(key);
          } else if (call === 'serve') {
            const expected = next(withRoom([key]));
            expect(limiter.serve(key, PER_KEY, now)).toBe(expected !== undefined);
          } else if (call === 'serveAll') {
            limiter.serveAll(PER_KEY, now);
            expect(next(withRoom(all))).toBeUndefined();
          } else if (call === 'refuseAll') {
            limiter.refuseAll(key);
            expect(waiting.filter((client) => client.key === key)).toEqual([]);
          } else if (call === 'trim') {
            limiter.trim(key, 1);
            expect(waiting.filter((client) => client.key === key).length).toBeLessThanOrEqual(1);
          } else {
            limiter.expire(now);
            expect(settled.filter(({ deadline }) => deadline > now)).toEqual([]);
            expect(waiting.filter(({ deadline }) => deadline <= now)).toEqual([]);
          }
          for (const each of all) {
            expect(limiter.held(each)).toBe(held.get(each) ?? 0);
            expect(limiter.waitingFor(each)).toBe(waiting.filter((client) => client.key === each).length);
            expect(limiter.held(each)).toBeLessThanOrEqual(PER_KEY);
          }
          expect(limiter.waiting).toBe(waiting.length);
          const used = all.filter((each) => (held.get(each) ?? 0) > 0 || waiting.some((client) => client.key === each));
          expect(limiter.size).toBe(used.length);
        }
        for (const each of all) {
          limiter.refuseAll(each);
          while (limiter.held(each) > 0) limiter.release(each);
        }
        expect([waiting, limiter.waiting, limiter.size]).toEqual([[], 0, 0]);
      }),
    );
  });
});
