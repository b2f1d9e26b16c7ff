import { describe, expect, it } from 'vitest';
import { BodyLane, type Uploader } from './body-lane.js';

function lane() {
  const bodies = new BodyLane(16);
  const granted: string[] = [];
  const refused: string[] = [];
  const enter = (from: string): Uploader => {
    const uploader = { from, granted: () => void granted.push(from), refused: () => void refused.push(from) };
    bodies.enter(uploader);
    return uploader;
  };
  return { bodies, granted, refused, enter };
}

describe('bodies that are long in coming', () => {
  it('hold an eighth of the connections for one address, and half for all', () => {
    const { granted, enter } = lane();
    for (const from of ['a', 'a', 'a', 'b', 'b', 'c', 'c', 'd', 'd', 'e']) enter(from);
    expect(granted).toEqual(['a', 'a', 'b', 'b', 'c', 'c', 'd', 'd']);
  });

  it('stand in line, past those whose own address is at its limit', () => {
    const { bodies, granted, enter } = lane();
    const [first] = ['a', 'a', 'b', 'b', 'c', 'c', 'd', 'd'].map(enter);
    ['b', 'e', 'a'].forEach(enter);
    bodies.leave(first as Uploader);
    expect(granted.slice(8)).toEqual(['e']);
  });

  it('leave the line when their visitor goes, and give back what they hold only once', () => {
    const { bodies, granted, enter } = lane();
    const [one, two] = ['a', 'a'].map(enter);
    const third = enter('a');
    bodies.leave(third);
    bodies.leave(one as Uploader);
    bodies.leave(one as Uploader);
    bodies.leave(two as Uploader);
    expect(granted).toEqual(['a', 'a']);
    ['a', 'a', 'a'].forEach(enter);
    expect(granted).toHaveLength(4);
  });

  it('are refused when too many wait', () => {
    const { refused, enter } = lane();
    for (let i = 0; i < 2 + 64; i++) enter('a');
    expect(refused).toEqual([]);
    enter('a');
    expect(refused).toEqual(['a']);
  });
});
