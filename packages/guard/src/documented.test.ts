import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { configFile } from './config/config-file.js';

const source = new URL('.', import.meta.url);
const documentation = readFileSync(new URL('../../../docs/operator/configuration.md', source), 'utf8');

it('every event of the log is documented', () => {
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(
    (name) => /\.tsx?$/.test(name) && !name.includes('.test.') && !name.startsWith('testing'),
  );
  const events = files.flatMap((name) =>
    Array.from(
      readFileSync(new URL(name, source), 'utf8').matchAll(/[{,]\s*event: ['`]([a-z-]+)(.)/g),
      ([, event, then]) => {
        // For a name with a placeholder, the part before the placeholder is searched.
        return then === '$' ? `\`${event}` : `\`${event}\``;
      },
    ),
  );
  expect(events).toContain('`guard-started`');
  expect(events.filter((event) => !documentation.includes(event))).toEqual([]);
});

it('every key of the configuration is documented', () => {
  const keys = Object.keys(configFile.shape);
  expect(keys).toContain('listen');
  expect(keys.filter((key) => !new RegExp(`^\\| \`${key}[\`.[]`, 'm').test(documentation))).toEqual([]);
});
