import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { addExampleContent, startExampleProvider } from './example-provider.js';

function folders(config: object) {
  const dir = mkdtempSync(join(tmpdir(), 'example-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  mkdirSync(join(dir, 'wp-content'));
  const file = join(dir, 'guard.json');
  writeFileSync(file, JSON.stringify(config));
  return { dir, read: () => JSON.parse(readFileSync(file, 'utf8')) };
}

const provider = (port: number) => ({ url: `http://127.0.0.1:${port}`, close: async () => {} });

it('a site on trial has an e-book, a request for a review and addresses for consents', () => {
  const { dir, read } = folders({ branding: { ebook: null, rateLink: '' } });
  addExampleContent(dir, dir, provider(4001));
  addExampleContent(dir, dir, provider(4002));
  const { branding, consent } = read();
  expect(branding).toMatchObject({ rateLink: 'https://example.com/review', rateAfterDays: 0 });
  expect(readFileSync(join(dir, branding.ebook.image), 'utf8')).toMatch(/^<svg /);
  expect(consent).toEqual({
    technicalDataUrl: 'http://127.0.0.1:4002/technical-data',
    emailUrl: 'http://127.0.0.1:4002/e-mails',
  });
});

it('what somebody configured stays', () => {
  const own = {
    branding: { ebook: { title: 'Own', link: 'https://example.com/own' }, rateLink: 'https://example.com/own-review' },
    consent: { technicalDataUrl: 'https://example.com/data', emailUrl: 'https://example.com/mails' },
  };
  const { dir, read } = folders(own);
  addExampleContent(dir, dir, provider(4003));
  expect(read()).toEqual(own);
});

it('what the example of a provider receives stands in its file', async () => {
  const { dir } = folders({});
  const file = join(dir, 'logs/provider.log');
  const running = await startExampleProvider(file);
  onTestFinished(() => running.close());
  const response = await fetch(`${running.url}/technical-data`, { method: 'POST', body: '{"php": "8.3"}' });
  expect(response.status).toBe(204);
  expect(readFileSync(file, 'utf8')).toMatch(/^\S+Z \/technical-data \{"php": "8\.3"\}\n$/);
});
