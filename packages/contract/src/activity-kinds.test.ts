import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { activityKinds, type EventWords, eventSentence } from './activity-kinds.js';

const words = { kind: '', object: '', objectType: '', before: null, after: null };

describe('what registered users do, in words', () => {
  it('names every kind once', () => {
    const ids = activityKinds.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('has every kind that the connector writes', () => {
    const folder = new URL('../../connector/security-optimizer/includes/', import.meta.url);
    const names = readdirSync(folder).filter((name) => name.startsWith('class-activity-'));
    const source = names.map((name) => readFileSync(new URL(name, folder), 'utf8')).join('');
    const groups = [...new Set(activityKinds.map(({ id }) => id.split('.')[0]))].join('|');
    const written = [...source.matchAll(new RegExp(`'((?:${groups})\\.[a-z-]+)'`, 'g'))].map(([, kind]) => kind);
    expect(written.length).toBeGreaterThan(30);
    const known = new Set<string | undefined>(activityKinds.map(({ id }) => id));
    expect(written.filter((kind) => !known.has(kind))).toEqual([]);
  });

  it('tells what was changed, from what to what', () => {
    const event = {
      kind: 'user.role',
      object: 'editor-1',
      objectType: 'user',
      before: 'Editor',
      after: 'Administrator',
    };
    expect(eventSentence({ ...words, ...event })).toBe('Changed the role of “editor-1” from Editor to Administrator');
  });

  it('leaves the values out when they are not known', () => {
    const event = { kind: 'plugin.updated', object: 'My Tool', objectType: 'plugin', after: '1.1' };
    expect(eventSentence({ ...words, ...event })).toBe('Updated plugin “My Tool”');
  });

  it('calls an empty value nothing', () => {
    const event = { kind: 'option.changed', object: 'Tagline', objectType: 'option', before: '', after: 'Tea' };
    expect(eventSentence({ ...words, ...event })).toBe('Changed the setting “Tagline” from nothing to Tea');
  });

  it('says the type of content, translated', () => {
    const event = { kind: 'post.published', object: 'Hallo', objectType: 'page' };
    const german = (text: string) =>
      ({ page: 'Seite', 'Published {type} “{object}”': '{type} „{object}“ veröffentlicht' })[text] ?? text;
    expect(eventSentence({ ...words, ...event }, german)).toBe('Seite „Hallo“ veröffentlicht');
  });

  describe('in another language', () => {
    const german: Readonly<Record<string, string>> = {
      Timezone: 'Zeitzone',
      Editor: 'Redakteur',
      Author: 'Autor',
      Off: 'Aus',
      on: 'an',
      nothing: 'nichts',
      monday: 'Montag',
      'every address': 'jeder Adresse',
      '{from} to {to} every day': '{from} bis {to} täglich',
      'On until {to}': 'An bis {to}',
      'Reinstall all': 'Alle neu installieren',
      'It has begun.': 'Es hat begonnen.',
    };
    const said = (event: Partial<EventWords>) => eventSentence({ ...words, ...event }, (text) => german[text] ?? text);

    it.each([
      [{ kind: 'option.changed', object: 'Timezone', before: '', after: 'UTC' }, '“Zeitzone” from nichts to UTC'],
      [
        { kind: 'user.role', object: 'Editor', before: 'Author, Shop', after: 'Editor' },
        '“Editor” from Autor, Shop to Redakteur',
      ],
      [
        { kind: 'product.setting', object: 'Away Mode', before: 'Off', after: '22:00 to 06:00 every day' },
        'Aus to 22:00 bis 06:00 täglich',
      ],
      [
        { kind: 'product.setting', object: 'Pause', before: 'Off', after: 'On until 2026-11-21 09:05' },
        'to An bis 2026-11-21 09:05',
      ],
      [{ kind: 'product.setting', object: 'Away Mode', before: 'Off', after: 'monday' }, 'to Montag'],
      [{ kind: 'login.unlocked', object: 'every address' }, 'lock of jeder Adresse'],
      [
        { kind: 'product.action', object: 'Reinstall all. It has begun.' },
        'Ran Alle neu installieren. Es hat begonnen.',
      ],
    ])('says what WordPress and guard call something: %j', (event, part) => {
      expect(said(event)).toContain(part);
    });

    it('leaves names as they are, whatever they are called', () => {
      expect(said({ kind: 'user.renamed', object: 'Editor', before: 'Editor', after: 'on' })).toContain(
        '“Editor” to “on”',
      );
      expect(said({ kind: 'post.updated', object: 'Timezone', objectType: 'post' })).toContain('“Timezone”');
    });
  });

  it('puts names in as they are, even if they look like places', () => {
    const event = { kind: 'post.updated', object: '{type} <b>$&</b>', objectType: 'post' };
    expect(eventSentence({ ...words, ...event })).toBe('Updated post “{type} <b>$&</b>”');
  });

  it('shows a kind that it does not know by its id', () => {
    expect(eventSentence({ ...words, kind: 'shop.sold', object: 'Tea' })).toBe('shop.sold: Tea');
  });
});
