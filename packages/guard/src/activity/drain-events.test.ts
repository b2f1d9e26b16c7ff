import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { activityInFile } from '../../test/support/activity-store.js';
import { type FakeEvent, fakeConnector, fakeEvent } from '../../test/support/fake-connector.js';
import { recordedLog } from '../../test/support/logs.js';
import { passingTime } from '../../test/support/passing-time.js';
import { eventually } from '../../test/support/scratch.js';
import { siteConfig } from '../../test/support/site-config.js';
import { createSecurityEvents, type SecurityEvent } from '../security-events.js';
import type { SiteConfig } from '../site.js';
import { createConnectorClient } from '../wordpress/connector-client.js';
import { createEventDrain } from './drain-events.js';

const row = (more: object = {}): FakeEvent => fakeEvent({ at: 1_700_000_000, ...more });

/** The longest pause before the next drain. */
const LONGEST_PAUSE_MS = 16_000;

async function setUp() {
  const connector = await fakeConnector();
  const memory = await activityInFile();
  const log = recordedLog();
  const site: SiteConfig = siteConfig({ upstream: connector.upstream });
  const client = createConnectorClient({ clock: Date.now, facts: () => null });
  onTestFinished(() => client.close());
  const changedOptions: string[] = [];
  const securityEvents = createSecurityEvents();
  const reported: SecurityEvent[] = [];
  securityEvents.subscribe(async (_site, events) => void reported.push(...events));
  const begin = () => {
    const shorten = (_site: string, address: string) => address;
    const onOptions = ({ id }: SiteConfig) => changedOptions.push(id);
    const deps = {
      sites: [site],
      client,
      store: memory.store,
      securityEvents,
      shorten,
      isReachable: () => true,
      onOptions,
      clock: Date.now,
      logger: log.logger,
    };
    const drain = createEventDrain(deps);
    onTestFinished(() => drain.stop());
    return drain;
  };
  return { connector, memory, log, site, changedOptions, securityEvents, reported, begin, drain: begin() };
}

describe('events of users', () => {
  it('are stored in order, and acknowledged only when they are stored', async () => {
    const { connector, memory, drain, site } = await setUp();
    connector.outbox = [row({ kind: 'login' }), row({ kind: 'post.created' }), row({ kind: 'logout' })];
    const uids = connector.outbox.map((event) => event.uid);
    await drain.drain(site);
    expect((await memory.allEvents()).map(({ kind, object, objectType }) => [kind, object, objectType])).toEqual([
      ['login', 'Hello', 'post'],
      ['post.created', 'Hello', 'post'],
      ['logout', 'Hello', 'post'],
    ]);
    expect(connector.drains.map(({ ack }) => ack)).toEqual([[], uids]);
    expect(connector.outbox).toEqual([]);
  });

  it('are reported for alerts when they are stored, and acknowledged only afterwards', async () => {
    const { connector, drain, site, reported, securityEvents } = await setUp();
    let failing = true;
    securityEvents.subscribe(async () => {
      if (failing) throw new Error('disk full');
    });
    const user = { type: 'user', id: '7', name: 'web-helper' };
    connector.outbox = [
      row({ kind: 'user.created', object: user, after: 'Administrator', administrator: true }),
      row({ kind: 'user.created', object: { ...user, name: 'reader' }, after: 'Subscriber', administrator: false }),
      row({ kind: 'login', administrator: true, agent: 'Firefox' }),
      // From a connector of an older version.
      row({ kind: 'login' }),
    ];
    await drain.drain(site);
    expect(connector.outbox).toHaveLength(4);
    failing = false;
    await drain.drain(site);
    expect(connector.outbox).toEqual([]);
    expect(reported.slice(-2).map(({ kind }) => kind)).toEqual(['new-administrator', 'administrator-login']);
    expect(reported.at(-2)).toMatchObject({ login: 'web-helper', promoted: false });
    expect(reported.at(-1)).toMatchObject({ agent: 'Firefox' });
  });

  it('are drained completely, whatever their number', async () => {
    const { connector, memory, drain, site } = await setUp();
    connector.outbox = Array.from({ length: 450 }, () => row());
    await drain.drain(site);
    expect(await memory.allEvents()).toHaveLength(450);
    expect(connector.drains).toHaveLength(4);
  });

  it('remain in the outbox while they can’t be stored, and are stored once', async () => {
    const { connector, memory, drain, site, log } = await setUp();
    const write = memory.store.writeEvents;
    memory.store.writeEvents = async () => Promise.reject(new Error('disk full'));
    connector.outbox = [row()];
    await drain.drain(site);
    expect([connector.outbox.length, (await memory.allEvents()).length]).toEqual([1, 0]);
    memory.store.writeEvents = write;
    await eventually(() => connector.outbox.length === 0);
    expect(await memory.allEvents()).toHaveLength(1);
    expect(log.events().filter((event) => event.startsWith('events-'))).toEqual([
      'events-drain-failed',
      'events-drain-recovered',
    ]);
  });

  it('are stored once although guard was killed between storing and acknowledging', async () => {
    const { connector, memory, begin, drain, site } = await setUp();
    connector.outbox = [row(), row()];
    const write = memory.store.writeEvents;
    memory.store.writeEvents = async (...args) => {
      await write(...args);
      connector.mode = 'broken';
    };
    await drain.drain(site);
    expect([connector.outbox.length, (await memory.allEvents()).length]).toEqual([2, 2]);
    connector.mode = 'ok';
    memory.store.writeEvents = write;
    await begin().drain(site);
    expect([connector.outbox.length, (await memory.allEvents()).length]).toEqual([0, 2]);
  });

  it('are drained when WordPress responds again, without a log line for each attempt', async () => {
    const { pass } = passingTime();
    const { connector, memory, drain, site, log } = await setUp();
    connector.mode = 'broken';
    connector.outbox = [row()];
    await drain.drain(site);
    await drain.drain(site);
    connector.mode = 'ok';
    pass(LONGEST_PAUSE_MS);
    await eventually(async () => (await memory.allEvents()).length === 1);
    expect(log.events().filter((event) => event === 'events-drain-failed')).toHaveLength(1);
  });
});

it('a change of WordPress’s options is reported once per batch', async () => {
  const { connector, drain, site, changedOptions } = await setUp();
  connector.outbox = [row()];
  await drain.drain(site);
  expect(changedOptions).toEqual([]);
  connector.outbox = [row({ kind: 'option.changed' }), row({ kind: 'option.changed' })];
  await drain.drain(site);
  expect(changedOptions).toEqual(['site']);
});

describe('a signal', () => {
  it('starts a drain, and many signals cost few commands', async () => {
    const { pass } = passingTime();
    const { connector, memory, drain, site } = await setUp();
    connector.outbox = [row()];
    for (let count = 0; count < 100; count++) drain.signal(site);
    await eventually(async () => (await memory.allEvents()).length === 1);
    const began = Date.now();
    while (Date.now() - began < 2500) {
      drain.signal(site);
      pass(10);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    // Two drains for the events so far, and at most one for each second since.
    expect(connector.drains.length).toBeLessThanOrEqual(2 + Math.ceil((Date.now() - began) / 1000));
  });

  it('during a drain is not lost', async () => {
    const { pass } = passingTime();
    const { connector, memory, drain, site } = await setUp();
    connector.outbox = [row()];
    const write = memory.store.writeEvents;
    memory.store.writeEvents = async (...args) => {
      await write(...args);
      drain.signal(site);
    };
    await drain.drain(site);
    // The last response of this drain was empty. Only the signal announces later events.
    connector.outbox.push(row({ kind: 'logout' }));
    pass(LONGEST_PAUSE_MS);
    await eventually(async () => (await memory.allEvents()).length === 2);
  });
});

describe('rows that the connector holds back', () => {
  it('are drained when they become available, without another signal', async () => {
    const { pass } = passingTime();
    const { connector, memory, drain, site } = await setUp();
    connector.held = 5;
    await drain.drain(site);
    Object.assign(connector, { held: 0, outbox: [row()] });
    pass(4000);
    expect(connector.drains).toHaveLength(1);
    pass(1500);
    await eventually(async () => (await memory.allEvents()).length === 1);
    pass(LONGEST_PAUSE_MS);
    await drain.drain(site);
    // The events so far, their acknowledgement, and the drain of this test: none for held rows that do not exist.
    expect(connector.drains).toHaveLength(4);
  });

  it('do not delay the drain for a signal', async () => {
    const { pass } = passingTime();
    const { connector, memory, drain, site } = await setUp();
    connector.held = 30;
    await drain.drain(site);
    connector.outbox = [row()];
    drain.signal(site);
    pass(1500);
    await eventually(async () => (await memory.allEvents()).length === 1);
  });

  it('are requested again within a minute, even if the connector holds them longer', async () => {
    const { pass } = passingTime();
    const { connector, memory, drain, site } = await setUp();
    connector.held = 1e9;
    await drain.drain(site);
    connector.outbox = [row()];
    pass(61_000);
    await eventually(async () => (await memory.allEvents()).length === 1);
  });

  it('are not requested after guard has stopped', async () => {
    const { pass } = passingTime();
    const { connector, drain, site } = await setUp();
    connector.held = 5;
    await drain.drain(site);
    await drain.stop();
    pass(LONGEST_PAUSE_MS);
    expect(connector.drains).toHaveLength(1);
  });
});

describe('the address in a row', () => {
  it.each([
    ['64:ff9b::c000:201', '192.0.2.1'],
    ['2002:c000:201::5', '192.0.2.1'],
    ['2001:DB8::1', '2001:db8::1'],
    ['64:ff9b::127.0.0.1', '64:ff9b::7f00:1'],
    ['nonsense', ''],
  ])('%j, as WordPress saw it, belongs to visitor %j', async (address, visitor) => {
    const { connector, memory, drain, site } = await setUp();
    connector.outbox = [row({ kind: 'login', address })];
    await drain.drain(site);
    expect((await memory.allEvents()).map((event) => event.address)).toEqual([visitor]);
  });
});

describe('unreadable rows', () => {
  it.each<[string, object]>([
    ['an invalid time', { at: 'now' }],
    ['no object', { object: null }],
    ['markup as the kind', { kind: '<script>' }],
    ['a malformed uid', { uid: `${'0'.repeat(31)}x` }],
    ['a user without a name', { user: { id: 3 } }],
    ['an unknown origin', { origin: 'mars' }],
  ])('with %s are skipped and logged; the rows beside them are stored', async (_name, broken) => {
    const { connector, memory, drain, site, log } = await setUp();
    connector.outbox = [row({ kind: 'login' }), row(broken), row({ kind: 'logout' })];
    await drain.drain(site);
    expect((await memory.allEvents()).map(({ kind }) => kind)).toEqual(['login', 'logout']);
    expect(connector.outbox).toEqual([]);
    expect(log.events()).toContain('events-skipped');
    expect(log.text()).not.toContain('script');
  });

  it('that can’t be acknowledged do not cause endless requests', async () => {
    const { connector, drain, site, log } = await setUp();
    connector.outbox = [{ ...row(), uid: 7 as never }];
    await drain.drain(site);
    expect(connector.drains).toHaveLength(1);
    expect(log.events()).toContain('events-drain-failed');
  });

  it('are made harmless: control characters are escaped, long texts truncated, future times set to now', async () => {
    const { connector, memory, drain, site } = await setUp();
    const name = `a\u0000b\u202ec\r\n<img src=x onerror=alert(1)>${'x'.repeat(1000)}`;
    const address = '<i>192.0.2.1</i>';
    connector.outbox = [row({ object: { type: 'post', id: '1', name }, at: 99_999_999_999, address })];
    await drain.drain(site);
    const [event] = await memory.allEvents();
    expect(event?.object.startsWith('a\\u0000b\\u202ec\\u000d\\u000a<img')).toBe(true);
    expect(event?.address).toBe('');
    expect(event?.object.length).toBeLessThanOrEqual(300);
    expect(Math.abs((event?.at ?? 0) - Date.now() / 1000)).toBeLessThan(5);
  });
});

it('a round drains every site, also without a signal, and ends with stop', async () => {
  const { connector, memory, drain } = await setUp();
  connector.outbox = [row()];
  drain.start();
  await eventually(async () => (await memory.allEvents()).length === 1);
  await drain.stop();
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  await vi.advanceTimersByTimeAsync(120_000);
  expect(connector.drains).toHaveLength(2);
});
