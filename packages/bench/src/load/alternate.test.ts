import { expect, it } from 'vitest';
import { alternate } from './alternate.js';

it('gives everyone a turn in each round, and does not count the round that warms up', async () => {
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
