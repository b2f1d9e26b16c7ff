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

  it('names neither the product nor any internal detail', () => {
    expect(html).not.toMatch(/optimizer|guard|wordpress|node|php|version|rule/i);
    expect(html).not.toContain('%%');
  });

  it('is a complete page without scripts or external resources', () => {
    expect(html).toMatch(/^<!DOCTYPE html><html[^>]* lang="en">/);
    expect(html).not.toMatch(/<script|src=|href=|url\(|@import/i);
    expect(html).toContain(`<title>${visitorPages[name].title}</title>`);
  });

  it('contains address, time and reference only where they help', () => {
    expect(html.includes('7K2M-94QX')).toBe(visitorPages[name].details);
    expect(html.includes('192.0.2.1')).toBe(visitorPages[name].details);
    if (visitorPages[name].details) expect(html).toMatch(/1 May 2024(?:,| at) 12:34 UTC/);
  });

  it('escapes text of the visitor', () => {
    const markup = `"><script>alert('1')</script>$&$'%%ADDRESS%%`;
    const page = visitorPage(english, name, { ...facts, host: markup, address: markup });
    expect(page).not.toContain('<script');
    expect(page).not.toContain(`alert('`);
    expect(page.split('<main').length).toBe(2);
  });
});

describe('a refusal', () => {
  it('is a page for browsers, one line for programs, and JSON for clients that accept it', () => {
    const html = renderRefusal({ ...refused, page: 'forbidden' }, 'page');
    expect(html.status).toBe(403);
    expect(html.headers).toContain('text/html; charset=utf-8');
    expect(html.body.toString()).toContain('example.com doesn’t open');
    const text = renderRefusal({ ...refused, page: 'forbidden' }, 'line');
    expect(text.headers).toContain('text/plain; charset=utf-8');
    expect(text.body.toString()).toBe('Not allowed\n');
    const json = renderRefusal({ ...refused, page: 'forbidden' }, 'json');
    expect([json.status, json.headers.includes('application/json; charset=UTF-8')]).toEqual([403, true]);
    expect(JSON.parse(json.body.toString())).toEqual({
      code: 'forbidden',
      message: expect.stringContaining('example.com doesn’t open'),
      status: 403,
      data: { status: 403, reference: expect.stringMatching(/^[0-9A-Z]{4}-[0-9A-Z]{4}$/) },
    });
  });

  it('has the right length and is not cached', () => {
    const { headers, body } = renderRefusal({ ...refused, page: 'blocked' }, 'page');
    expect(headers[headers.indexOf('Content-Length') + 1]).toBe(String(body.length));
    expect(headers[headers.indexOf('Cache-Control') + 1]).toBe('no-store');
  });

  it('names “This site” when the host is unknown', () => {
    for (const format of ['page', 'json'] as const) {
      const { body } = renderRefusal({ ...refused, host: '', page: 'forbidden' }, format);
      expect(body.toString()).toContain('This site doesn’t');
    }
  });

  it('says when to try again only when the site is busy', () => {
    for (const format of ['page', 'json', 'line'] as const) {
      expect(renderRefusal({ ...refused, page: 'busy' }, format).headers).toContain('Retry-After');
      expect(renderRefusal({ ...refused, page: 'unreachable' }, format).headers).not.toContain('Retry-After');
    }
  });
});
