import { expect, it } from 'vitest';
import { asksForReview, RATE_AFTER_MS } from './rate.js';

const due = { link: 'https://example.com/review', dismissed: false, firstStart: 1000, now: 1000 + RATE_AFTER_MS };

it('asks for a review from a week after the first start on', () => {
  expect(asksForReview(due)).toBe(true);
  expect(asksForReview({ ...due, now: due.now - 1 })).toBe(false);
});

it('never asks without an address, or once it was dismissed', () => {
  expect(asksForReview({ ...due, link: '' })).toBe(false);
  expect(asksForReview({ ...due, dismissed: true })).toBe(false);
});
