import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

/**
 * Checks that tests run the commands and the set-ups for web servers in the documents. A new one needs a test that reads
 * it.
 */

const root = new URL('../../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');

const INSTALLS = 'packages/e2e/src/suites/installs';

/** Each block of settings for a web server, with the suite that reads it from there by its heading (`guideBlocks`). */
const BLOCKS: readonly (readonly [document: string, heading: string, language: string, suite: string])[] = [
  ['docs/operator/operations.md', "Each visitor's address", 'nginx', `${INSTALLS}/guide-lines.test.ts`],
  ['docs/operator/operations.md', "Each visitor's address", 'apache', `${INSTALLS}/guide-lines.test.ts`],
  ['docs/operator/operations.md', 'The visitor’s scheme', 'nginx', `${INSTALLS}/guide-lines.test.ts`],
  ['docs/operator/operations.md', 'The visitor’s scheme', 'apache', `${INSTALLS}/guide-lines.test.ts`],
  ['docs/operator/operations.md', 'The visitor’s scheme', 'nginx', `${INSTALLS}/behind-https.test.ts`],
  ['docs/operator/operations.md', 'The visitor’s scheme', 'apache', `${INSTALLS}/behind-https.test.ts`],
  ['docs/operator/operations.md', 'A password of the web server', 'nginx', `${INSTALLS}/web-server-password.test.ts`],
];

/** Each example for a web server or proxy, with a file of a suite that runs it. */
const EXAMPLES: Readonly<Record<string, string>> = {
  Caddyfile: 'packages/guard/test/front-proxies.test.ts',
  'apache-tls.conf': 'packages/guard/test/front-proxies.test.ts',
  'apache-wordpress.conf': `${INSTALLS}/other-web-servers.test.ts`,
  'haproxy.cfg': 'packages/guard/test/front-proxies.test.ts',
  'nginx-tls.conf': 'packages/guard/test/static-files-of-the-proxy.test.ts',
  'nginx-wordpress-cache.conf': `${INSTALLS}/other-web-servers.test.ts`,
  'nginx-wordpress.conf': `${INSTALLS}/server-behind.test.ts`,
  'varnish-front.vcl': 'packages/guard/test/front-proxies.test.ts',
  'varnish.vcl': `${INSTALLS}/other-web-servers.test.ts`,
};

/** Sections whose commands a suite runs in order (`readGuide`). */
const STEPS: readonly (readonly [document: string, heading: string, suite: string])[] = [
  ['README.md', 'Put it in front of a real site', `${INSTALLS}/in-front-of-visitors.test.ts`],
  ['docs/operator/operations.md', 'Taking guard away again', `${INSTALLS}/in-front-of-visitors.test.ts`],
];

const PACKAGES = 'packages/e2e/src/packages';
const OPERATIONS = 'docs/operator/operations.md';
const IN_FRONT = `${INSTALLS}/in-front-of-visitors.test.ts`;
const [PUT, TAKEN] = [
  '"Put it in front of a real site" fails no request of a visitor, and guard decides in the end',
  '"Taking guard away again" fails no request of a visitor either, and leaves WordPress as it was',
];
const FOLLOWED = 'puts guard in front of both sites, and no visitor notices';

/**
 * Each block of commands of the README and of the operator's documents, in their order, with the test that runs it: its
 * file and its title.
 */
const COMMANDS: readonly CommandEntry[] = [
  [
    'README.md',
    'Try it',
    'packages/sandbox/src/start/start.system.test.ts',
    'serves WordPress through guard until %s, then stops every process',
  ],
  [
    'README.md',
    'Test it',
    'scripts/lib/fresh-clone.test.mjs',
    '%s starts in a fresh clone, before any package is installed',
  ],
  ...repeat(7, ['README.md', 'Put it in front of a real site', IN_FRONT, PUT]),
  ...repeat(8, ['docs/operator/install.md', 'Two sites in ten minutes', `${PACKAGES}/install-guide.test.ts`, FOLLOWED]),
  ...operations(
    'Starting again without losing a request',
    '"Starting again without losing a request" hands the socket over',
  ),
  ...repeat(4, [OPERATIONS, 'Taking guard away again', IN_FRONT, TAKEN]),
  ...operations(
    'Content delivery networks',
    '"Content delivery networks" refreshes the list of proxies of a running guard',
  ),
  ...operations(
    'Sites that are deployed in releases',
    '"Sites that are deployed in releases" prepares a release before it is the current one, and brings all up to date',
    2,
  ),
  ...operations("Code that can't be written", '"Code that can’t be written" prints what to write where'),
  ...operations(
    'When a site misbehaves',
    '"When a site misbehaves" examines the site: guard and connector are in order, and its name leads nowhere',
  ),
  ...operations(
    'Sites',
    '"Sites" adds, shows, exports, removes and imports a site while guard runs, from a folder of root’s',
  ),
  ...operations(
    'One connector for all sites of a machine',
    '"One connector for all sites of a machine" lets the site run the shared copy',
  ),
  [
    OPERATIONS,
    'The Debian package',
    `${PACKAGES}/debian-package.test.ts`,
    'installs a user, a data folder of that user, and a unit that waits for a site',
  ],
  [
    OPERATIONS,
    'In a container',
    `${PACKAGES}/container.test.ts`,
    'protects a WordPress with a read-only root file system and without any capability',
  ],
  ...repeat(3, [
    OPERATIONS,
    'With the npm package',
    `${PACKAGES}/releases.test.ts`,
    '"With the npm package" puts the first release in front of a site',
  ]),
  ...repeat(4, [
    OPERATIONS,
    'Updating',
    `${PACKAGES}/releases.test.ts`,
    '"Updating" does not affect a running guard until the link is switched',
  ]),
  [
    OPERATIONS,
    'Going back',
    `${PACKAGES}/releases.test.ts`,
    '"Going back" needs only the link while the tables are the same',
  ],
  [
    OPERATIONS,
    'Going back',
    `${PACKAGES}/releases.test.ts`,
    '"Going back" uses the backup when the settings were used by a newer guard',
  ],
  [
    OPERATIONS,
    'Going back',
    `${PACKAGES}/releases.test.ts`,
    '"Going back" needs only the link while the tables are the same',
  ],
  ...operations(
    'Back-up and restore',
    '"Back-up and restore" saves the data of a running guard, restores them, and copies settings to another site',
    3,
  ),
  ...operations(
    'Requests about personal data',
    '"Requests about personal data" exports what is stored about a person, and erases it',
  ),
  [OPERATIONS, 'WP-CLI', 'packages/guard/test/wp-cli.test.ts', 'are run as the operations guide names them'],
  [
    'docs/operator/postgresql.md',
    'Setting it up',
    'packages/guard/test/postgres-guide.test.ts',
    'creates user and database, and guard keeps its settings there',
  ],
  [
    'docs/operator/postgresql.md',
    'Moving from SQLite',
    'packages/guard/test/migrate-to-postgres.test.ts',
    'lets guard go on with settings, blocks and second factors, as the guide describes',
  ],
];

type CommandEntry = readonly [document: string, heading: string, file: string, title: string];

function repeat(times: number, entry: CommandEntry): readonly CommandEntry[] {
  return Array.from({ length: times }, () => entry);
}

function operations(heading: string, title: string, times = 1): readonly CommandEntry[] {
  return repeat(times, [OPERATIONS, heading, `${PACKAGES}/operations-guide.test.ts`, title]);
}

/** Recognises settings of nginx, Apache, HAProxy or Varnish by their syntax, whatever language the block declares. */
const OF_A_WEB_SERVER =
  /^\s*(?:(?:server|map|upstream|location)\b.*\{|(?:proxy|fastcgi)_\w+ |set_real_ip_from |<(?:VirtualHost|Location|Directory)\b|Rewrite(?:Rule|Cond) |RemoteIP|SetEnvIf |ProxyPass|(?:frontend|backend) \w+$|sub vcl_)/m;
const SERVER_LANGUAGES = ['nginx', 'apache', 'apacheconf', 'caddy', 'caddyfile', 'haproxy', 'vcl'];

interface Block {
  readonly document: string;
  readonly heading: string;
  readonly language: string;
  readonly text: string;
}

/** The fenced blocks of a document, each with the heading above it. */
function listBlocks(document: string): readonly Block[] {
  const blocks: Block[] = [];
  let heading = '';
  let begun: { language: string; lines: string[] } | null = null;
  for (const line of read(document).split('\n')) {
    const match = /^\s*```(\w*)/.exec(line);
    if (match !== null && begun === null) begun = { language: match[1] as string, lines: [] };
    else if (match !== null && begun !== null) {
      blocks.push({ document, heading, language: begun.language, text: begun.lines.join('\n') });
      begun = null;
    } else if (begun !== null) begun.lines.push(line);
    else heading = /^#+ (.*)$/.exec(line)?.[1] ?? heading;
  }
  return blocks;
}

const documents = [
  'README.md',
  ...['docs', 'docs/developer', 'docs/operator'].flatMap((folder) =>
    readdirSync(new URL(`${folder}/`, root)).flatMap((name) => (name.endsWith('.md') ? [`${folder}/${name}`] : [])),
  ),
];

describe('the set-ups for web servers in the documents', () => {
  it('are each read by a test', () => {
    const found = documents
      .flatMap(listBlocks)
      .filter(({ language, text }) => SERVER_LANGUAGES.includes(language) || OF_A_WEB_SERVER.test(text))
      .map(({ document, heading, language }) => [document, heading, language]);
    expect(found).toEqual(BLOCKS.map(([document, heading, language]) => [document, heading, language]));
    const notTaken = BLOCKS.filter(([, heading, , suite]) => {
      const text = read(suite);
      return !text.includes('guideBlocks(') || !text.includes(heading);
    });
    expect(notTaken).toEqual([]);
  });

  it('are recognised, even in a block that does not declare them', () => {
    for (const text of [
      'server {\n',
      '  RemoteIPHeader X',
      'fastcgi_param HTTPS on;',
      '<VirtualHost *:80>',
      'map $a $b {',
    ])
      expect([text, OF_A_WEB_SERVER.test(text)]).toEqual([text, true]);
    for (const text of ['{ "proxyProtocol": true }', 'nginx -t && nginx -s reload', 'cp a.conf /etc/nginx/'])
      expect([text, OF_A_WEB_SERVER.test(text)]).toEqual([text, false]);
  });

  it('are each run by a test where they are complete examples', () => {
    const names = readdirSync(new URL('docs/operator/examples/', root));
    const ofServers = names.filter(
      (name) => OF_A_WEB_SERVER.test(read(`docs/operator/examples/${name}`)) || name === 'Caddyfile',
    );
    expect(ofServers).toEqual(Object.keys(EXAMPLES));
    expect(Object.entries(EXAMPLES).filter(([name, suite]) => !read(suite).includes(`'${name}'`))).toEqual([]);
  });

  it('are each followed step by step where they are a list of steps', () => {
    // The guide for the Debian package, docs/operator/install.md, is followed with the package (`npm run
    // test:packages`).
    const found = documents
      .filter((document) => document !== 'docs/operator/install.md')
      .flatMap(listBlocks)
      .filter(({ language, text }) => language === 'sh' && /\bnginx\b|apache/.test(text));
    const sections = [...new Set(found.map(({ document, heading }) => `${document}: ${heading}`))];
    expect(sections).toEqual(STEPS.map(([document, heading]) => `${document}: ${heading}`));
    for (const [document, heading, suite] of STEPS)
      expect(read(suite)).toContain(`readGuide('${document}', '${heading}')`);
    expect(read('packages/e2e/src/packages/install-guide.test.ts')).toContain('docs/operator/install.md');
  });
});

describe('the commands in the README and the operator’s documents', () => {
  const operatorDocuments = documents.filter((name) => name === 'README.md' || name.startsWith('docs/operator/'));

  it('are all in blocks that declare their language, so that none is overlooked', () => {
    const undeclared = operatorDocuments.flatMap(listBlocks).filter(({ language }) => language === '');
    expect(undeclared).toEqual([]);
    const otherShells = operatorDocuments
      .flatMap(listBlocks)
      .filter(({ language }) => /^(?:bash|shell|console)$/.test(language));
    expect(otherShells).toEqual([]);
  });

  it('are each run by a test', () => {
    const blocks = operatorDocuments.flatMap(listBlocks).filter(({ language }) => language === 'sh');
    expect(COMMANDS.map(([document, heading]) => [document, heading])).toEqual(
      blocks.map(({ document, heading }) => [document, heading]),
    );
  });

  it('name tests that exist', () => {
    const missing = COMMANDS.filter(
      ([, , file, title]) => !existsSync(new URL(file, root)) || !hasTest(read(file), title),
    );
    expect(missing).toEqual([]);
  });

  it('are read out of the document by the test, so that no copy of them grows old', () => {
    const reading = /readGuide\(|readSectionCommands\(|guideCommands\(/;
    const copied = new Set(COMMANDS.flatMap(([, , file]) => (reading.test(read(file)) ? [] : [file])));
    // `npm start` and `npm test` are each one word; the Debian package is installed in several versions.
    expect([...copied]).toEqual([
      'packages/sandbox/src/start/start.system.test.ts',
      'scripts/lib/fresh-clone.test.mjs',
      `${PACKAGES}/debian-package.test.ts`,
    ]);
  });

  it.each([
    ["  it('adds', () => {", true],
    ["  it('adds a site', () => {", false],
    ["  // it was 'adds' before", false],
    ["  it.skip('adds', () => {", false],
  ])('are looked for by the whole title of a test: %s', (text, found) => {
    expect(hasTest(text, 'adds')).toBe(found);
  });
});

/** Whether a test file has a test with a title that is not skipped unconditionally. */
function hasTest(text: string, title: string): boolean {
  const at = text.indexOf(`'${title}'`);
  const before = text.slice(Math.max(0, at - 400), Math.max(0, at));
  return at !== -1 && /\bit(?:\.each\((?:[^()]|\([^()]*\))*\)|\.skipIf\((?:[^()]|\([^()]*\))*\))?\(\s*$/.test(before);
}
