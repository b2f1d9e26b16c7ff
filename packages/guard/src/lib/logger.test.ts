import { expect, it } from 'vitest';
import { OutageLog } from './logger.js';

it('an outage stands in the log once, until nothing has failed for a minute', () => {
  const log = new OutageLog();
  expect(log.record('site wordpress_unreachable', 0)).toBe(0);
  for (let now = 1000; now <= 600_000; now += 1000) expect(log.record('site wordpress_unreachable', now)).toBeNull();
  expect(log.record('site connector_missing', 600_000)).toBe(0);
  expect(log.record('site wordpress_unreachable', 659_999)).toBeNull();
  expect(log.record('site wordpress_unreachable', 719_999)).toBe(601);
});

it('a clock that jumps hides no outage for good', () => {
  const log = new OutageLog();
  expect(log.record('a', 1_000_000)).toBe(0);
  expect(log.record('a', 0)).toBe(0);
});
