import { describe, expect, it } from 'vitest';
import { createOwner } from './owner.js';

describe("the owner's password", () => {
  it('has 20 letters and digits and is another one each time', () => {
    const passwords = Array.from({ length: 50 }, () => createOwner().password);
    expect(new Set(passwords).size).toBe(50);
    for (const password of passwords) expect(password).toMatch(/^[a-zA-Z2-9]{20}$/);
  });
});
