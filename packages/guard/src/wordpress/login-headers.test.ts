import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';
import { contextHeader, type LoginContext, readLoginReport } from './login-headers.js';

interface Vectors {
  readonly secret: string;
  readonly contextHeaders: {
    readonly requestId: string;
    readonly accepted: readonly { name: string; context: LoginContext; header: string }[];
  };
  readonly loginHeaders: {
    readonly requestId: string;
    readonly accepted: readonly { name: string; report: object; header: string }[];
    readonly refused: readonly { name: string; header: string }[];
  };
}

const file = createRequire(import.meta.url).resolve('@security-optimizer/connector/protocol-vectors.json');
const { secret, contextHeaders, loginHeaders } = JSON.parse(readFileSync(file, 'utf8')) as Vectors;

describe('the headers of Login Security, by the vectors that both sides share', () => {
  for (const { name, context, header } of contextHeaders.accepted) {
    it(`writes the context: ${name}`, () => {
      expect(contextHeader(secret, contextHeaders.requestId, context)).toBe(header);
    });
  }
  it('writes no context that is too long for common web servers', () => {
    const path = `/${'"'.repeat(1023)}`;
    const devices = Array.from({ length: 32 }, (_, i) => 10 ** 14 + i);
    const all = { login: 'refuse', why: 'other-site', path, page: 'signup', devices, trusted: devices } as const;
    expect(contextHeader(secret, '00112233445566ff', all)?.length).toBeLessThan(8000);
    expect(contextHeader(secret, '00112233445566ff', { path: `/${'a'.repeat(4600)}` })).toBeNull();
  });
  for (const { name, report, header } of loginHeaders.accepted) {
    it(`reads the report: ${name}`, () => {
      expect(readLoginReport(secret, header, loginHeaders.requestId)).toEqual(report);
    });
  }
  for (const { name, header } of loginHeaders.refused) {
    it(`rejects the report: ${name}`, () => {
      expect(readLoginReport(secret, header, loginHeaders.requestId)).toBe('unreadable');
    });
  }
});
