import { describe, expect, it } from 'vitest';
import { median, medianOfPairs, percentile } from './statistics.js';

describe('the median', () => {
  it('is the value in the middle, whatever the order', () => expect(median([9, 1, 5])).toBe(5));
  it('lies between the two in the middle of an even number', () => expect(median([4, 1, 3, 100])).toBe(3.5));
  it('does not exist for nothing', () => expect(() => median([])).toThrow());
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
  it('compares each round within itself, so a slow round counts for nobody', () => {
    // Half as fast in every round, though the machine was ten times slower in the second one.
    expect(medianOfPairs([50, 5, 60], [100, 10, 120], (a, b) => a / b)).toBe(0.5);
  });
  it('needs both contenders in each round', () => {
    expect(() => medianOfPairs([1, 2], [1], (a, b) => a / b)).toThrow();
  });
});
