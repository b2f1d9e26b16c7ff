import { describe, expect, it } from 'vitest';
import { layers } from './guard-layers.mjs';
import { collectImports, findCircles } from './imports.mjs';
import { lint, writeSources } from './layer-tests.mjs';

const src = 'packages/guard/src';
/** A tree with these files below guard's sources. */
const sources = (files) => writeSources(src, files);
/** Those of the files, each with one import, that the linter refuses. */
const refused = (files) => lint(src, files);

describe('the linter', () => {
  it.each([
    ['a rule that reads a file', 'rules/feeds.ts', "import { readFileSync } from 'node:fs';"],
    ['a rule that uses a package', 'rules/feeds.ts', "import { z } from 'zod';"],
    ['a rule that queries the database', 'rules/feeds.ts', "import { x } from '../storage/database.js';"],
    [
      'facts of a request that need the network',
      'http/request-facts.ts',
      "import { lookup } from 'node:dns/promises';",
    ],
    ['a page that reads a file', 'pages/frame.tsx', "import { readFile } from 'node:fs/promises';"],
    ['a helper that knows the product', 'lib/files.ts', "import type { SiteConfig } from '../site.js';"],
    ['storage that knows a feature', 'storage/database.ts', "import type { x } from '../login/index.js';"],
    ['settings that know a feature', 'settings/site-settings.ts', "export { x } from '../overview/index.js';"],
    ['services that know a feature', 'services.ts', "import type { x } from './activity/index.js';"],
    ['a feature that imports a later one', 'login/index.ts', "import { x } from '../alerts/index.js';"],
    ['the inside of another feature', 'alerts/index.ts', "import { x } from '../activity/retention.js';"],
    ['its inner folders', 'reports/endpoints.ts', "import { x } from '../activity/store/schema.js';"],
    [
      'a file deep in a feature that imports a later one',
      'activity/store/schema.ts',
      "import '../../alerts/index.js';",
    ],
    ['a feature that knows the gateway', 'two-factor/steps.ts', "import type { x } from '../gateway/context.js';"],
    ['a feature that knows the list of features', 'login/index.ts', "import { x } from '../features.js';"],
    ['a use case that knows SQL', 'overview/notifications.ts', "import { sql } from 'kysely';"],
    ['a use case that opens the database', 'alerts/endpoints.ts', "import { x } from '../storage/database.js';"],
    ['a use case that knows HTTP', 'login/away-mode.ts', "import type { FastifyRequest } from 'fastify';"],
    ['a gateway that reads files', 'gateway/respond.ts', "import { readFile } from 'node:fs/promises';"],
    ['a gateway that asks the database', 'gateway/evaluate.ts', "import type { x } from '../storage/database.js';"],
    ['a gateway that knows a feature', 'gateway/context.ts', "import type { x } from '../login/index.js';"],
    ['hooks that know a feature', 'hooks.ts', "import type { x } from './activity/index.js';"],
    ['a connection that knows the gateway', 'upstream/forward.ts', "import { x } from '../gateway/respond.js';"],
    ['an API that knows a feature', 'api/server.ts', "import { x } from '../login/index.js';"],
    ['what starts guard, inside a feature', 'main.ts', "import { x } from './login/attempts.js';"],
    ['a command, inside a feature', 'cli/status.ts', "import { x } from '../login/attempts.js';"],
    ['an import while running', 'login/index.ts', "export const load = () => import('../cli/status.js');"],
    ['a type that is imported in place', 'rules/feeds.ts', "import { type x } from '../activity/index.js';"],
  ])('refuses %s', (_title, file, text) => {
    expect(refused({ [file]: text })).toEqual([file]);
  });

  it.each([
    [
      'the contract, also where a module is called like a layer',
      'rules/feeds.ts',
      "import '@security-optimizer/contract/login/schemas';",
    ],
    ['the index of an earlier feature', 'alerts/index.ts', "import { x } from '../activity/index.js';"],
    ['files of the same feature', 'activity/lists.ts', "import { x } from './store/schema.js';"],
    ['SQL in a store', 'overview/first-start-store.ts', "import type { Kysely } from 'kysely';"],
    ['Fastify in the API', 'api/server.ts', "import { fastify } from 'fastify';"],
    ['a migration of storage', 'login/login-attempts-store.ts', "import type { x } from '../storage/migrations.js';"],
    [
      'the early reading of block lists',
      'cli/serve.ts',
      "import { x } from '../activity/blocklist/preload-blocklist.js';",
    ],
    ['anything in a test', 'rules/feeds.test.ts', "import { x } from '../storage/database.js';"],
  ])('allows %s', (_title, file, text) => {
    expect(refused({ [file]: text })).toEqual([]);
  });

  it('enforces every line of the table: a layer imports what its line names, and nothing else', () => {
    const isFile = (name) => name.endsWith('.ts');
    const files = {};
    const expected = [];
    layers.forEach((layer, at) => {
      layers.forEach((other, otherAt) => {
        // A file at the top can have one import here.
        if (other === layer || isFile(layer.name)) return;
        const file = `${layer.name}/imports-${other.name}${isFile(other.name) ? '' : '.ts'}`;
        const target = isFile(other.name) ? `../${other.name.slice(0, -3)}.js` : `../${other.name}/index.js`;
        files[file] = `export type { x } from '${target}';`;
        const isNamed = layer.imports.includes('*') ? otherAt < at : layer.imports.includes(other.name);
        if (!isNamed) expected.push(file);
      });
    });
    expect(refused(files)).toEqual(expected.sort());
  });
});

describe('the table of layers', () => {
  it('points only upwards, so that no order of folders can run in a circle', () => {
    layers.forEach(({ name, imports }, at) => {
      const above = [...layers.slice(0, at).map((layer) => layer.name), '*'];
      expect(above, name).toEqual(expect.arrayContaining([...imports]));
    });
  });
});

describe('the search for circles', () => {
  it.each([
    ['types', "import type { A } from './a.js';"],
    ['an inline type import', "export type A = import('./a.js').A;"],
    ['a re-export', "export { a } from './a.js';"],
    ['a dynamic import', "export const load = () => import('./a.js');"],
  ])('finds a cycle through %s', async (_title, text) => {
    const root = sources({ 'lib/a.ts': "import './b.js';", 'lib/b.ts': text });
    const [circle] = findCircles(await collectImports(root));
    expect(circle.map((file) => file.split('/').at(-1))).toEqual(['a.ts', 'b.ts', 'a.ts']);
  });

  it('finds none where imports meet again', async () => {
    const root = sources({ 'a.ts': "import './b.js'; import './c.js';", 'b.ts': "import './c.js';", 'c.ts': '' });
    expect(findCircles(await collectImports(root))).toEqual([]);
  });
});
