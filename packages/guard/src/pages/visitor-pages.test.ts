import { describe, expect, it } from 'vitest';
import { renderRefusal } from '../gateway/respond.js';
import { english } from '../i18n/language.js';
import { type PageName, visitorPage, visitorPages } from './visitor-pages.js';

const facts = {
  host: 'example.com',
  address: '192.0.2.1',
  time: new Date('2024-05-01T12:34:00Z'),
  reference: '7K2M-94QX',
};
const names = Object.keys(visitorPages) as PageName[];
const refused = {
  language: english,
  host: 'example.com:8080',
  address: '192.0.2.1',
  requestId: '0'.repeat(16),
  time: facts.time.getTime(),
};

describe.each(names)('the page %s', (name) => {
  const html = visitorPage(english, name, facts);

  it('names neither the product nor anything inside', () => {
    expect(html).not.toMatch(/optimizer|guard|wordpress|node|php|version|rule/i);
    expect(html).not.toContain('%%');
  });

  it('is a whole page in which nothing runs and nothing is fetched', () => {
    expect(html).toMatch(/^<!DOCTYPE html><html[^>]* lang="en">/);
    expect(html).not.toMatch(/<script|src=|href=|url\(|@import/i);
    expect(html).toContain(`<title>${visitorPages[name].title}</title>`);
  });

  it('shows address, time and reference only where they help', () => {
    expect(html.includes('7K2M-94QX')).toBe(visitorPages[name].details);
    expect(html.includes('192.0.2.1')).toBe(visitorPages[name].details);
    if (visitorPages[name].details) expect(html).toMatch(/1 May 2024(?:,| at) 12:34 UTC/);
  });

  it('escapes what comes from the visitor', () => {
    const evil = `"><script>alert('1')</script>$&$'%%ADDRESS%%`;
    const page = visitorPage(english, name, { ...facts, host: evil, address: evil });
    expect(page).not.toContain('<script');
    expect(page).not.toContain(`alert('`);
    expect(page.split('<main').length).toBe(2);
  });
});

describe('a refusal', () => {
  it('is a page for browsers, one line for programs', () => {
    const html = renderRefusal({ ...refused, page: 'forbidden' }, 'text/html,*/*;q=0.8');
    expect(html.status).toBe(403);
    expect(html.headers).toContain('text/html; charset=utf-8');
    expect(html.body.toString()).toContain('example.com doesn’t open');
    const text = renderRefusal({ ...refused, page: 'forbidden' }, '*/*');
    expect(text.headers).toContain('text/plain; charset=utf-8');
    expect(text.body.toString()).toBe('Not allowed\n');
    expect(renderRefusal({ ...refused, page: 'forbidden' }, undefined).body.toString()).toBe('Not allowed\n');
  });

  it('has the right length and is kept by no cache', () => {
    const { headers, body } = renderRefusal({ ...refused, page: 'blocked' }, 'text/html');
    expect(headers[headers.indexOf('Content-Length') + 1]).toBe(String(body.length));
    expect(headers[headers.indexOf('Cache-Control') + 1]).toBe('no-store');
  });

  it('speaks of "This site" when no host is known', () => {
    expect(renderRefusal({ ...refused, host: '', page: 'forbidden' }, 'text/html').body.toString()).toContain(
      'This site doesn’t',
    );
  });

  it('says when to come back only when the site is busy', () => {
    expect(renderRefusal({ ...refused, page: 'busy' }, '').headers).toContain('Retry-After');
    expect(renderRefusal({ ...refused, page: 'unreachable' }, '').headers).not.toContain('Retry-After');
  });
});
