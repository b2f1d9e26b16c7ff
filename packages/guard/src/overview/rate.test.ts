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

it('a review is requested from a week after the first start on', () => {
  expect(shouldAskForReview(due)).toBe(true);
  expect(shouldAskForReview({ ...due, now: due.now - 1 })).toBe(false);
});

it('a review is requested after the number of days in the configuration', () => {
  expect(shouldAskForReview({ ...due, now: due.firstStart, afterDays: 0 })).toBe(true);
  expect(shouldAskForReview({ ...due, afterDays: 8 })).toBe(false);
});

it('no review is requested without a link, or after it was dismissed', () => {
  expect(shouldAskForReview({ ...due, link: '' })).toBe(false);
  expect(shouldAskForReview({ ...due, dismissed: true })).toBe(false);
});
