import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openTestDatabase } from '../../test/support/database.js';
import { scratchFolder } from '../../test/support/scratch.js';
import { siteConfig } from '../../test/support/site-config.js';
import type { ApiError } from '../lib/api-error.js';
import { silentLogger } from '../lib/logger.js';
import { KeyedMutex } from '../lib/mutex.js';
import { createSettingsStore } from '../settings/settings-store.js';
import { normalEmail, readRecipients, recipientId, setRecipients } from './recipients.js';
import { lastSendTime } from './send-time.js';
import { createReportStore } from './sent-reports.js';

function refusal(entries: readonly string[], max = 5): unknown {
  try {
    return readRecipients(entries, max);
  } catch (error) {
    return (error as ApiError).fields;
  }
}

describe('the recipients of weekly reports', () => {
  it.each([
    ['owner@example.com', 'owner@example.com'],
    ['  Owner+Reports@Example.COM ', 'owner+reports@example.com'],
    ["o'neil@mail.example.com", "o'neil@mail.example.com"],
    ['owner@bücher.example', 'owner@xn--bcher-kva.example'],
    ['\u200eowner@example.com\u200b', 'owner@example.com'],
    ['ｏｗｎｅｒ＠ｅｘａｍｐｌｅ．ｃｏｍ', 'owner@example.com'],
    ['owner٢@example.com', 'owner2@example.com'],
  ])('%s is stored as %s', (text, email) => {
    expect(normalEmail(text)).toBe(email);
  });

  it.each([
    'owner',
    'owner@',
    '@example.com',
    'owner@example',
    'owner@192.0.2.1',
    'owner@[192.0.2.1]',
    'owner..x@example.com',
    '.owner@example.com',
    'owner@-example.com',
    'owner@exa_mple.com',
    'owner@example.com\r\nBcc: other@example.com',
    'owner@example.com, other@example.com',
    'Owner <owner@example.com>',
    '"owner"@example.com',
    `${'a'.repeat(65)}@example.com`,
    `owner@${'a'.repeat(60)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(63)}.example`,
    'owner@other@example.com',
    '\u202eowner@example.com',
    'оwner@example.com',
    'owner²@example.com',
  ])('%j is refused as an address', (text) => {
    expect(normalEmail(text)).toBeNull();
  });

  it('each invalid row is named by its position, with the text of the specification', () => {
    expect(refusal(['a@example.com', '', 'x', 'A@EXAMPLE.com', '\u200b '])).toEqual({
      1: 'This field is required.',
      2: 'Invalid email address.',
      4: 'This field is required.',
    });
  });

  it('are stored once when they are entered twice, in any letter case', () => {
    const twice = ['a@example.com', 'B@example.com', ' A@EXAMPLE.com', 'b@example.com'];
    expect(refusal(twice, 2)).toEqual(['a@example.com', 'b@example.com']);
  });

  it('are limited in number', () => {
    const many = ['a', 'b', 'c'].map((name) => `${name}@example.com`);
    expect(refusal(many, 3)).toEqual(many);
    expect(refusal(many, 2)).toMatchObject({ entries: { english: 'Enter at most 2 e-mail addresses.' } });
    expect(refusal([], 2)).toEqual([]);
  });

  it('are safe in a header as stored, and do not change when they are sent back', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.emailAddress(), fc.string({ unit: 'binary' })), (text) => {
        const email = normalEmail(text);
        if (email === null) return;
        expect(email).toMatch(/^[\x21-\x7e]{3,254}$/);
        expect(email).not.toMatch(/[<>,;:"()[\]\\ ]/);
        expect(normalEmail(email)).toBe(email);
      }),
    );
  });

  it('have ids that do not depend on the list', () => {
    const id = recipientId('owner@example.com');
    expect(id).toBe(recipientId('owner@example.com'));
    expect(Number.isSafeInteger(id)).toBe(true);
    expect(recipientId('other@example.com')).not.toBe(id);
  });
});

const site = siteConfig();
const DUE = lastSendTime('site', 'UTC', Date.UTC(2026, 10, 21));
const WEEK = 7 * 24 * 3600_000;

it('a recipient who is added right after a report was due gets the next one', async () => {
  const db = await openTestDatabase(await scratchFolder(), { file: 'g.sqlite' });
  onTestFinished(() => db.destroy());
  const sends = createReportStore(db);
  const now = { ms: DUE - 1 };
  const clock = () => now.ms;
  const change = {
    settings: createSettingsStore(db),
    pushPolicy: async () => ({}),
    apply: () => undefined,
    publish: () => undefined,
    mutex: new KeyedMutex(),
    clock,
    logger: silentLogger(),
  };
  const set = (...emails: string[]) =>
    setRecipients(
      { change, sends, timeZone: () => 'UTC', maxEmails: 5, clock },
      { site, actor: { id: 1, login: 'owner', address: null }, emails },
    );
  const claimed = async (email: string, slot: number) => (await sends.claim('site', email, slot, slot)) !== null;
  // Before this week's time of sending, so the report of last week was due long ago.
  await set('anna@example.com');
  now.ms = DUE + 60_000;
  await set('anna@example.com', 'ben@example.com');
  expect(await claimed('anna@example.com', DUE)).toBe(true);
  expect(await claimed('ben@example.com', DUE)).toBe(false);
  expect(await claimed('ben@example.com', DUE + WEEK)).toBe(true);
});
