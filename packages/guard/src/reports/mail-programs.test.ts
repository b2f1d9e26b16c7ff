import { describe, expect, it } from 'vitest';
import { mailElements } from '../../test/support/mail-elements.js';
import { longestFacts, reportFacts, reportSite } from '../../test/support/report-facts.js';
import { buildReport } from './build-report.js';
import { reportText } from './make-report.js';
import { renderReport } from './render-report.js';

/**
 * How mail clients treat HTML: Outlook renders with Word, Gmail removes style sheets, Apple Mail supports dark mode.
 */

const longest = buildReport(longestFacts, { ...reportSite, name: `${'w&"<'.repeat(50)}.example` });
const html = renderReport(longest);
const elements = mailElements(html);
const hidden = (element: (typeof elements)[number]) =>
  element.path.some(({ tag, style }) => tag === 'head' || style.get('display') === 'none');
const shown = elements.filter((element) => !hidden(element));

/**
 * Properties that Gmail keeps, and that Word renders or ignores without harm: rounded corners, maximum widths, and line
 * breaks (long names contain places to break).
 */
const KNOWN =
  /^(?:font-(?:family|size|weight)|line-height|color|background-color|(?:margin|padding)(?:-(?:top|right|bottom|left))?|border(?:-(?:top|bottom|collapse|radius))?|(?:max-)?width|height|text-decoration(?:-line)?|white-space|word-break|mso-[a-z-]+)$/;

describe('the HTML of a report', () => {
  it('sets the styles of each text in its own cell, since clients remove style sheets and Word’s tables inherit nothing', () => {
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

  it('uses nothing that Outlook or Gmail does not support', () => {
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

  it('marks its layout tables as such, and sets their widths and heights as attributes for Outlook', () => {
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

  it('stays below the 102 KB from which Gmail clips, however long all texts are', () => {
    expect(Buffer.byteLength(html)).toBeLessThan(80_000);
  });

  it('changes classes that exist, and no others, in sheets that Gmail accepts: short, and dark mode in a sheet of its own', () => {
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

  it('has its summary as the preview in lists of mails', () => {
    const preview = elements.find(({ style }) => style.get('display') === 'none');
    // The part that mail clients display; the rest is cut.
    expect(preview?.texts).toEqual([longest.summary.slice(0, 150)]);
    // Only invisible elements precede it.
    expect(
      elements
        .slice(0, elements.indexOf(preview as never))
        .flatMap(({ tag, texts }) => (tag === 'title' || tag === 'style' ? [] : texts)),
    ).toEqual([]);
  });
});

it.each([
  ['an ordinary week', reportFacts],
  ['a week with long values everywhere', longestFacts],
])('text and HTML have the same content for %s', (_name, facts) => {
  const report = buildReport(facts, reportSite);
  const visibleTexts = new Set(
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
    ...report.lists.flatMap(({ title, rows, footer }) => [
      ...[title, footer ?? ''],
      ...rows.flatMap(({ name, value }) => [name, value]),
    ]),
  ].filter((word) => word !== '');
  expect(words.length).toBeGreaterThan(30);
  for (const word of words as string[]) {
    expect(visibleTexts.has(word), `“${word}” in the HTML`).toBe(true);
    expect(text.includes(word), `“${word}” in the text`).toBe(true);
  }
  for (const note of [...report.notes, report.labels.why]) {
    expect([...visibleTexts].some((one) => one.includes(note))).toBe(true);
    expect(text).toContain(note);
  }
});
