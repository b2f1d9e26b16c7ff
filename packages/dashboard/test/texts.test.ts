import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { checkTranslation } from '../../../scripts/lib/texts/check-translation.mjs';
import { collectTexts } from '../../../scripts/lib/texts/collect-texts.mjs';
import { compileJed, compileMo } from '../../../scripts/lib/texts/compile.mjs';
import { findPhpTexts } from '../../../scripts/lib/texts/find-php-texts.mjs';
import { findScriptTexts } from '../../../scripts/lib/texts/find-script-texts.mjs';
import { readLanguages } from '../../../scripts/lib/texts/languages.mjs';
import { readPo, writePo } from '../../../scripts/lib/texts/po.mjs';
import { pseudoLocale } from '../../../scripts/lib/texts/pseudo-locale.mjs';
import { loadLocale, TEXT_DOMAIN } from '../src/i18n/locale.js';
import { _n, translate } from '../src/i18n/translate.js';

const root = join(fileURLToPath(import.meta.url), '../../../..');
const entry = (text: string, said: string[], plural: string | null = null, files = ['a.tsx']) => ({
  ...{ text, plural, files, said },
});

afterEach(() => loadLocale(null));

describe('the texts of a script', () => {
  const found = (source: string, how: 'calls' | 'sentences' = 'calls') =>
    findScriptTexts('a.tsx', source, how).map(({ text, plural }) => [text, plural]);

  it('are what is given to the translate functions, also with a plural or in pieces', () => {
    expect(
      found(`const a = <b title={__('One', 'd')}>{_n('%d day', '%d days', n, 'd')}</b>; __('x ' + 'y', 'd')`),
    ).toEqual([
      ['One', null],
      ['%d day', '%d days'],
      ['x y', null],
    ]);
    expect(found(`log('Not for people.')`)).toEqual([]);
  });

  it('are refused when they are not written out', () => {
    expect(() => found('__(text, "d")')).toThrow('a.tsx:1: write out the text');
  });

  it('are every sentence where the server speaks, without what is for the log or a developer', () => {
    const source = `
      const LINKS = { title: 'Open', name: 'open-it', summary: 'For developers only.' };
      logger.warn({ event: 'x' }, 'A visit was lost.');
      if (bad) throw new Error('This cannot be.');
      const said = counted('One theme', '{count} themes', many) ?? worded('By {name}', {}) ?? 'It is saved.';`;
    expect(found(source, 'sentences')).toEqual([
      ['Open', null],
      ['One theme', '{count} themes'],
      ['By {name}', null],
      ['It is saved.', null],
    ]);
  });
});

it('finds the texts of PHP that are ours, and none of WordPress', () => {
  const source = `<?php __( 'Who\\'s there', 'security-optimizer' ); __( 'Theirs' ); esc_html__( 'Two', 'security-optimizer' );`;
  expect(findPhpTexts('a.php', source).map(({ text }) => text)).toEqual(["Who's there", 'Two']);
});

describe('a translation', () => {
  it.each([
    ['is missing', entry('Save', [])],
    ['is missing for other numbers', entry('%d day', ['%d Tag', ''], '%d days')],
    ['lost a placeholder', entry('Remove %s', ['Entfernen'])],
    ['has another placeholder', entry('By {name}', ['Von {user}'])],
    ['lost a tag', entry('<strong>No</strong>', ['Nein'])],
  ])('is refused when it %s', (_name, wrong) => {
    expect(checkTranslation(wrong)).toHaveLength(1);
  });

  it('may turn placeholders around, and leave the number out where it is one', () => {
    expect(checkTranslation(entry('%1$s of %2$s', ['%2$s: %1$s']))).toEqual([]);
    expect(checkTranslation(entry('One theme', ['Un tema', '{count} temas'], '{count} themes'))).toEqual([]);
  });
});

describe('a catalogue', () => {
  const header = {
    Language: 'de_DE',
    'Content-Type': 'text/plain; charset=utf-8',
    'Plural-Forms': 'nplurals=2; plural=(n != 1);',
  };
  const entries = [
    entry('Say "yes"\nor \\ no', ['Sag „ja“\noder \\ nein']),
    entry('%d day', ['%d Tag', '%d Tage'], '%d days', ['a.tsx', 'b.php']),
  ];

  it('is read as it was written', () => {
    expect(readPo(writePo(entries, header))).toEqual({ header, entries });
  });

  it('speaks in the dashboard once it is compiled', () => {
    loadLocale(JSON.parse(compileJed('de_DE', { header, entries }, 'dashboard')));
    expect(_n('%d day', '%d days', 2, TEXT_DOMAIN)).toBe('%d Tage');
    expect(_n('%d day', '%d days', 1, TEXT_DOMAIN)).toBe('%d Tag');
  });

  it('has a text with values by its code in the dashboard', () => {
    const blocked = entry('{name} is blocked.', ['{name} ist blockiert.']);
    const counted = entry('{count} failed.', ['{count} fehlt.', '{count} fehlen.'], '{count} failed.');
    const codes = [
      { code: 'blocked', text: blocked.text },
      { code: 'failed', text: counted.text },
    ];
    const compiled = compileJed('de_DE', { header, entries: [blocked, counted] }, 'dashboard', codes);
    const { '': _own, ...messages } = JSON.parse(compiled);
    expect(messages).toEqual({ blocked: blocked.said, failed: counted.said });
  });

  it('is a file that gettext of PHP’s own kind can read', () => {
    const folder = mkdtempSync(join(tmpdir(), 'texts-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, 'a.mo'), compileMo({ header, entries }));
    // The format by its description: magic number, count, and two tables of length and offset.
    const read = `$m=file_get_contents($argv[1]);$h=unpack('V7',$m);$o=[];for($i=0;$i<$h[3];$i++){
      $k=unpack('V2',substr($m,$h[4]+8*$i,8));$v=unpack('V2',substr($m,$h[5]+8*$i,8));
      $o[substr($m,$k[2],$k[1])]=substr($m,$v[2],$v[1]);}echo json_encode($o);`;
    const said = JSON.parse(execFileSync('php', ['-r', read, join(folder, 'a.mo')], { encoding: 'utf8' }));
    expect(said['%d day\0%d days']).toBe('%d Tag\0%d Tage');
    expect(Object.keys(said)).toEqual(['', '%d day\0%d days']);
  });
});

describe('the catalogue of the product', () => {
  it('is up to date and whole in every language', () => {
    expect(() =>
      execFileSync(process.execPath, ['scripts/extract-texts.mjs', '--check'], { cwd: root, stdio: 'pipe' }),
    ).not.toThrow();
  });

  it('is there in German, Spanish and Italian', async () => {
    expect([...(await readLanguages(root)).keys()]).toEqual(['de_DE', 'es_ES', 'it_IT']);
  });

  it('has a form in the language of the layout tests in which no text stays as it is', async () => {
    const texts = await collectTexts(root);
    loadLocale(JSON.parse(pseudoLocale(texts)));
    const same = texts.filter(({ text }) => translate(text) === text);
    expect(same).toEqual([]);
    expect(texts.map((text) => entry(text.text, [translate(text.text)])).flatMap(checkTranslation)).toEqual([]);
  });
});
