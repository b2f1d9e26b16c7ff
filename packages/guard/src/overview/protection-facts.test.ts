import { describe, expect, it } from 'vitest';
import { factsBegin } from './protection-facts.js';

const seconds = (text: string): number => Date.parse(text) / 1000;

describe('the figures below the protection score', () => {
  it('begin with the first of seven days of the site’s calendar, also when the clocks change between', () => {
    // The clocks of Berlin went back on 25 October 2026.
    expect(factsBegin('Europe/Berlin', seconds('2026-10-28T00:30:00+01:00'))).toBe(seconds('2026-10-22T00:00+02:00'));
    expect(factsBegin('Europe/Berlin', seconds('2026-10-27T23:30:00+01:00'))).toBe(seconds('2026-10-21T00:00+02:00'));
  });
});
