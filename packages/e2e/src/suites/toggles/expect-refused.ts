import { expect } from 'vitest';
import type { RawAnswer } from '../../http/raw.js';

/** The answer is a refusal, and holds no sign that WordPress did what was asked. */
export function expectRefused(answer: RawAnswer, sign: RegExp): void {
  expect.soft(answer.body).not.toMatch(sign);
  expect([400, 403, 404], `${answer.head.split('\r\n')[0]}\n${answer.body.slice(0, 300)}`).toContain(answer.status);
}
