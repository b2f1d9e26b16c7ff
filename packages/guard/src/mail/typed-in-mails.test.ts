import { expect, it } from 'vitest';
import { mailServer } from '../../test/support/mail-server.js';
import { siteConfig } from '../../test/support/site-config.js';
import { composeMail } from '../alerts/compose-mail.js';
import type { Alert } from '../alerts/describe-alert.js';
import { english } from '../i18n/language.js';
import { loginUrlNotice, twoFactorNotice } from '../two-factor/team-mails.js';
import type { Notice } from './notice-mail.js';
import { renderNotice } from './notice-mail.js';
import { createSmtpMailer } from './smtp-mailer.js';

const NOON = Date.UTC(2026, 10, 21, 14);
const ANNA = 'anna@example.com';
const site = {
  ...{ name: 'example.com', url: 'https://example.com', language: english, timeZone: 'Europe/Berlin' },
  page: (name: string) => `https://example.com/wp-admin/${name}`,
  redact: (text: string) => text,
};
/** Typed texts, and how they are displayed if that differs. */
const TYPED: readonly (readonly [typed: string, shown?: string])[] = [
  ['<b>&amp; "x"</b>'],
  ['Tom & Jerry &lt;script&gt; &amp;amp;'],
  ['"quotes" \'single\' O’Reilly \\ \\n'],
  ['<script>alert(1)</script><img src=x onerror=alert(1)>'],
  ['=cmd() %s %1$s {{name}} {site} $& [x](y)'],
  ['=?utf-8?B?QmNjOiBh?= =E2=80=AE'],
  ['😀 👩‍👩‍👧 𝒳 שלום'],
  ['evil\u202egpj.exe \u2066x\u2069', 'evil\\u202egpj.exe \\u2066x\\u2069'],
  ['own\u200ber\ufeff', 'own\\u200ber\\ufeff'],
  ['\x1b[31mred\x07\0', '\\u001b[31mred\\u0007\\u0000'],
  ['a\r\nBcc: b@example.com\r\n\r\nbody', 'a\\u000d\\u000aBcc: b@example.com\\u000d\\u000a\\u000d\\u000abody'],
  ['a\tb\u2028c', 'a\\u0009b\\u2028c'],
  ['long '.repeat(2000), `${'long '.repeat(2000).slice(0, 79)}…`],
];

/** Returns the text of an HTML document as a mail client displays it. */
function htmlText(html: string): string {
  const named: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"' };
  return html
    .replace(/<[^>]*>/g, '')
    .replace(/&(?:#x([0-9a-f]+)|(\w+));/gi, (match, code: string | undefined, name: string) =>
      code === undefined ? (named[name] ?? match) : String.fromCodePoint(Number.parseInt(code, 16)),
    );
}

function fromQuoted(text: string, charset: BufferEncoding = 'utf8'): string {
  const bytes = text.replace(/=([0-9A-F]{2})/g, (_match, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
  return Buffer.from(bytes, 'latin1').toString(charset);
}

/** Parses a mail as mail clients do: folded headers (RFC 5322), encoded words (RFC 2047), and parts (RFC 2045). */
function readMail(message: string) {
  const split = (entity: string) => {
    const end = entity.indexOf('\r\n\r\n');
    const lines = entity
      .slice(0, end)
      .replace(/\r\n[ \t]+/g, ' ')
      .split('\r\n');
    const headers = lines.map((line) => [
      line.slice(0, line.indexOf(':')).toLowerCase(),
      line.replace(/^[^:]*: ?/, ''),
    ]);
    return { headers, get: Object.fromEntries(headers) as Record<string, string>, body: entity.slice(end + 4) };
  };
  const { headers, get, body } = split(message);
  const boundary = /boundary="([^"]+)"/.exec(get['content-type'] ?? '')?.[1] ?? '';
  const parts = body
    .split(`--${boundary}`)
    .slice(1, -1)
    .map((part) => {
      const { get: about, body: encoded } = split(part.replace(/^\r\n/, ''));
      const coding = about['content-transfer-encoding'];
      const content =
        coding === 'base64'
          ? Buffer.from(encoded, 'base64').toString('utf8')
          : coding === 'quoted-printable'
            ? fromQuoted(encoded.replace(/=\r\n/g, ''))
            : encoded;
      return [about['content-type']?.split(';')[0], content] as const;
    });
  const words = (get.subject ?? '').replace(/\?=\s+=\?/g, '?==?');
  const subject = words.replace(/=\?utf-8\?([qb])\?([^?]*)\?=/gi, (_match, kind: string, word: string) =>
    kind.toLowerCase() === 'b'
      ? Buffer.from(word, 'base64').toString('latin1')
      : fromQuoted(word.replaceAll('_', ' '), 'latin1'),
  );
  const isEncoded = subject !== words;
  return {
    names: headers.map(([name]) => name),
    subject: isEncoded ? Buffer.from(subject, 'latin1').toString('utf8') : subject,
    ...{ text: Object.fromEntries(parts)['text/plain'] ?? '', html: Object.fromEntries(parts)['text/html'] ?? '' },
  };
}

/** Sends a notice to a real mail server, and parses the received mail. */
async function arrived(notice: Notice) {
  const { server, received } = await mailServer();
  const mail = { ...renderNotice(notice, english), to: ANNA };
  expect(await createSmtpMailer(server).send(siteConfig(), mail)).toEqual({ kind: 'sent' });
  expect(received).toMatchObject([{ to: [ANNA] }]);
  return readMail(received[0]?.message ?? '');
}

function expectNothingRuns({ names, subject, text, html }: Awaited<ReturnType<typeof arrived>>) {
  expect(names.filter((name) => name === 'bcc' || name === 'cc')).toEqual([]);
  expect(names.filter((name) => name === 'subject' || name === 'to')).toHaveLength(2);
  expect(html).not.toMatch(/<(?:script|img|b)\b|onerror=alert\(1\)>/);
  for (const shown of [subject, text.replace(/[\r\n]/g, '')]) {
    expect(shown).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
  }
}

it.each(TYPED)(
  '%j is displayed correctly in the mail of an alert, in subject, text and HTML',
  async (typed, shown = typed) => {
    const alert = {
      ...{ kind: 'software-added', uid: 'u', at: NOON, by: typed, address: '192.0.2.1' },
      ...{ software: 'plugin', name: typed, action: 'installed' },
    } as Alert;
    const { notice } = composeMail([alert], [], site, { email: ANNA, perHour: 4, now: NOON });
    const mail = await arrived(notice);
    expectNothingRuns(mail);
    const headline = `The plugin ${shown} was installed`;
    expect(mail.subject.replace('=\u2060?', '=?')).toBe(`example.com: ${headline}`);
    for (const part of [mail.text, htmlText(mail.html)]) expect(part).toContain(headline);
    expect(mail.text.replaceAll('\r\n', '\n')).toContain(`By: ${shown}\n`);
    expect(htmlText(mail.html)).toContain(`By${shown}`);
  },
);

it.each(TYPED)('%j is displayed correctly in a mail of several alerts', async (typed, shown = typed) => {
  const alerts = ['one', 'two'].map(
    (uid) => ({ kind: 'new-administrator', uid, at: NOON, by: typed, login: typed, address: null }) as unknown as Alert,
  );
  const added = { ...alerts[1], kind: 'software-added', software: 'theme', name: typed, action: 'activated' } as Alert;
  const { notice } = composeMail([alerts[0] as Alert, added], [], site, { email: ANNA, perHour: 4, now: NOON });
  const mail = await arrived(notice);
  expectNothingRuns(mail);
  for (const part of [mail.text, htmlText(mail.html)]) expect(part).toContain(`The theme ${shown} was switched on`);
});

it.each(TYPED)(
  '%j is displayed correctly in mails to the team, as the name of the sender',
  async (typed, shown = typed) => {
    const deps = { mailer: createSmtpMailer({} as never), language: english, timeZone: 'Europe/Berlin', now: NOON };
    const facts = { login: 'https://example.com/door', actor: { id: 1, login: typed, ip: '192.0.2.1' } as never };
    for (const make of [loginUrlNotice, twoFactorNotice]) {
      const mail = await arrived(make(deps, facts));
      expectNothingRuns(mail);
      for (const part of [mail.text, htmlText(mail.html)]) expect(part).toContain(`${shown} sent this`);
    }
  },
);
