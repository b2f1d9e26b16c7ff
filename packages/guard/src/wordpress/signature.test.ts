import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { commandHeader, type GuardNote, guardHeader, keyId, policyHash, readSignal } from './signature.js';

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
  readonly policies: readonly { policy: Record<string, string | number | boolean>; hash: string }[];
}

const file = new URL('../../../connector/protocol-vectors.json', import.meta.url);
const vectors: Vectors = JSON.parse(readFileSync(file, 'utf8'));
const { secret, otherSecret } = vectors;

describe('the headers between guard and the connector', () => {
  it.each(vectors.keyIds)('names the secret $keyId', (vector) => {
    expect(keyId(vector.secret)).toBe(vector.keyId);
  });

  it.each(vectors.guardHeaders.accepted)('tells who is visiting: $name', (vector) => {
    expect(guardHeader(secret, vector, vector.note)).toBe(vector.header);
  });

  it.each(vectors.commands.accepted)('proves a command: $name', (vector) => {
    expect(commandHeader(secret, vector)).toBe(vector.header);
  });

  it.each(vectors.policies)('hashes a policy to $hash', (vector) => {
    expect(policyHash(vector.policy)).toBe(vector.hash);
  });

  it.each(vectors.signals)('reads a signal: $name', ({ header, requestId, ...said }) => {
    expect(readSignal(secret, header, requestId)).toEqual({
      kind: 'ok',
      policyHash: said.policyHash,
      connectorVersion: said.connectorVersion,
      flags: said.flags === '' ? '-' : said.flags,
    });
  });
});

describe('a signal that cannot be believed', () => {
  const [good] = vectors.signals as [Vectors['signals'][number]];
  const read = (value: string | undefined): string => readSignal(secret, value, good.requestId).kind;

  it('is missing when there is no header', () => {
    expect(read(undefined)).toBe('missing');
  });

  it('is invalid when it answers another request', () => {
    expect(readSignal(secret, good.header, 'ffffffffffffffff').kind).toBe('invalid');
  });

  it('is invalid once any one character is changed', () => {
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
