import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { activityKinds, eventSentence } from './activity-kinds.js';

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

  it('puts names in as they are, even if they look like places', () => {
    const event = { kind: 'post.updated', object: '{type} <b>$&</b>', objectType: 'post' };
    expect(eventSentence({ ...words, ...event })).toBe('Updated post “{type} <b>$&</b>”');
  });

  it('shows a kind that it does not know by its id', () => {
    expect(eventSentence({ ...words, kind: 'shop.sold', object: 'Tea' })).toBe('shop.sold: Tea');
  });
});
