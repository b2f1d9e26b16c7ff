import { expect, it } from 'vitest';
import { createLogger, OutageLog } from './logger.js';

it('an outage is logged once, until nothing has failed for a minute', () => {
  const log = new OutageLog();
  expect(log.record('site wordpress_unreachable', 0)).toBe(0);
  for (let now = 1000; now <= 600_000; now += 1000) expect(log.record('site wordpress_unreachable', now)).toBeNull();
  expect(log.record('site connector_missing', 600_000)).toBe(0);
  expect(log.record('site wordpress_unreachable', 659_999)).toBeNull();
  expect(log.record('site wordpress_unreachable', 719_999)).toBe(601);
});

it('a clock that jumps suppresses no outage permanently', () => {
  const log = new OutageLog();
  expect(log.record('a', 1_000_000)).toBe(0);
  expect(log.record('a', 0)).toBe(0);
});

it('the line of a renamed event also contains its former name', () => {
  const lines: unknown[] = [];
  const log = createLogger('info', { write: (line) => void lines.push(JSON.parse(line)) });
  log.error({ event: 'settings-rollback-failed', site: 'site' }, 'A change failed half way.');
  log.child({ site: 'site' }).warn({ event: 'events-drain-failed' }, 'WordPress can’t be asked.');
  log.info({ event: 'guard-started' }, 'Guard serves.');
  expect(lines).toMatchObject([
    { event: 'settings-rollback-failed', formerEvent: 'settings-not-put-back', site: 'site' },
    { event: 'events-drain-failed', formerEvent: 'events-not-drained', site: 'site' },
    { event: 'guard-started' },
  ]);
  expect(lines[2]).not.toHaveProperty('formerEvent');
});
