import { describe, expect, it } from 'vitest';
import { median, medianOfPairs, percentile } from './statistics.js';

describe('the median', () => {
  it('is the value in the middle, whatever the order', () => expect(median([9, 1, 5])).toBe(5));
  it('of an even number of values is the mean of the two in the middle', () =>
    expect(median([4, 1, 3, 100])).toBe(3.5));
  it('of an empty list is an error', () => expect(() => median([])).toThrow());
});

describe('a percentile', () => {
  const hundred = Array.from({ length: 100 }, (_, i) => i + 1);
  it('is the nearest rank', () => {
    expect(percentile(hundred, 0.99)).toBe(99);
    expect(percentile(hundred, 0.5)).toBe(50);
    expect(percentile([7], 0.99)).toBe(7);
  });
});

describe('a comparison over rounds', () => {
  it('compares the results of the same round, so that a slow round affects both contenders', () => {
    // Half as fast in every round, although the machine was ten times slower in the second one.
    expect(medianOfPairs([50, 5, 60], [100, 10, 120], (a, b) => a / b)).toBe(0.5);
  });
  it('refuses rounds without both contenders', () => {
    expect(() => medianOfPairs([1, 2], [1], (a, b) => a / b)).toThrow();
  });
});
