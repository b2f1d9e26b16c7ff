import { describe, expect, it } from 'vitest';
import { mailElements } from '../../test/support/mail-elements.js';
import { longestFacts, reportFacts, reportSite } from '../../test/support/report-facts.js';
import { buildReport } from './build-report.js';
import { reportText } from './make-report.js';
import { renderReport } from './render-report.js';

/** What mail programs do with HTML: Word draws Outlook's, Gmail takes style sheets away, Apple Mail knows dark mode. */

const longest = buildReport(longestFacts, { ...reportSite, name: `${'w&"<'.repeat(50)}.example` });
const html = renderReport(longest);
const elements = mailElements(html);
const hidden = (element: (typeof elements)[number]) =>
  element.path.some(({ tag, style }) => tag === 'head' || style.get('display') === 'none');
const shown = elements.filter((element) => !hidden(element));

/**
 * Kept by Gmail, and drawn by Word or left out without harm: rounded corners, widths at most, and where a line breaks;
 * names that are long hold places to break.
 */
const KNOWN =
  /^(?:font-(?:family|size|weight)|line-height|color|background-color|(?:margin|padding)(?:-(?:top|right|bottom|left))?|border(?:-(?:top|bottom|collapse|radius))?|(?:max-)?width|height|text-decoration(?:-line)?|white-space|word-break|mso-[a-z-]+)$/;

describe('the HTML of a report', () => {
  it('has the looks of each text in its own cell, since sheets are taken away and Word’s tables inherit nothing', () => {
    const written = shown.filter(({ texts }) => texts.length > 0);
    expect(written.length).toBeGreaterThan(60);
    for (const { path, texts } of written) {
      const cell = path.findIndex(({ tag }) => tag === 'td');
      const own = new Set(path.slice(0, cell + 1).flatMap(({ style }) => [...style.keys()]));
      for (const needed of ['font-size', 'line-height', ...(texts[0] === '\u00a0' ? [] : ['font-family', 'color'])]) {
        expect(own.has(needed), `${needed} of “${texts[0]}”`).toBe(true);
      }
    }
  });

  it('uses nothing that Outlook or Gmail does not know', () => {
    for (const { tag, style } of shown) {
      expect(tag).toMatch(/^(?:html|body|table|tbody|tr|td|h1|h2|p|div|span|a)$/);
      for (const [name, value] of style) {
        const button = name === 'display' && value === 'inline-block';
        expect(KNOWN.test(name) || button, `${name} of ${tag}`).toBe(true);
        expect(value).toMatch(/^(?!.*(?:url|calc|var)\(|.*\d(?:r?em|vw|vh))/);
      }
    }
    for (const { tag, style } of shown.filter(({ tag }) => tag === 'table')) {
      expect(
        [...style.keys()].filter((name) => /^(?:padding|margin)/.test(name)),
        tag,
      ).toEqual([]);
    }
  });

  it('arranges with tables that say so, and gives Outlook their widths and heights as attributes', () => {
    const tables = shown.filter(({ tag }) => tag === 'table');
    expect(tables.length).toBeGreaterThan(20);
    for (const { attributes } of tables) {
      expect(attributes).toMatchObject({ role: 'presentation', cellpadding: '0', cellspacing: '0', border: '0' });
      expect(attributes.width).toMatch(/^\d+%?$/);
    }
    const bars = shown.filter(({ style }) => style.has('height'));
    expect(bars).toHaveLength(21);
    for (const { attributes, style } of bars) {
      expect(`${attributes.height}px`).toBe(style.get('height'));
      expect(style.get('background-color')).toMatch(/^#[0-9a-f]{6}$/);
    }
  });

  it('stays below the 102 KB after which Gmail cuts, however long everything gets', () => {
    expect(Buffer.byteLength(html)).toBeLessThan(80_000);
  });

  it('turns what stands in it, and nothing else, in sheets that Gmail takes: short, and dark mode by itself', () => {
    const sheets = elements.filter(({ tag }) => tag === 'style').map(({ texts }) => texts.join(''));
    expect(sheets).toHaveLength(2);
    const [narrow, dark] = sheets as [string, string];
    const used = new Set(shown.flatMap(({ attributes }) => attributes.class?.split(' ') ?? []));
    const turned = new Set(sheets.flatMap((sheet) => [...sheet.matchAll(/\.([a-z][\w-]*)/g)].map(([, name]) => name)));
    expect([...turned].sort()).toEqual([...used].sort());
    for (const sheet of sheets) expect(sheet.length).toBeLessThan(8192);
    expect(narrow).not.toMatch(/color-scheme|:root/);
    expect(dark).toMatch(/:root\{color-scheme:light dark;.*@media \(prefers-color-scheme:dark\)\{/);
    const names = elements.filter(({ tag }) => tag === 'meta').map(({ attributes }) => attributes.name);
    expect(names).toEqual(expect.arrayContaining(['color-scheme', 'supported-color-schemes']));
  });

  it('is shown in lists of mails by its summary', () => {
    const preview = elements.find(({ style }) => style.get('display') === 'none');
    // As much of it as lists show; React Email cuts the rest.
    expect(preview?.texts).toEqual([longest.summary.slice(0, 150)]);
    // Nothing but what cannot be seen stands before it.
    expect(
      elements
        .slice(0, elements.indexOf(preview as never))
        .flatMap(({ tag, texts }) => (tag === 'title' || tag === 'style' ? [] : texts)),
    ).toEqual([]);
  });
});

it.each([
  ['an ordinary week', reportFacts],
  ['a week in which everything is long', longestFacts],
])('text and HTML say the same of %s', (_name, facts) => {
  const report = buildReport(facts, reportSite);
  const said = new Set(
    mailElements(renderReport(report)).flatMap(({ texts, attributes }) => [
      ...texts.map((text) => text.trim()),
      ...(attributes['aria-label'] === undefined ? [] : [attributes['aria-label']]),
    ]),
  );
  const text = reportText(report);
  const words = [
    ...[report.headline, report.summary, report.period],
    ...report.tasks.flatMap(({ title, text, button }) => [title, text, button]),
    ...report.figures.flatMap(({ label, value, compared }) => [label, value, compared]),
    ...report.days.map((day) => day.words),
    ...report.lists.flatMap(({ title, rows, foot }) => [
      ...[title, foot ?? ''],
      ...rows.flatMap(({ name, value }) => [name, value]),
    ]),
  ].filter((word) => word !== '');
  expect(words.length).toBeGreaterThan(30);
  for (const word of words as string[]) {
    expect(said.has(word), `“${word}” in the HTML`).toBe(true);
    expect(text.includes(word), `“${word}” in the text`).toBe(true);
  }
  for (const note of [...report.notes, report.labels.why]) {
    expect([...said].some((one) => one.includes(note))).toBe(true);
    expect(text).toContain(note);
  }
});
