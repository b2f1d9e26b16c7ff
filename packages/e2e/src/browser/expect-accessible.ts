import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { accessFaults } from './access-faults.js';

/** Axe finds nothing in the part of the page that the selector names; ours, unless told otherwise. */
export async function expectAccessible(page: Page, part = '.so'): Promise<void> {
  expect(await accessFaults(page, part)).toEqual([]);
}
