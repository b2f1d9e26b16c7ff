import { render, screen } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { Ring, ringSegments, SMALL_RING } from './meter.js';

describe('the ring', () => {
  it('has one segment for each of all, filled ones first, and a label in words', () => {
    render(<Ring on={7} total={10} label="7 of 10 on" small />);
    const segments = Array.from(document.querySelectorAll('path')).map((path) => path.getAttribute('class'));
    expect(segments).toEqual([...Array(7).fill('so-ring__on'), ...Array(3).fill('so-ring__off')]);
    expect(screen.getByRole('img', { name: '7 of 10 on' })).toBeDefined();
  });

  it('starts at the top, with a stroke and a gap between two segments', () => {
    expect(ringSegments(10, SMALL_RING).slice(0, 2)).toEqual([
      'M25.82 3.64A18.75 18.75 0 0 1 29.70 4.90',
      'M35.88 9.40A18.75 18.75 0 0 1 38.28 12.69',
    ]);
  });
});
