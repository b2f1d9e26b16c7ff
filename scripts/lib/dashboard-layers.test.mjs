import { dirname, relative } from 'node:path/posix';
import { describe, expect, it } from 'vitest';
import { layers } from './dashboard-layers.mjs';
import { lint } from './layer-tests.mjs';

/** Those of the dashboard's files, each with one import, that the linter refuses. */
const refused = (files) => [...new Set(lint('packages/dashboard/src', files))];

describe('the linter', () => {
  it.each([
    ['a control that knows the contract', 'ui/field.tsx', "import '@security-optimizer/contract/typed-text';"],
    ['a control that knows the API', 'ui/host.ts', "import { x } from '../api/services.js';"],
    ['a control that fetches', 'ui/table.tsx', "import { useQuery } from '@tanstack/react-query';"],
    ['a control that parses', 'ui/table.tsx', "import * as z from 'zod/mini';"],
    ['a client that knows the controls', 'api/notices.ts', "import { x } from '../ui/times.js';"],
    ['a client that draws', 'api/services.tsx', "import { createPortal } from 'react-dom';"],
    ['texts that know a control', 'i18n/locale.ts', "import { x } from '../ui/dom.js';"],
    ['texts that use React', 'i18n/translate.ts', "import { useState } from 'react';"],
    ['a form that knows settings', 'forms/load-states.tsx', "import { x } from '../features/settings/score.js';"],
    [
      'settings that know a page',
      'features/settings/essentials.ts',
      "import { x } from '../login-settings/options.js';",
    ],
    ['a page that knows another', 'features/site-security/page.tsx', "import { x } from '../activity-log/alerts.js';"],
    [
      'the same by a longer path',
      'features/site-security/page.tsx',
      "import { x } from '../../features/activity-log/alerts.js';",
    ],
    [
      'a folder of a page that knows another page',
      'features/activity-log/lists/rows.tsx',
      "import { x } from '../../consent/dialog.js';",
    ],
    ['a page that knows the frame', 'features/consent/dialog.tsx', "import { x } from '../../app/shell.js';"],
    [
      'a folder of a page that knows it',
      'features/consent/texts/long.ts',
      "import { x } from '../../../app/pages.js';",
    ],
    ['a page that knows the program', 'features/consent/dialog.tsx', "import { x } from '../../main.js';"],
    ['a folder of a page that does', 'features/consent/texts/long.ts', "import { x } from '../../../main.js';"],
    ['a frame that knows the program', 'app/shell.tsx', "import { x } from '../main.js';"],
    ['the program that knows the one for old browsers', 'main.ts', "import './legacy.js';"],
    ['a type from above', 'api/options.ts', "import type { x } from '../features/settings/row.js';"],
    ['a type in an import of values', 'api/options.ts', "import { type x } from '../features/settings/row.js';"],
    ['an import while running', 'forms/use-dialogs.ts', "export const load = () => import('../app/pages.js');"],
    ['a re-export from above', 'ui/dialog.tsx', "export * from '../forms/form-dialog.js';"],
    ['zod', 'features/login-settings/login-forms.ts', "import { z } from 'zod';"],
    ['schemas of requests', 'api/options.ts', "import { requests } from '@security-optimizer/contract/requests';"],
    ['those of the log', 'features/activity-log/lists.ts', "import '@security-optimizer/contract/activity/requests';"],
    ['what makes them', 'app/pages.ts', "import { noInput } from '@security-optimizer/contract/request';"],
    ['a file of the machine', 'main.ts', "import { readFileSync } from 'node:fs';"],
    ['guard', 'features/activity-log/lists.ts', "import '@security-optimizer/guard/activity/index';"],
    ['the sandbox', 'legacy.ts', "import '@security-optimizer/sandbox/start/dev';"],
    ['guard in a test', 'ui/dom.test.ts', "import '@security-optimizer/guard';"],
    ['zod in a test', 'features/consent/dialog.test.tsx', "import { z } from 'zod';"],
    ['a file of the machine in a folder without a layer', 'new/a.ts', "import { readFileSync } from 'node:fs';"],
  ])('refuses %s', (_title, file, text) => {
    expect(refused({ [file]: text })).toEqual([file]);
  });

  it.each([
    ['a control with texts', 'ui/button.tsx', "import { __ } from '../i18n/translate.js';"],
    ['a control with React', 'ui/drawer.tsx', "import { createPortal } from 'react-dom';"],
    ['a control with its pictures', 'ui/icon.tsx', "import check from './icons/check.svg';"],
    ['a client that parses', 'api/tolerant.ts', "import * as z from 'zod/mini';"],
    ['a client that keeps data', 'api/query-client.ts', "import { QueryClient } from '@tanstack/react-query';"],
    ['types of requests', 'api/client.ts', "import type { RequestOf } from '@security-optimizer/contract/requests';"],
    ['endpoints', 'features/activity-log/lists.ts', "import '@security-optimizer/contract/activity/endpoints';"],
    ['texts of the contract', 'i18n/server-message.ts', "import '@security-optimizer/contract/server-messages';"],
    [
      'the log on the first page',
      'features/security-dashboard/recent.tsx',
      "export const load = () => import('../activity-log/traffic-chart.js');",
    ],
    [
      'modules of the contract that are called like a layer',
      'features/settings/options.ts',
      "import '@security-optimizer/contract/settings/options';",
    ],
    ['the same in forms', 'forms/options.ts', "import '@security-optimizer/contract/settings/options';"],
    ['a file that is called like a layer', 'features/consent/page.tsx', "import { x } from './activity-log.js';"],
    ['one of another layer', 'features/consent/page.tsx', "import { x } from '../../api/activity-log.js';"],
    [
      'a folder of a page that is called like another page',
      'features/activity-log/page.tsx',
      "import { x } from './consent/rows.js';",
    ],
    [
      'a folder of a page that is called like settings, in a form',
      'forms/options.ts',
      "import { x } from '../ui/settings/row.js';",
    ],
    ['files of the same page', 'features/activity-log/lists/rows.tsx', "import { x } from '../alerts.js';"],
    ['a page in the frame', 'app/shell.tsx', "import { x } from '../features/consent/prompt.js';"],
    ['the program for old browsers', 'legacy.ts', "import './main.js';"],
    ['a file of the machine in a test', 'ui/dom.test.ts', "import { readFileSync } from 'node:fs';"],
    ['anything of the dashboard in a test', 'ui/dom.test.tsx', "import { x } from '../app/shell.js';"],
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
        const isNamed = layer.imports.includes('*') ? otherAt < at : layer.imports.includes(other.name);
        for (const folder of [layer.name, `${layer.name}/parts`]) {
          const file = `${folder}/imports-${other.name.replace('/', '-').replace('.ts', '')}.ts`;
          const target = isFile(other.name) ? other.name.replace('.ts', '.js') : `${other.name}/a.js`;
          files[file] = `export type { x } from '${relative(dirname(file), target)}';`;
          if (!isNamed) expected.push(file);
        }
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
