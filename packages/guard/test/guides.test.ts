import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

/** Checks that tests run the set-ups for web servers in the documents. A new set-up needs a test that reads it. */

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
  'varnish.vcl': `${INSTALLS}/other-web-servers.test.ts`,
};

/** Sections whose commands a suite runs in order (`readGuide`). */
const STEPS: readonly (readonly [document: string, heading: string, suite: string])[] = [
  ['README.md', 'Put it in front of a real site', `${INSTALLS}/in-front-of-visitors.test.ts`],
  ['docs/operator/operations.md', 'Taking guard away again', `${INSTALLS}/in-front-of-visitors.test.ts`],
];

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
