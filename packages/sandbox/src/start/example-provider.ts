import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';

/** An example provider: it receives the data that owners agree to send, and logs it to a file. */
export interface ExampleProvider {
  /** Origin on this machine. */
  readonly url: string;
  close(): Promise<void>;
}

const MAX_BODY_BYTES = 1_000_000;

/** @param logFile gets a line for each request: time, path and body */
export async function startExampleProvider(logFile: string): Promise<ExampleProvider> {
  mkdirSync(dirname(logFile), { recursive: true });
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) {
      body += chunk;
      if (body.length > MAX_BODY_BYTES) return void request.destroy();
    }
    appendFileSync(logFile, `${new Date().toISOString()} ${request.url} ${body.replace(/\s+/g, ' ')}\n`);
    response.writeHead(204).end();
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve);
  });
  server.unref();
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => new Promise((resolve) => void server.close(() => resolve())),
  };
}

/** Path of the cover below the site's root. */
const COVER_PATH = '/wp-content/example-e-book.svg';

const COVER_SVG = `<svg xmlns="http://www.w3.org/2000/svg" width="116" height="152" viewBox="0 0 116 152">
<rect width="116" height="152" fill="#0a6a56"/><rect x="8" width="2" height="152" fill="#085545"/>
<path d="M58 44l22 8v16c0 15-9 25-22 31-13-6-22-16-22-31V52z" fill="none" stroke="#fff" stroke-width="4"/>
<rect x="26" y="116" width="64" height="5" rx="2" fill="#fff"/><rect x="36" y="128" width="44" height="4" rx="2" fill="#8cc7b8"/>
</svg>
`;

const EBOOK = {
  title: 'A safer site in ten steps',
  text: 'A short guide for site owners: passwords, updates, backups, and what to do when something looks wrong.',
  link: 'https://example.com/safer-site-guide',
  image: COVER_PATH,
};

type Group = Record<string, unknown>;

/**
 * Adds the settings of a provider to `guard.json`: an e-book, an address for reviews, and the addresses for data with
 * consent. Other values stay unchanged.
 */
export function addExampleContent(guardDir: string, wordpressDir: string, provider: ExampleProvider): void {
  const file = join(guardDir, 'guard.json');
  const config = JSON.parse(readFileSync(file, 'utf8')) as { branding?: Group; consent?: Group };
  const branding = { ...config.branding };
  const consent = { ...config.consent };
  branding.ebook ??= EBOOK;
  if ((branding.rateLink ?? '') === '')
    Object.assign(branding, { rateLink: 'https://example.com/review', rateAfterDays: 0 });
  const example = /^http:\/\/127\.0\.0\.1:\d+\/(?:technical-data|e-mails)$/;
  for (const [key, path] of [
    ['technicalDataUrl', '/technical-data'],
    ['emailUrl', '/e-mails'],
  ] as const) {
    // The example provider gets another port at each start.
    if ((consent[key] ?? null) === null || example.test(String(consent[key]))) consent[key] = provider.url + path;
  }
  writeFileSync(file, `${JSON.stringify({ ...config, branding, consent }, null, 2)}\n`);
  const picture = join(wordpressDir, COVER_PATH);
  if (!existsSync(picture)) writeFileSync(picture, COVER_SVG);
}
