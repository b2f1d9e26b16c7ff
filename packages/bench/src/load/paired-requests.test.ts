import { expect, test } from 'vitest';
import { turnOf } from './paired-requests.js';

const names = ['a', 'b', 'c', 'd', 'e'];
const turns = Array.from({ length: 20 }, (_, time) => turnOf(names, time));

test('everyone is asked once in each turn, and goes first as often as the others', () => {
  for (const turn of turns) expect([...turn].sort()).toEqual(names);
  for (const name of names) expect(turns.filter(([first]) => first === name)).toHaveLength(4);
});

test('everyone comes behind each of the others equally often', () => {
  const behind = turns.flatMap((turn) => turn.slice(1).map((name, i) => `${turn[i]} ${name}`));
  const counts = new Map<string, number>();
  for (const pair of behind) counts.set(pair, (counts.get(pair) ?? 0) + 1);
  expect(new Set(counts.values())).toEqual(new Set([4]));
  expect(counts.size).toBe(20);
});

test('a road alone is asked each time', () => expect(turnOf(['only'], 7)).toEqual(['only']));
