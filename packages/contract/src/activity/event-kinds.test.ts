import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { englishMessages, type ServerMessage } from '../server-message.js';
import { serverMessage } from '../server-messages.js';
import { activityKinds, type EventValues, eventSentence } from './event-kinds.js';
import { toEventValue, toShortList } from './event-values.js';

const values = { kind: '', object: '', objectType: '', before: null, after: null };

describe('the sentence of an event', () => {
  it('uses each name of a kind once', () => {
    const ids = activityKinds.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('exists for every kind that the connector writes', () => {
    const folder = new URL('../../../connector/security-optimizer/includes/activity/', import.meta.url);
    const source = readdirSync(folder)
      .map((name) => readFileSync(new URL(name, folder), 'utf8'))
      .join('');
    const groups = [...new Set(activityKinds.map(({ id }) => id.split('.')[0]))].join('|');
    const written = [...source.matchAll(new RegExp(`'((?:${groups})\\.[a-z-]+)'`, 'g'))].map(([, kind]) => kind);
    expect(written.length).toBeGreaterThan(30);
    const known = new Set<string | undefined>(activityKinds.map(({ id }) => id));
    expect(written.filter((kind) => !known.has(kind))).toEqual([]);
  });

  it('names the changed object and the values before and after', () => {
    const event = {
      kind: 'user.role',
      object: 'editor-1',
      objectType: 'user',
      before: 'Editor',
      after: 'Administrator',
    };
    expect(eventSentence({ ...values, ...event })).toBe('Changed the role of “editor-1” from Editor to Administrator');
  });

  it('omits unknown values', () => {
    const event = { kind: 'plugin.updated', object: 'My Tool', objectType: 'plugin', after: '1.1' };
    expect(eventSentence({ ...values, ...event })).toBe('Updated plugin “My Tool”');
  });

  it.each([
    ['option.changed', 'Tagline', '', 'Tea', 'Set “Tagline” to Tea'],
    ['option.changed', 'Tagline', 'Tea', '', 'Emptied the setting “Tagline” (before: Tea)'],
    ['option.changed', 'Tagline', 'Tea', 'Cake', 'Changed the setting “Tagline” from Tea to Cake'],
    ['option.changed', 'Site Title', 'on', 'off', 'Changed the setting “Site Title” from on to off'],
    ['option.changed', 'Site Title', '', 'on', 'Set “Site Title” to on'],
    ['option.changed', 'Tagline', 'closed', '', 'Emptied the setting “Tagline” (before: closed)'],
    [
      'option.changed',
      'Tagline',
      'monday, tuesday',
      '2026-11-23 18:05',
      'Changed the setting “Tagline” from monday, tuesday to 2026-11-23 18:05',
    ],
    [
      'option.changed',
      'Homepage',
      'list.more 3 a',
      'paused.until x',
      'Changed the setting “Homepage” from list.more 3 a to paused.until x',
    ],
    ['option.changed', 'Anyone can register', 'off', 'on', 'Turned on the setting “Anyone can register”'],
    ['option.changed', 'Anyone can register', 'on', 'off', 'Turned off the setting “Anyone can register”'],
    ['product.setting', 'Disable XML-RPC', 'Off', 'On', 'Turned on “Disable XML-RPC” in Security Optimizer'],
    ['product.setting', 'Limit Login Attempts', '5', 'Off', 'Turned off “Limit Login Attempts” in Security Optimizer'],
    [
      'product.setting',
      'Limit Login Attempts',
      '3',
      '5',
      'Set “Limit Login Attempts” in Security Optimizer to 5 (before: 3)',
    ],
    ['product.setting', 'Away Mode', 'Off', 'monday', 'Set “Away Mode” in Security Optimizer to every Monday'],
    ['product.setting', 'Away Mode', 'monday', 'monday', 'Changed “Away Mode” in Security Optimizer'],
    [
      'product.setting',
      'Answer to the questions',
      'Not given',
      'Given',
      'Answered the questions about data and e-mails',
    ],
    ['product.setting', 'Pause', 'paused.until 2026-11-21 09:05', 'Off', 'Ended the pause of all protections'],
    [
      'product.setting',
      'Away Mode',
      'Off',
      'monday, saturday, sunday',
      'Set “Away Mode” in Security Optimizer to every Monday, Saturday and Sunday',
    ],
    [
      'product.setting',
      'Away Mode',
      'Off',
      toEventValue('away.period', '2026-12-24', '2026-12-24'),
      'Set “Away Mode” in Security Optimizer to 2026-12-24',
    ],
    ['option.changed', 'Link notifications', 'open', 'closed', 'Turned off the setting “Link notifications”'],
    ['option.changed', 'Link notifications', '', 'open', 'Turned on the setting “Link notifications”'],
    ['option.changed', 'Automatic updates', 'unset', 'disabled', 'Turned off the setting “Automatic updates”'],
    ['option.changed', 'Automatic updates', 'enabled', '', 'Turned off the setting “Automatic updates”'],
    [
      'option.changed',
      'Allow new registrations',
      'off',
      'user accounts',
      'Set “Allow new registrations” to user accounts',
    ],
    ['comment.status', 'Tea', 'unapproved', 'approved', 'Approved a comment on “Tea”'],
    ['comment.status', 'Tea', 'approved', 'spam', 'Marked a comment on “Tea” as spam'],
    ['comment.status', 'Tea', 'approved', 'seen', 'Changed a comment on “Tea” from approved to seen'],
    ['user.role', 'editor-1', '', 'Editor', 'Gave “editor-1” the role Editor'],
    ['user.role', 'editor-1', 'Editor', '', 'Took the role Editor from “editor-1”'],
  ])('describes the change %s %s from %j to %j in natural English', (kind, object, before, after, sentence) => {
    expect(eventSentence({ kind, object, objectType: '', before, after })).toBe(sentence);
  });

  it('shows the first values of a long list and counts the others', () => {
    const after = toShortList(['192.0.2.1', '192.0.2.2'], 12);
    const event = { kind: 'product.setting', object: 'Login Access', before: 'everyone', after };
    expect(eventSentence({ ...values, ...event })).toBe(
      'Set “Login Access” in Security Optimizer to 192.0.2.1, 192.0.2.2 and 12 more (before: everyone)',
    );
  });

  it('names the type of content in the reader’s language', () => {
    const event = { kind: 'post.published', object: 'Hallo', objectType: 'page' };
    const german = (text: string) =>
      ({ page: 'Seite', 'Published {type} “{object}”': '{type} „{object}“ veröffentlicht' })[text] ?? text;
    expect(eventSentence({ ...values, ...event }, { ...englishMessages, translate: german })).toBe(
      'Seite „Hallo“ veröffentlicht',
    );
  });

  describe('in another language', () => {
    const german: Readonly<Record<string, string>> = {
      Timezone: 'Zeitzone',
      Editor: 'Redakteur',
      Author: 'Autor',
      Off: 'Aus',
      on: 'an',
      nothing: 'nichts',
      Monday: 'Montag',
      'every {days}': 'jeden {days}',
      'every address': 'jeder Adresse',
      '{from} – {to} every day': '{from} bis {to} täglich',
      'Reinstall all': 'Alle neu installieren',
      'It has begun.': 'Es hat begonnen.',
    };
    const language = {
      ...englishMessages,
      translate: (text: string) => german[text] ?? text,
      time: (time: string) => `<${time}>`,
      message: ({ code, params }: ServerMessage) => `${code}:${String(params.count)}`,
    };
    const toSentence = (event: Partial<EventValues>) => eventSentence({ ...values, ...event }, language);

    it.each([
      [{ kind: 'option.changed', object: 'Timezone', before: '', after: 'UTC' }, '“Zeitzone” to UTC'],
      [{ kind: 'login.locked', after: '2026-11-21 09:05' }, 'until <2026-11-21 09:05> after'],
      [
        { kind: 'user.role', object: 'Editor', before: 'Author, Shop', after: 'Editor' },
        '“Editor” from Autor, Shop to Redakteur',
      ],
      [
        {
          kind: 'product.setting',
          object: 'Away Mode',
          before: 'Off',
          after: toEventValue('away.daily', '22:00', '06:00'),
        },
        'to <22:00> bis <06:00> täglich',
      ],
      [
        {
          kind: 'product.setting',
          object: 'Pause',
          before: 'Off',
          after: toEventValue('paused.until', '2026-11-21 09:05'),
        },
        'Paused all protections until <2026-11-21 09:05>',
      ],
      [{ kind: 'product.setting', object: 'Away Mode', before: 'Off', after: 'monday' }, 'to jeden Montag'],
      [{ kind: 'login.unlocked', object: 'every address' }, 'lock of jeder Adresse'],
      [
        { kind: 'product.action', object: 'Reinstall all', after: '["It has begun."]' },
        'Ran Alle neu installieren. Es hat begonnen.',
      ],
      [
        {
          kind: 'product.action',
          object: 'Reinstall all',
          after: JSON.stringify([
            serverMessage('plugins_clean', { count: 3 }),
            serverMessage('plugins_failed', { count: 1 }),
          ]),
        },
        'Ran Alle neu installieren. plugins_clean:3 plugins_failed:1',
      ],
      [{ kind: 'product.action', object: 'Reinstall all. It has begun.' }, 'Ran Reinstall all. It has begun.'],
      [{ kind: 'product.action', object: 'Reinstall all', after: 'not JSON' }, 'Ran Alle neu installieren'],
    ])('translates the names of WordPress and guard: %j', (event, part) => {
      expect(toSentence(event)).toContain(part);
    });

    it('does not translate names, even if they equal a term', () => {
      expect(toSentence({ kind: 'user.renamed', object: 'Editor', before: 'Editor', after: 'on' })).toContain(
        '“Editor” to “on”',
      );
      expect(toSentence({ kind: 'post.updated', object: 'Timezone', objectType: 'post' })).toContain('“Timezone”');
    });
  });

  it('inserts names unchanged, even if they look like placeholders', () => {
    const event = { kind: 'post.updated', object: '{type} <b>$&</b>', objectType: 'post' };
    expect(eventSentence({ ...values, ...event })).toBe('Updated post “{type} <b>$&</b>”');
  });

  it('shows an unknown kind by its id', () => {
    expect(eventSentence({ ...values, kind: 'shop.sold', object: 'Tea' })).toBe('shop.sold: Tea');
  });
});
