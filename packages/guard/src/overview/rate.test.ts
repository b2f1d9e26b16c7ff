import { expect, it } from 'vitest';
import { shouldAskForReview } from './overview-facts.js';

const RATE_AFTER_MS = 7 * 24 * 3600_000;
const due = {
  afterDays: 7,
  link: 'https://example.com/review',
  dismissed: false,
  firstStart: 1000,
  now: 1000 + RATE_AFTER_MS,
};

it('asks for a review from a week after the first start on', () => {
  expect(shouldAskForReview(due)).toBe(true);
  expect(shouldAskForReview({ ...due, now: due.now - 1 })).toBe(false);
});

it('asks after as many days as the provider says', () => {
  expect(shouldAskForReview({ ...due, now: due.firstStart, afterDays: 0 })).toBe(true);
  expect(shouldAskForReview({ ...due, afterDays: 8 })).toBe(false);
});

it('never asks without an address, or once it was dismissed', () => {
  expect(shouldAskForReview({ ...due, link: '' })).toBe(false);
  expect(shouldAskForReview({ ...due, dismissed: true })).toBe(false);
});
