import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { formatPo, parsePo, readLanguages } from './catalogue.js';
import { checkTranslation } from './check-translation.js';
import { collectTexts } from './collect-texts.js';
import { compileJed, compileMo } from './compile.js';
import { findPhpTable, findPhpTexts } from './find-php-texts.js';
import { findScriptTexts } from './find-script-texts.js';
import { texts } from './main.js';
import { pseudoLocale } from './pseudo-locale.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const entry = (text: string, forms: string[], plural: string | null = null, files = ['a.tsx']) => ({
  ...{ text, plural, files, forms },
});

describe('the texts of a script', () => {
  const find = (source: string, how: 'calls' | 'sentences' = 'calls') =>
    findScriptTexts('a.tsx', source, how).map(({ text, plural }) => [text, plural]);

  it('are the arguments of the translate functions, with their plural, and also in pieces', () => {
    expect(
      find(`const a = <b title={__('One', 'd')}>{_n('%d day', '%d days', n, 'd')}</b>; __('x ' + 'y', 'd')`),
    ).toEqual([
      ['One', null],
      ['%d day', '%d days'],
      ['x y', null],
    ]);
    expect(find(`log('Not for people.')`)).toEqual([]);
  });

  it('are refused with file and line when they are not literals', () => {
    expect(() => find('__("One", "d");\n__(text, "d")')).toThrow('a.tsx:2: write out the text');
    expect(() => find('const = 1;')).toThrow('a.tsx: ');
  });

  it('are every sentence in files that do not translate, without texts for the log or a developer', () => {
    const source = `
      const LINKS = { title: 'Open', name: 'open-it', summary: 'For developers only.', inSentence: 'the link' };
      const row = { help: '10 or more within 1 hour.', label: '1 day', answer: 'This channel is off.', icon: 'key' };
      logger.warn({ event: 'x' }, 'A visit was lost.');
      if (bad) throw new Error('This cannot be.');
      const text = counted('One theme', '{count} themes', many) ?? worded('By {name}', {}) ?? 'It is saved.';`;
    expect(find(source, 'sentences')).toEqual([
      ['Open', null],
      ['the link', null],
      ['10 or more within 1 hour.', null],
      ['This channel is off.', null],
      ['One theme', '{count} themes'],
      ['By {name}', null],
      ['It is saved.', null],
    ]);
  });
});

describe('the texts of a PHP file', () => {
  it('are those of the product’s text domain, not those of WordPress', () => {
    const source = `<?php __( 'Who\\'s there', 'security-optimizer' ); __( 'Theirs' ); esc_html__( 'Two', 'security-optimizer' );
      \\_n( 'One day', '%d days', $n, 'security-optimizer' );`;
    expect(findPhpTexts('a.php', source).map(({ text, plural }) => [text, plural])).toEqual([
      ["Who's there", null],
      ['Two', null],
      ['One day', '%d days'],
    ]);
  });

  it('are refused with file and line when they are not literals', () => {
    expect(() => findPhpTexts('a.php', "<?php\n__( $text, 'security-optimizer' );")).toThrow('a.php:2: write out');
  });

  it('are the values of a table of names', () => {
    const source = `<?php class A { const OPTIONS = array( 'blogname' => 'Site Title' ); const OTHERS = array( 'a' => 'B' ); }`;
    expect(findPhpTable('a.php', source).map(({ text }) => text)).toEqual(['Site Title']);
  });
});

describe('a translation', () => {
  it.each([
    ['is missing', entry('Save', [])],
    ['is missing for other numbers', entry('%d day', ['%d Tag', ''], '%d days')],
    ['lost a placeholder', entry('Remove %s', ['Entfernen'])],
    ['has another placeholder', entry('By {name}', ['Von {user}'])],
    ['lost a tag', entry('<strong>No</strong>', ['Nein'])],
    ['ends with another space', entry('From ', ['Von'])],
  ])('is refused when it %s', (_name, wrong) => {
    expect(checkTranslation(wrong)).toHaveLength(1);
  });

  it('may change the order of placeholders, and omit the number from the singular', () => {
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

  it('is parsed as it was formatted', () => {
    expect(parsePo(formatPo({ header, entries }))).toEqual({ header, entries });
  });

  it('has a text with values by its code in the dashboard, and by itself when the dashboard contains it too', () => {
    const blocked = entry('{name} is blocked.', ['{name} ist blockiert.']);
    const failed = entry('{count} failed.', ['{count} fehlt.', '{count} fehlen.'], '{count} failed.', ['a', 'b']);
    const codes = [
      { code: 'blocked', text: blocked.text, plural: null },
      { code: 'failed', text: failed.text, plural: failed.plural },
    ];
    const compiled = compileJed('de_DE', { header, entries: [blocked, failed] }, 'dashboard', codes);
    const { '': _header, ...messages } = JSON.parse(compiled);
    expect(messages).toEqual({ blocked: blocked.forms, failed: failed.forms, [failed.text]: failed.forms });
  });

  it('contains for guard only what guard translates', () => {
    const page = entry('Blocked', ['Gesperrt'], null, ['packages/guard/src/pages/visitor-pages.ts']);
    const { '': own, ...messages } = JSON.parse(compileJed('de_DE', { header, entries: [...entries, page] }, 'guard'));
    expect(own).toEqual({ lang: 'de_DE', plural_forms: header['Plural-Forms'] });
    expect(messages).toEqual({ Blocked: ['Gesperrt'] });
    expect(() => compileJed('de_DE', { header, entries }, 'guard')).toThrow('no text that guard reads');
  });

  it('compiles to a MO file with the connector’s texts, which PHP reads by the format’s description', () => {
    const folder = mkdtempSync(join(tmpdir(), 'texts-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, 'a.mo'), compileMo({ header, entries }));
    // Magic number, count, and two tables of length and offset.
    const read = `$m=file_get_contents($argv[1]);$h=unpack('V7',$m);$o=[];for($i=0;$i<$h[3];$i++){
      $k=unpack('V2',substr($m,$h[4]+8*$i,8));$v=unpack('V2',substr($m,$h[5]+8*$i,8));
      $o[substr($m,$k[2],$k[1])]=substr($m,$v[2],$v[1]);}echo json_encode($o);`;
    const messages = JSON.parse(execFileSync('php', ['-r', read, join(folder, 'a.mo')], { encoding: 'utf8' }));
    expect(messages['%d day\0%d days']).toBe('%d Tag\0%d Tage');
    expect(Object.keys(messages)).toEqual(['', '%d day\0%d days']);
  });
});

describe('the catalogue of the product', () => {
  it('is up to date and complete in every language', async () => {
    expect(await texts(['--check'])).toBe(0);
  });

  it('has a German, a Spanish and an Italian translation', async () => {
    expect([...(await readLanguages(root)).keys()]).toEqual(['de_DE', 'es_ES', 'it_IT']);
  });

  it('has a pseudo-locale in which every text is changed, and keeps its placeholders and tags', async () => {
    const collected = await collectTexts(root);
    const messages: Record<string, string[]> = JSON.parse(pseudoLocale(collected));
    expect(collected.filter(({ text }) => messages[text]?.[0] === text)).toEqual([]);
    const translated = collected.map((text) => ({ ...text, forms: messages[text.text] ?? [] }));
    expect(translated.flatMap(checkTranslation)).toEqual([]);
  });
});
