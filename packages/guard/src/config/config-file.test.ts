import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { configFile } from './config-file.js';
import { type ConfigFile, parseConfig, printConfig } from './parse-config.js';

/** Values that an operator may write. Each key of the schema must be among them; a test below names a missing one. */
const address = fc.oneof(
  fc.ipV4(),
  fc.ipV6().filter((text) => !text.includes('.')),
);
const range = fc.oneof(
  address,
  fc.tuple(fc.ipV4(), fc.nat(32)).map(([text, bits]) => `${text}/${bits}`),
);
const port = fc.integer({ min: 1, max: 65_535 });
const authority = fc
  .tuple(fc.oneof(fc.domain(), address), port)
  .map(([host, number]) => `${host.includes(':') ? `[${host}]` : host}:${number}`);
const socket = fc.stringMatching(/^unix:\/[a-z.-]{1,40}(?:\/[a-z.-]{1,40})?$/);
const host = fc.oneof(
  fc.domain(),
  fc.domain().map((name) => name.toUpperCase()),
  fc.constant('*'),
);
const file = fc.stringMatching(/^[a-z. /-]{1,40}$/);
const link = fc.tuple(fc.domain(), fc.webPath()).map(([name, path]) => `https://${name}${path}`);
const source = fc.oneof(
  link.filter((text) => !text.includes('@')),
  fc.constant('http://127.0.0.1:8090/mirror//'),
);
const sentences = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 }).filter((text) => text.trim() !== '');
const from = (lowest: number, highest: number) => fc.integer({ min: lowest, max: highest });
const some = <Keys extends Record<string, fc.Arbitrary<unknown>>>(
  keys: Keys,
  requiredKeys: (keyof Keys & string)[] = [],
) => fc.record(keys, { requiredKeys });

const branding = some({
  ebook: fc.option(
    some(
      { title: sentences, link, text: fc.oneof(sentences, fc.constant('')), image: fc.oneof(link, fc.constant('')) },
      ['title', 'link'],
    ),
  ),
  rateLink: fc.oneof(link, fc.constant('')),
  rateAfterDays: from(0, 365),
});

const siteKeys = some(
  {
    id: fc.stringMatching(/^[a-zA-Z0-9-]{1,64}$/),
    hosts: fc.array(host, { minLength: 1, maxLength: 4 }),
    upstream: fc.oneof(
      fc.tuple(fc.domain(), port).map(([name, number]) => `http://${name}:${number}`),
      fc.constant('http://WordPress.internal:80/'),
      fc.constant('http://[2001:db8::1]:8081'),
      socket,
    ),
    wordpressDir: fc.option(file),
    muPluginsDir: file,
    sharedConnector: fc.stringMatching(/^(\/[A-Za-z0-9_][A-Za-z0-9._-]{0,9}){1,3}$/),
    externalKey: fc.boolean(),
    requireGuard: fc.boolean(),
    home: fc.stringMatching(/^(\/[a-z-]{1,9}){0,3}$/),
    trustedProxies: fc.array(
      fc.oneof(
        range,
        file.map((name) => `file:${name}`),
      ),
    ),
    limits: some({
      upstreamConnections: from(1, 10_000),
      upstreamSeconds: from(1, 3600),
      maxRows: from(1000, 1_000_000_000),
    }),
    branding,
  },
  ['id', 'upstream'],
);
const smtpKeys = some(
  {
    host: fc.domain(),
    port,
    secure: fc.boolean(),
    user: fc.option(sentences),
    passwordFile: fc.option(file),
    from: fc.oneof(
      fc.emailAddress().filter((text) => /^[\w.@-]+$/.test(text)),
      fc.constant('Reports <r@example.com>'),
    ),
  },
  ['host', 'from'],
);
const inFile = some({
  listen: fc.oneof(authority, socket),
  database: fc.oneof(
    file.map((name) => `sqlite:.${name}`),
    fc.constantFrom(
      'postgres://guard:s%40cret@db.example.com:6432/guard?sslmode=verify-full',
      'postgresql:///guard?host=/run/postgresql',
    ),
  ),
  trustedProxies: fc.array(
    fc.oneof(
      range,
      fc.constant('unix'),
      file.map((name) => `file:${name}`),
    ),
  ),
  processes: fc.oneof(fc.constant('auto' as const), fc.integer({ min: 1, max: 64 })),
  proxyProtocol: fc.boolean(),
  trustedProxyHeaders: fc.subarray(['CF-Connecting-IP', 'True-Client-IP', 'forwarded']),
  logLevel: fc.constantFrom('debug', 'info', 'warn', 'error', 'silent'),
  metrics: some({ listen: fc.option(fc.oneof(authority, socket)) }),
  limits: some({
    targetBytes: from(1024, 65_536),
    headerBytes: from(4096, 262_144),
    headerSeconds: from(1, 300),
    idleSeconds: from(1, 3600),
    upstreamSeconds: from(1, 3600),
    shutdownSeconds: from(1, 600),
    drainSeconds: from(0, 60),
    upstreamConnections: from(1, 10_000),
    connections: from(10, 1_000_000),
    connectionsPerAddress: from(10, 1_000_000),
    databaseConnections: from(1, 1000),
  }),
  activity: some({
    maxRows: from(1000, 1_000_000_000),
    dns: fc.array(
      fc.oneof(
        address,
        fc.tuple(fc.ipV4(), port).map(([text, number]) => `${text}:${number}`),
      ),
    ),
    monitors: fc.array(range),
    securityLog: fc.option(file),
  }),
  postHack: some({
    directory: some({ api: source, downloads: source, checksums: source }),
    coreChecksums: source,
  }),
  mail: some({ smtp: fc.option(smtpKeys) }),
  alerts: some({ privateTargets: fc.array(range), plainHttp: fc.boolean(), caFile: fc.option(file) }),
  weeklyReport: some({ maxEmails: from(1, 100) }),
  branding,
  consent: some({ technicalDataUrl: fc.option(source), emailUrl: fc.option(source) }),
  sites: fc.array(siteKeys, { maxLength: 4 }),
});

const read = (text: string): ConfigFile => {
  const parsed = parseConfig(text);
  if ('mistakes' in parsed) throw new Error(`${parsed.mistakes.join('\n')}\n${text}`);
  return parsed.config;
};

describe('parseConfig and printConfig', () => {
  it('are inverse for every key, so that guard reads what attach and detach write', () => {
    fc.assert(
      fc.property(inFile, (keys) => {
        const config = read(JSON.stringify(keys));
        const printed = printConfig(config);
        expect(read(printed)).toStrictEqual(config);
        expect(printConfig(read(printed))).toBe(printed);
      }),
      { numRuns: 500 },
    );
  });

  it('are tested with every key of the schema', () => {
    const tried = new Set(fc.sample(inFile, { numRuns: 500, seed: 1 }).flatMap((keys) => listKeys(keys)));
    expect([...tried].sort()).toEqual(listSchemaKeys(configFile).sort());
  });

  it('write a readable file: two spaces, addresses in their usual form, a final line feed', () => {
    const text = printConfig(read('{"metrics":{"listen":"[::1]:9464"},"sites":[{"id":"a","upstream":"http://h:1"}]}'));
    expect(text).toContain('\n  "listen": "127.0.0.1:8080",\n');
    expect(text).toContain('\n  "metrics": {\n    "listen": "[::1]:9464"\n  },\n');
    expect(text.endsWith('}\n')).toBe(true);
    expect(printConfig(read('{"listen":"unix:/run/guard.sock"}'))).toContain('\n  "listen": "unix:/run/guard.sock",\n');
  });

  it('refuse to write what they could not read', () => {
    const config = read('{}');
    expect(() => printConfig({ ...config, metrics: { listen: { host: '::1', port: 99_999 } } })).toThrow();
    expect(() => printConfig({ ...config, database: 'mysql://example.com' })).toThrow();
  });

  it('read a key under its former name and write the current one', () => {
    const former = { 'sites[].gate': 'upstream', 'limits.idle': 'idleSeconds', level: 'logLevel' };
    const text = '{"level":"warn","limits":{"idle":7},"sites":[{"id":"a","gate":"http://127.0.0.1:8081"}]}';
    const parsed = parseConfig(text, former);
    expect(parsed).toMatchObject({ config: { logLevel: 'warn', limits: { idleSeconds: 7 } } });
    const printed = printConfig((parsed as { config: ConfigFile }).config);
    expect(printed).toContain('"upstream": "http://127.0.0.1:8081"');
    expect(printed).not.toMatch(/"(?:gate|idle|level)"/);
    const both = '{"sites":[{"id":"a","gate":"http://127.0.0.1:1","upstream":"http://127.0.0.1:2"}]}';
    const mistakes = [
      'sites[0].gate: is the former name of upstream, which is there too; remove it',
      'sites[0].gate: unknown key; see docs/operator/configuration.md',
    ];
    expect(parseConfig(both, former)).toMatchObject({ config: { sites: [], invalidSites: [{ id: 'a', mistakes }] } });
    expect(parseConfig('{"limits":{"idle":7,"idleSeconds":8}}', former)).toEqual({
      mistakes: [
        'limits.idle: is the former name of idleSeconds, which is there too; remove it',
        'limits.idle: unknown key; see docs/operator/configuration.md',
      ],
    });
  });
});

/** Returns the keys that contain a value, for example `sites[].id`. */
function listKeys(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) {
    return value.flatMap((entry) => (typeof entry === 'object' ? listKeys(entry, `${path}[]`) : [path]));
  }
  if (typeof value !== 'object' || value === null) return [path];
  return Object.entries(value).flatMap(([key, entry]) => listKeys(entry, path === '' ? key : `${path}.${key}`));
}

/** Returns the keys of a schema, through all wrappers. Every place that may be null or empty is a key as well. */
function listSchemaKeys(schema: z.core.$ZodType, path = ''): string[] {
  const { def } = schema._zod as { def: { type: string; innerType?: z.core.$ZodType; element?: z.core.$ZodType } };
  if (def.innerType !== undefined) {
    const inner = listSchemaKeys(def.innerType, path);
    return def.type === 'nullable' ? [...new Set([path, ...inner])] : inner;
  }
  if (def.type === 'array') {
    const inner = listSchemaKeys(def.element as z.core.$ZodType, `${path}[]`);
    return inner.length === 1 && inner[0] === `${path}[]` ? [path] : inner;
  }
  if (def.type !== 'object') return [path];
  const { shape } = schema as z.ZodObject;
  return Object.entries(shape).flatMap(([key, entry]) => listSchemaKeys(entry, path === '' ? key : `${path}.${key}`));
}
