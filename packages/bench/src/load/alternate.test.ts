import { expect, it, test } from 'vitest';
import { alternate, getRoundOrder } from './alternate.js';

it('every contender has a turn in each round, and the warm-up round does not count', async () => {
  const turns: string[] = [];
  let count = 0;
  const turn = (name: string) => async (seconds: number) => {
    turns.push(`${name}${seconds}`);
    return ++count;
  };
  const results = await alternate({ a: turn('a'), b: turn('b') }, { rounds: 2, seconds: 5 });
  expect(turns).toEqual(['a5', 'b5', 'a5', 'b5', 'a5', 'b5']);
  expect(results).toEqual({ a: [3, 5], b: [4, 6] });
});

const names = ['a', 'b', 'c', 'd', 'e'];
const turns = Array.from({ length: 20 }, (_, time) => getRoundOrder(names, time));

test('each turn contains every route once, and each route comes first equally often', () => {
  for (const turn of turns) expect([...turn].sort()).toEqual(names);
  for (const name of names) expect(turns.filter(([first]) => first === name)).toHaveLength(4);
});

test('each route follows every other one equally often', () => {
  const behind = turns.flatMap((turn) => turn.slice(1).map((name, i) => `${turn[i]} ${name}`));
  const counts = new Map<string, number>();
  for (const pair of behind) counts.set(pair, (counts.get(pair) ?? 0) + 1);
  expect(new Set(counts.values())).toEqual(new Set([4]));
  expect(counts.size).toBe(20);
});

test('a single route is in every turn', () => expect(getRoundOrder(['only'], 7)).toEqual(['only']));
