/**
 * The layers of guard: what each folder and file at the top of packages/guard/src may import. The one place of the
 * dependency rule; biome.layers.json is generated from it, and ARCHITECTURE.md describes it.
 */
import { EXCEPT_TESTS, NEVER_REFUSED, toFilePattern, toMessage, toOverride, toRefusedPatterns } from './layers.mjs';

/**
 * @typedef {object} OfGuard
 * @property {readonly string[]} [packages] patterns of refused packages, beside those that only certain files may import
 * @property {readonly string[]} [sql] its files that know the database; whatever else needs rows asks one of them
 * @property {boolean} [http] whether it may import Fastify
 *
 * @typedef {import('./layers.mjs').Layer & OfGuard} GuardLayer
 */

const FEATURE_BASE = [
  ...['lib', 'site.ts', 'i18n', 'http', 'pages', 'rules', 'storage', 'wordpress', 'mail', 'settings'],
  ...['security-events.ts', 'hooks.ts', 'services.ts', 'feature.ts'],
];
const NO_IO = ['node:fs', 'node:fs/promises', 'node:net', 'node:dns', 'node:dns/promises'];
const NO_FILES = ['node:fs', 'node:fs/promises', 'node:dns', 'node:dns/promises'];

/** @type {readonly GuardLayer[]} in order: each one imports only from those before it */
export const layers = [
  { name: 'lib', imports: [] },
  { name: 'site.ts', imports: [] },
  { name: 'i18n', imports: ['lib'] },
  { name: 'http', imports: ['lib', 'site.ts'], packages: NO_IO, why: 'It is pure: a request in, facts out.' },
  { name: 'config', imports: ['lib', 'site.ts', 'http'] },
  { name: 'pages', imports: ['i18n'], packages: NO_IO, why: 'It is pure: texts in, a page out.' },
  {
    name: 'rules',
    imports: ['lib', 'site.ts', 'i18n', 'http'],
    packages: ['**', '!./**', '!../**', '!@security-optimizer/contract/**'],
    why: 'Rules are pure: plain data in, a verdict out. No input or output, no time, no package.',
  },
  { name: 'storage', sql: ['**'], imports: ['lib', 'site.ts', 'config'] },
  { name: 'wordpress', imports: ['lib', 'site.ts', 'http'] },
  {
    name: 'hooks.ts',
    imports: ['lib', 'site.ts', 'http', 'rules', 'wordpress'],
    why: 'It only names what passes between the gateway and features.',
  },
  { name: 'mail', imports: ['lib', 'site.ts', 'i18n', 'config', 'wordpress'] },
  { name: 'settings', sql: ['**'], imports: ['lib', 'site.ts', 'config', 'rules', 'storage', 'wordpress'] },
  { name: 'sites', imports: ['lib', 'site.ts', 'i18n', 'config', 'rules', 'storage', 'wordpress', 'settings'] },
  { name: 'security-events.ts', imports: ['site.ts'] },
  {
    name: 'services.ts',
    imports: [
      ...['lib', 'site.ts', 'i18n', 'config', 'rules', 'storage', 'wordpress', 'mail', 'settings', 'sites'],
      'security-events.ts',
    ],
  },
  { name: 'feature.ts', imports: ['site.ts', 'wordpress', 'settings', 'hooks.ts', 'services.ts'] },
  // `config` and `sites` come with the services.
  { name: 'login', sql: ['index.ts', '*-store.ts', 'throttled-accounts.ts'], isFeature: true, imports: FEATURE_BASE },
  {
    name: 'two-factor',
    sql: ['index.ts', '*-store.ts', 'tables.ts', 'challenges.ts', 'check-code.ts', 'trusted-devices.ts'],
    isFeature: true,
    imports: [...FEATURE_BASE, 'login'],
  },
  {
    name: 'activity',
    sql: [
      'index.ts',
      'store/**',
      'blocklist/*-store.ts',
      'blocklist/blocklist-tables.ts',
      'blocklist/preload-blocklist.ts',
    ],
    isFeature: true,
    imports: [...FEATURE_BASE, 'login'],
  },
  { name: 'site-security', isFeature: true, imports: FEATURE_BASE },
  {
    name: 'alerts',
    sql: ['index.ts', 'alert-overflow.ts', 'alert-queue.ts', 'alert-tables.ts', 'login-history.ts'],
    isFeature: true,
    imports: [...FEATURE_BASE, 'login', 'activity'],
  },
  {
    name: 'reports',
    sql: ['index.ts', 'sent-reports.ts'],
    isFeature: true,
    imports: [...FEATURE_BASE, 'login', 'two-factor', 'activity', 'alerts'],
  },
  {
    name: 'post-hack',
    sql: ['index.ts', '*-store.ts'],
    isFeature: true,
    imports: [...FEATURE_BASE, 'two-factor', 'activity', 'alerts'],
  },
  {
    name: 'overview',
    sql: ['index.ts', '*-store.ts'],
    isFeature: true,
    imports: [...FEATURE_BASE, 'two-factor', 'activity', 'alerts', 'reports', 'post-hack'],
  },
  { name: 'upstream', imports: ['lib', 'http', 'wordpress'], packages: NO_FILES, why: 'Every request passes here.' },
  {
    name: 'gateway',
    imports: [
      ...['lib', 'site.ts', 'i18n', 'http', 'config', 'pages', 'rules', 'wordpress', 'hooks.ts', 'sites', 'upstream'],
    ],
    packages: NO_FILES,
    why: 'Every request passes here: it reads the snapshot in memory and calls hooks, it knows no feature.',
  },
  {
    name: 'api',
    http: true,
    imports: ['lib', 'site.ts', 'http', 'storage', 'wordpress', 'settings', 'feature.ts', 'gateway'],
    why: 'It only transports.',
  },
  { name: 'metrics', imports: ['lib', 'site.ts', 'gateway'] },
  { name: 'processes', imports: ['*'] },
  { name: 'features.ts', imports: ['*'] },
  { name: 'migrations.ts', sql: ['**'], imports: ['*'] },
  { name: 'main.ts', imports: ['*'] },
  // Programs over the rows of all features.
  { name: 'cli', sql: ['privacy/*.ts', 'erase-from-postgres.ts'], imports: ['*'] },
  { name: 'embedded.ts', imports: ['*'] },
  { name: 'testing.ts', imports: ['*'] },
];

/** Layers that import the inside of these features, not only their `index.ts`. */
const INSIDE = {
  // A worker loads only what it runs, and no database.
  processes: ['login', 'activity'],
  'testing.ts': layers.filter(({ isFeature }) => isFeature).map(({ name }) => name),
};

/** Reads long lists of blocked addresses while the rest of the program is still loading, so not by `index.ts`. */
const PRELOADING = { layer: 'cli', file: 'serve.ts', imports: '**/activity/blocklist/preload-blocklist.js' };

const SQL = ['kysely', '@photostructure/sqlite', 'pg'];
/** Use cases ask a store, not the database. */
const DATABASE = [
  '**/storage/database.js',
  '**/storage/postgres*.js',
  '**/storage/sqlite*.js',
  '**/storage/storage-thread.js',
];

const src = 'packages/guard/src';

/** Entries of Biome's `overrides` that enforce the layers, except in tests. */
export function layerOverrides() {
  return layers.flatMap((layer) => {
    const { name, sql = [], http = false } = layer;
    const entry = (files, group) => {
      const message = toMessage(layer, 'scripts/lib/guard-layers.mjs');
      const includes = [...files.map((file) => toFilePattern(src, name, file)), ...EXCEPT_TESTS];
      return toOverride(includes, [{ group: [...group, NEVER_REFUSED], message }]);
    };
    const group = [
      ...(layer.packages ?? []),
      ...toRefusedPatterns(layers, layer, INSIDE[name]),
      ...(http ? [] : ['fastify']),
    ];
    const withoutSql = [...group, ...SQL, ...(layer.isFeature ? DATABASE : [])];
    const entries = [entry(['**'], withoutSql)];
    if (sql.length > 0) entries.push(entry(sql, group));
    if (name === PRELOADING.layer) entries.push(entry([PRELOADING.file], [...withoutSql, `!${PRELOADING.imports}`]));
    return entries;
  });
}
