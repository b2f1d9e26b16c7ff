import { describe, expect, it } from 'vitest';
import { judgeLocation, parseReportedFolder, toNamedPath } from './must-use-folder.js';

const MARKER = 'a'.repeat(32);
const print = (...parts: readonly string[]) =>
  `\n${MARKER} ${parts.map((part) => Buffer.from(part).toString('base64')).join(' ')} ${MARKER}\n`;
const standard = ['/site/wp/wp-content/mu-plugins', '/site/wp/wp-content/mu-plugins'] as const;

describe('the folder that WordPress’s own configuration reports', () => {
  it('is found among other output of the configuration', () => {
    const noise = `<html>\n${MARKER}\nNotice: on\n${'b'.repeat(32)} eA== ${'b'.repeat(32)}\n`;
    expect(
      parseReportedFolder(
        `${noise}${print('/site/content/mu-plugins', '/site/content/mu-plugins', ...standard)}</html>`,
        MARKER,
      ),
    ).toEqual({ muPluginsDir: '/site/content/mu-plugins', isDefault: false });
  });

  it('is the usual folder in any spelling, and through a link', () => {
    const variant = print('/site/wp/./wp-content//mu-plugins/', '/elsewhere/mu-plugins', ...standard);
    expect(parseReportedFolder(variant, MARKER)?.isDefault).toBe(true);
    const linked = print('/site/content/mu-plugins', '/shared/mu-plugins', standard[0], '/shared/mu-plugins');
    expect(parseReportedFolder(linked, MARKER)).toEqual({ muPluginsDir: '/shared/mu-plugins', isDefault: true });
  });

  it.each([
    ['nothing', ''],
    ['another marker', print('/a', '/a', ...standard).replaceAll(MARKER, 'b'.repeat(32))],
    ['an incomplete result', print('/a', '/a', ...standard).slice(0, -20)],
    ['a relative path', print('content/mu-plugins', '/site/content/mu-plugins', ...standard)],
    ['a folder that does not exist', print('/gone/content/mu-plugins', '', ...standard)],
    ['a path with terminal control characters', print('/a\u001b[2J', '/a\u001b[2J', ...standard)],
    ['a path that is not text', `\n${MARKER} L/8= L/8= L2E= L2E= ${MARKER}\n`],
    ['a path that is too long', print(`/${'a'.repeat(5000)}`, '/a', ...standard)],
  ])('is null for %s', (_what, output) => {
    expect(parseReportedFolder(output, MARKER)).toBeNull();
  });
});

describe('whether the connector is where WordPress loads it from', () => {
  const facts = { wordpressDir: '/site/wp', muPluginsDir: '/site/wp/wp-content/mu-plugins', reported: null } as const;
  const elsewhere = '/site/content/mu-plugins';
  const [none, without] = [{ kind: 'none' }, { kind: 'without-connector' }] as const;
  const signed = (wordpress: string, connector: string) =>
    ({ kind: 'signed', folders: { wordpress, connector } }) as const;

  it('is confirmed by its response', () => {
    expect(judgeLocation({ ...facts, response: signed('/site/wp/', facts.muPluginsDir) })).toEqual({
      kind: 'confirmed',
    });
    expect(judgeLocation({ ...facts, response: { kind: 'signed', folders: null } })).toEqual({ kind: 'confirmed' });
  });

  it('is confirmed by its response even when the command line of PHP reports another folder', () => {
    const response = signed('/site/wp', facts.muPluginsDir);
    expect(judgeLocation({ ...facts, reported: elsewhere, response })).toEqual({ kind: 'confirmed' });
  });

  it('is denied when another copy for the same WordPress responds', () => {
    expect(judgeLocation({ ...facts, response: signed('/site/wp', elsewhere) })).toEqual({
      kind: 'wrong',
      folder: elsewhere,
    });
  });

  it('is confirmed in a container and from another release, where paths differ', () => {
    const response = signed('/var/www/html', '/var/www/html/wp-content/mu-plugins');
    expect(judgeLocation({ ...facts, response })).toEqual({ kind: 'confirmed' });
  });

  it('is denied when it does not respond and the configuration names another folder', () => {
    for (const response of [none, without]) {
      expect(judgeLocation({ ...facts, reported: elsewhere, response })).toEqual({ kind: 'wrong', folder: elsewhere });
    }
  });

  it('stays open when the configuration names no other folder', () => {
    for (const reported of [null, facts.muPluginsDir]) {
      expect(judgeLocation({ ...facts, reported, response: none })).toEqual({ kind: 'unverified' });
      expect(judgeLocation({ ...facts, reported, response: without })).toEqual({ kind: 'missing' });
    }
  });
});

describe('the path of a folder in every release', () => {
  it.each([
    ['/srv/current/web/wp', '/srv/releases/7/web/wp', '/srv/current/web/app/mu-plugins'],
    ['/srv/current', '/srv/releases/7', '/srv/current/web/app/mu-plugins'],
    // Where the link spans more than the common end of both paths, no such path can be derived.
    ['/srv/current', '/srv/releases/7/web/wp', '/srv/releases/7/web/app/mu-plugins'],
    ['/srv/releases/7/web/wp', '/srv/releases/7/web/wp', '/srv/releases/7/web/app/mu-plugins'],
    ['/other/web/wp', '/web/wp', '/srv/releases/7/web/app/mu-plugins'],
  ])('of a WordPress named %s that is %s is %s', (named, wordpressDir, path) => {
    expect(toNamedPath('/srv/releases/7/web/app/mu-plugins', { named, wordpressDir })).toBe(path);
  });
});
