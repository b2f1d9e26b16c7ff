import { createHash, createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it, test } from 'vitest';
import {
  commandHeader,
  createMac,
  type GuardNote,
  guardHeader,
  hashPolicy,
  isSignedCronRequest,
  keyId,
  readCallHeader,
  readSignal,
} from './signature.js';

interface Vectors {
  readonly secret: string;
  readonly otherSecret: string;
  readonly keyIds: readonly { secret: string; keyId: string }[];
  readonly guardHeaders: {
    readonly accepted: readonly (Parameters<typeof guardHeader>[1] & {
      name: string;
      note?: GuardNote;
      header: string;
    })[];
  };
  readonly signals: readonly {
    name: string;
    requestId: string;
    policyHash: string | null;
    connectorVersion: string;
    flags: string;
    header: string;
  }[];
  readonly bareSignals: readonly { header: string }[];
  readonly commands: {
    readonly accepted: readonly (Parameters<typeof commandHeader>[1] & { name: string; header: string })[];
  };
  readonly cronCalls: {
    readonly now: number;
    readonly accepted: readonly { name: string; target: string; header: string }[];
    readonly refused: readonly { name: string; target: string; header: string }[];
  };
  readonly siteCalls: {
    readonly now: number;
    readonly accepted: readonly (SiteCall & { readonly nonce: string; readonly body: string })[];
    readonly refused: readonly SiteCall[];
  };
  readonly policies: readonly { policy: Record<string, string | number | boolean>; hash: string }[];
}

interface SiteCall {
  readonly name: string;
  readonly method: string;
  readonly route: string;
  readonly header: string;
}

const file = new URL('../../../connector/protocol-vectors.json', import.meta.url);
const vectors: Vectors = JSON.parse(readFileSync(file, 'utf8'));
const { secret, otherSecret } = vectors;

describe('the headers between guard and the connector', () => {
  it.each(vectors.keyIds)('identify the secret $keyId', (vector) => {
    expect(keyId(vector.secret)).toBe(vector.keyId);
  });

  it.each(vectors.guardHeaders.accepted)('carry the visitor’s address and scheme: $name', (vector) => {
    expect(guardHeader(secret, vector, vector.note)).toBe(vector.header);
  });

  it.each(vectors.commands.accepted)('prove a command: $name', (vector) => {
    expect(commandHeader(secret, vector)).toBe(vector.header);
  });

  const isOwn = ({ target, header }: { target: string; header: string }) =>
    isSignedCronRequest(secret, header, { method: 'POST', target }, vectors.cronCalls.now * 1000);

  const readCall = ({ header, ...call }: SiteCall) =>
    readCallHeader(secret, header, call, vectors.siteCalls.now * 1000);
  it.each(vectors.siteCalls.accepted)('accept a call that the site’s PHP signed: $name', ({ nonce, body, ...call }) => {
    const bodyHash = createHash('sha256').update(body).digest('hex');
    expect(readCall(call)).toEqual({ nonce, bodyHash });
  });
  it.each(vectors.siteCalls.refused)('reject a signed call: $name', (call) => {
    expect(readCall(call)).toBe(null);
  });

  it.each(vectors.cronCalls.accepted)('identify a cron request of WordPress itself: $name', (vector) => {
    expect(isOwn(vector)).toBe(true);
  });

  it.each(vectors.cronCalls.refused)(
    'do not accept a cron request as WordPress’s own when its proof is $name',
    (vector) => {
      expect(isOwn(vector)).toBe(false);
    },
  );

  it.each(vectors.policies)('hash a policy to $hash', (vector) => {
    expect(hashPolicy(vector.policy)).toBe(vector.hash);
  });

  it.each(vectors.signals)('carry a signal: $name', ({ header, requestId, ...expected }) => {
    expect(readSignal(secret, header, requestId)).toEqual({
      kind: 'ok',
      policyHash: expected.policyHash,
      connectorVersion: expected.connectorVersion,
      flags: expected.flags === '' ? '-' : expected.flags,
    });
  });
});

describe('a signal that cannot be trusted', () => {
  const [good] = vectors.signals as [Vectors['signals'][number]];
  const read = (value: string | undefined): string => readSignal(secret, value, good.requestId).kind;

  it('is missing when there is no header', () => {
    expect(read(undefined)).toBe('missing');
  });

  it('is kept when it was signed for another request, and invalid when its signature is wrong', () => {
    for (const { header } of vectors.signals) {
      expect(readSignal(secret, header, 'ffffffffffffffff')).toEqual({ kind: 'kept' });
      const forged = header.replace(/.$/, (end) => (end === '0' ? '1' : '0'));
      expect(readSignal(secret, forged, 'ffffffffffffffff').kind).toBe('invalid');
    }
  });

  it('is invalid when any character has changed', () => {
    for (let i = 0; i < good.header.length; i++) {
      const changed = good.header.slice(0, i) + (good.header[i] === '1' ? '2' : '1') + good.header.slice(i + 1);
      expect([changed, read(changed)]).not.toEqual([changed, 'ok']);
    }
  });

  it.each(['', ' ', '1', 'repeated', '1 zz', '2 9f3440ac', `${'a '.repeat(5000)}`, '1 9f3440ac extra'])(
    'is invalid: %j',
    (value) => {
      expect(read(value)).toBe('invalid');
    },
  );

  it('names the key when the connector holds another secret', () => {
    expect(readSignal(otherSecret, good.header, good.requestId)).toEqual({
      kind: 'other_secret',
      keyId: keyId(secret),
    });
    for (const { header } of vectors.bareSignals) {
      expect(readSignal(otherSecret, header, good.requestId)).toEqual({ kind: 'other_secret', keyId: keyId(secret) });
      expect(read(header)).toBe('invalid');
    }
  });
});

const expected = (key: string, text: string): string =>
  createHmac('sha256', Buffer.from(key, 'ascii')).update(text).digest('hex');

test('signing matches HMAC-SHA-256, for keys of every length up to a block and texts around block ends', () => {
  for (const keyLength of [0, 1, 31, 32, 63, 64]) {
    const key = '0123456789abcdef'.repeat(4).slice(0, keyLength);
    const mac = createMac(key);
    for (const length of [0, 1, 54, 55, 56, 63, 64, 65, 119, 120, 1000, 100_000]) {
      const text = 'guard-request\n'.repeat(8000).slice(0, length);
      expect(mac(text), `key of ${keyLength}, text of ${length}`).toBe(expected(key, text));
    }
  }
});

test('signing gives the MAC of RFC 4231, test case 2', () => {
  expect(createMac('Jefe')('what do ya want for nothing?')).toBe(
    '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
  );
});

test('signing encodes texts beyond ASCII as UTF-8', () => {
  const mac = createMac('k');
  for (const text of ['naïve', '日本語', '\u0080\u00ff', 'a\0b']) expect(mac(text)).toBe(expected('k', text));
});

test('signing with two keys alternately does not mix them', () => {
  const one = createMac('one');
  const two = createMac('two');
  const first = one('text');
  two('text');
  expect(one('text')).toBe(first);
  expect(two('text')).toBe(expected('two', 'text'));
});

test.each(['k'.repeat(65), 'schlüssel', 'a\n'])(
  'signing refuses a key that would give a wrong signature: %j',
  (key) => {
    expect(() => createMac(key)).toThrow(RangeError);
  },
);
