import { describe, expect, it, onTestFinished } from 'vitest';
import { dnsServer } from '../../test/support/dns-server.js';
import { recordedLog } from '../../test/support/logs.js';
import { passingTime } from '../../test/support/passing-time.js';
import { eventually } from '../../test/support/scratch.js';
import { parseAddress } from '../lib/address.js';
import type { Visitor } from './activity-store.js';
import { claimedSearchEngine } from './bots.js';
import {
  createHostnames,
  type Dns,
  hostName,
  type LookupPriority,
  LookupQueue,
  reverseName,
  systemDns,
} from './hostnames.js';

const GOOGLE = claimedSearchEngine('Googlebot/2.1');
const BING = claimedSearchEngine('bingbot/2.0');
const DUCK = claimedSearchEngine('DuckDuckBot/1.1');

/** Creates a lookup of host names whose visitors are in memory. */
async function setUp() {
  const server = await dnsServer();
  let ahead = 0;
  const visitors = new Map<string, Visitor>();
  const written: string[] = [];
  const createVisitor = (site: string, address: string): Visitor => {
    const known = visitors.get(`${site} ${address}`);
    if (known) return known;
    const visitor: Visitor = {
      ...{ id: visitors.size + 1, kind: 'ip', name: address, userId: null, hostname: null },
      ...{ verifiedBot: null, firstSeen: 0, lastSeen: 0 },
    };
    visitors.set(`${site} ${address}`, visitor);
    return visitor;
  };
  const store = {
    getAddressVisitor: async (site: string, address: string) => createVisitor(site, address),
    async setHostname(site: string, id: number, hostname: string | null, verifiedBot: string | null) {
      const visitor = [...visitors.values()].find((entry) => entry.id === id) as Visitor;
      visitors.set(`${site} ${visitor.name}`, { ...visitor, hostname, verifiedBot });
      written.push(`${site} ${visitor.name} ${hostname} ${verifiedBot}`);
    },
  };
  const { logger } = recordedLog();
  const clock = () => Date.now() + ahead;
  // A response may be slow on a busy machine; the other client gives up soon.
  const [patient, hasty] = [systemDns([server.address], 8000), systemDns([server.address], 200)];
  let pending = 0;
  const resolve = async (question: (dns: Dns) => Promise<readonly string[]>) => {
    pending++;
    try {
      return await question(server.silent ? hasty : patient);
    } finally {
      pending--;
    }
  };
  const dns: Dns = {
    names: (address) => resolve((from) => from.names(address)),
    addresses: (name, family) => resolve((from) => from.addresses(name, family)),
  };
  const hostnames = createHostnames({ dns, store, clock, logger });
  onTestFinished(() => hostnames.stop());
  const advance = (ms: number) => {
    ahead += ms;
  };
  /** Resolves when the questions were sent and have timed out. */
  const settled = (questions: number) => eventually(() => server.queries.length === questions && pending === 0);
  return { server, hostnames, written, advance, settled, isIdle: () => pending === 0 };
}

describe('a host name', () => {
  it('is queried by the reversed address', () => {
    expect(reverseName(parseAddress('192.0.2.7') as never)).toBe('7.2.0.192.in-addr.arpa');
    expect(reverseName(parseAddress('2001:db8::567:89ab') as never)).toBe(
      'b.a.9.8.7.6.5.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa',
    );
  });

  it('is stored with the visitor, and queried once', async () => {
    const { server, hostnames, written } = await setUp();
    server.records.set('PTR 7.2.0.192.in-addr.arpa', ['Host-7.Example.com']);
    for (let i = 0; i < 5; i++) hostnames.request('site', '192.0.2.7', 'seen');
    await eventually(() => written.length === 1);
    hostnames.request('site', '192.0.2.7', 'shown');
    hostnames.request('other', '192.0.2.7', 'shown');
    await eventually(() => written.length === 2);
    expect(written).toEqual(['site 192.0.2.7 host-7.example.com null', 'other 192.0.2.7 host-7.example.com null']);
    expect(server.queries).toEqual(['PTR 7.2.0.192.in-addr.arpa']);
  });

  it('is queried again after a day', async () => {
    const { server, hostnames, written, advance } = await setUp();
    server.records.set('PTR 7.2.0.192.in-addr.arpa', ['old.example.com']);
    hostnames.request('site', '192.0.2.7', 'seen');
    await eventually(() => written.length === 1);
    server.records.set('PTR 7.2.0.192.in-addr.arpa', ['new.example.com']);
    advance(25 * 3600_000);
    hostnames.request('site', '192.0.2.7', 'seen');
    await eventually(() => written.length === 2);
    expect(written[1]).toBe('site 192.0.2.7 new.example.com null');
  });

  it('of a private address is not queried', async () => {
    const { server, hostnames, written } = await setUp();
    server.records.set('PTR 7.2.0.192.in-addr.arpa', ['public.example.com']);
    const addresses = ['10.1.2.3', '127.0.0.1', '192.168.1.1', '172.20.0.1', '169.254.1.1', '100.64.0.1', '0.0.0.0'];
    for (const address of [...addresses, '::1', 'fd00::1', 'fe80::1', 'nonsense'])
      hostnames.request('site', address, 'shown');
    // Behind the private addresses in the queue.
    hostnames.request('site', '192.0.2.7', 'shown');
    await eventually(() => written.length === 1);
    expect(server.queries).toEqual(['PTR 7.2.0.192.in-addr.arpa']);
  });

  it('is ignored when it contains anything but letters, digits, hyphens and dots', async () => {
    const { server, hostnames, written, isIdle } = await setUp();
    const hostile = [
      ['<script>alert(1)</script>', 'example', 'com'],
      ['a\nb', 'com'],
      ['x\x00y', 'com'],
      ['"', "'"],
    ];
    server.records.set('PTR 7.2.0.192.in-addr.arpa', [...hostile, ['good', 'example', 'com']]);
    server.records.set('PTR 8.2.0.192.in-addr.arpa', hostile);
    hostnames.request('site', '192.0.2.7', 'seen');
    hostnames.request('site', '192.0.2.8', 'seen');
    await eventually(() => written.length === 1 && isIdle());
    expect(server.queries).toHaveLength(2);
    for (const line of written) expect(line).toMatch(/^site 192\.0\.2\.\d [a-z.]+ null$/);
    expect(hostName('a'.repeat(64))).toBeNull();
    expect(hostName(`${'a.'.repeat(130)}com`)).toBeNull();
    expect(hostName('=HYPERLINK(1)')).toBeNull();
    expect(hostName('mail_1.Example.com.')).toBe('mail_1.example.com');
  });

  it('does not delay anything while DNS does not respond, and is queried again later', async () => {
    const { server, hostnames, written, advance, settled } = await setUp();
    server.silent = true;
    hostnames.request('site', '192.0.2.7', 'seen');
    await settled(1);
    expect(written).toEqual([]);
    server.silent = false;
    server.records.set('PTR 7.2.0.192.in-addr.arpa', ['late.example.com']);
    server.records.set('PTR 8.2.0.192.in-addr.arpa', ['other.example.com']);
    hostnames.request('site', '192.0.2.7', 'shown');
    hostnames.request('site', '192.0.2.8', 'shown');
    await eventually(() => written.length === 1);
    expect(written).toEqual(['site 192.0.2.8 other.example.com null']);
    expect(server.queries).toEqual(['PTR 7.2.0.192.in-addr.arpa', 'PTR 8.2.0.192.in-addr.arpa']);
    advance(11 * 60_000);
    hostnames.request('site', '192.0.2.7', 'shown');
    await eventually(() => written.length === 2);
  });

  it('is queried a bounded number of times per second, first those that the owner looks at', async () => {
    const { pass } = passingTime();
    const { server, hostnames } = await setUp();
    for (let i = 0; i < 200; i++) hostnames.request('site', `198.51.100.${i}`, 'seen');
    for (let i = 0; i < 5; i++) hostnames.request('site', `192.0.2.${i}`, 'shown');
    const began = Date.now();
    await eventually(() => server.queries.length >= 20);
    for (let count = 0; count < 20; count++) {
      pass(100);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    // Twenty in each second of the test, however long it took.
    expect(server.queries.length).toBeLessThanOrEqual(20 * (1 + Math.ceil((Date.now() - began) / 1000)));
    const firstShown = server.queries.findIndex((question) => question.includes('.2.0.192.'));
    expect(firstShown).toBeLessThanOrEqual(8);
  });
});

describe('a search engine', () => {
  const CRAWLER = 'PTR 7.2.0.192.in-addr.arpa';

  it('is verified when its name resolves to its address', async () => {
    const { server, hostnames, written } = await setUp();
    server.records.set(CRAWLER, ['crawl-7.googlebot.com']);
    server.records.set('A crawl-7.googlebot.com', ['203.0.113.1', '192.0.2.7']);
    hostnames.request('site', '192.0.2.7', 'claimed', GOOGLE);
    await eventually(() => written.length === 1);
    expect(written).toEqual(['site 192.0.2.7 crawl-7.googlebot.com Google']);
  });

  it('is verified over IPv6, too', async () => {
    const { server, hostnames, written } = await setUp();
    server.records.set(`PTR ${reverseName(parseAddress('2001:db8::7') as never)}`, ['crawl-7.googlebot.com']);
    server.records.set('AAAA crawl-7.googlebot.com', ['2001:db8:0:0:0:0:0:7']);
    hostnames.request('site', '2001:db8::7', 'claimed', GOOGLE);
    await eventually(() => written.length === 1);
    expect(written).toEqual(['site 2001:db8::7 crawl-7.googlebot.com Google']);
  });

  it('is not verified by a name that resolves to another address, is in another domain, or belongs to another engine', async () => {
    const { server, hostnames, written } = await setUp();
    server.records.set(CRAWLER, ['crawl-7.googlebot.com']);
    server.records.set('A crawl-7.googlebot.com', ['203.0.113.1']);
    server.records.set('PTR 8.2.0.192.in-addr.arpa', ['googlebot.com.example.org']);
    server.records.set('A googlebot.com.example.org', ['192.0.2.8']);
    server.records.set('PTR 9.2.0.192.in-addr.arpa', ['crawl-9.googlebot.com']);
    server.records.set('A crawl-9.googlebot.com', ['192.0.2.9']);
    hostnames.request('site', '192.0.2.7', 'claimed', GOOGLE);
    hostnames.request('site', '192.0.2.8', 'claimed', GOOGLE);
    hostnames.request('site', '192.0.2.9', 'claimed', BING);
    await eventually(() => written.length === 3);
    expect(written.every((line) => line.endsWith(' null'))).toBe(true);
    expect(server.queries).not.toContain('A googlebot.com.example.org');
  });

  it('is no longer verified when its address gets another name, but remains verified while DNS does not respond', async () => {
    const { server, hostnames, written, advance, settled } = await setUp();
    server.records.set(CRAWLER, ['crawl-7.googlebot.com']);
    server.records.set('A crawl-7.googlebot.com', ['192.0.2.7']);
    hostnames.request('site', '192.0.2.7', 'claimed', GOOGLE);
    await eventually(() => written.length === 1);
    server.silent = true;
    advance(25 * 3600_000);
    hostnames.request('site', '192.0.2.7', 'claimed', GOOGLE);
    await settled(3);
    expect(written).toHaveLength(1);
    server.silent = false;
    server.records.clear();
    advance(11 * 60_000);
    hostnames.request('site', '192.0.2.7', 'claimed', GOOGLE);
    await eventually(() => written.length === 2);
    expect(written[1]).toBe('site 192.0.2.7 null null');
  });

  it('that publishes no names costs one query only', async () => {
    const { server, hostnames, written } = await setUp();
    server.records.set(CRAWLER, ['host.duckduckgo.com']);
    hostnames.request('site', '192.0.2.7', 'claimed', DUCK);
    await eventually(() => written.length === 1);
    expect([written, server.queries]).toEqual([['site 192.0.2.7 host.duckduckgo.com null'], [CRAWLER]]);
  });
});

function fill(queue: LookupQueue<string>, urgency: LookupPriority): number {
  let added = 0;
  while (!queue.isFull(urgency)) {
    const key = `${urgency} ${added++}`;
    queue.add(key, key, urgency);
  }
  return added;
}

function drain(queue: LookupQueue<string>): string[] {
  const tasks: string[] = [];
  for (let task = queue.next(); task !== null; task = queue.next()) tasks.push(task);
  return tasks;
}

describe('the lookup queue', () => {
  it('returns the most urgent task first, each once', () => {
    const queue = new LookupQueue<string>();
    queue.add('a', 'a', 'seen');
    queue.add('b', 'b', 'claimed');
    queue.add('c', 'c', 'shown');
    queue.add('a', 'a, looked at', 'shown');
    queue.add('b', 'b, seen again', 'seen');
    expect(drain(queue)).toEqual(['c', 'a, looked at', 'b']);
    expect(queue.size).toBe(0);
  });

  it('finds tasks by their key that are at least as urgent', () => {
    const queue = new LookupQueue<string>();
    queue.add('a', 'a', 'claimed');
    expect([queue.has('a', 'seen'), queue.has('a', 'claimed'), queue.has('a', 'shown')]).toEqual([true, true, false]);
    expect(queue.has('b', 'seen')).toBe(false);
  });

  it('is bounded, and a more urgent task does not displace another', () => {
    const queue = new LookupQueue<string>();
    queue.add('early', 'early', 'seen');
    const shown = fill(queue, 'shown');
    queue.add('early', 'early', 'shown');
    queue.add('late', 'late', 'shown');
    const tasks = drain(queue);
    expect(tasks).toHaveLength(shown + 1);
    expect(tasks.at(-1)).toBe('early');
  });
});
