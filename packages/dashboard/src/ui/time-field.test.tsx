import { toDigit } from '@security-optimizer/contract/typed-text';
import { createEvent, fireEvent, render, screen } from '@testing-library/react';
import { expect, it } from 'vitest';
import { TimeColumn } from './time-field.js';

const HOURS = Array.from({ length: 24 }, (_, hour) => String(hour).padStart(2, '0'));

/** Presses keys at intervals of 100 ms and returns the chosen hours. */
function chosenBy(...keys: readonly string[]): number[] {
  const chosen: number[] = [];
  render(
    <TimeColumn label="Hour" options={HOURS} chosen={0} toDigit={toDigit} onChoose={(index) => chosen.push(index)} />,
  );
  const list = screen.getByRole('listbox', { name: 'Hour' });
  for (const [at, key] of keys.entries()) {
    const event = createEvent.keyDown(list, { key });
    Object.defineProperty(event, 'timeStamp', { value: 10_000 + at * 100 });
    fireEvent(list, event);
  }
  return chosen;
}

it.each([
  ['ASCII', '1', '7'],
  ['Arabic', '١', '٧'],
  ['Persian', '۱', '۷'],
  ['Devanagari', '१', '७'],
  ['full-width', '１', '７'],
  ['mixed', '1', '٧'],
])('a time is chosen by typing its digits, also %s ones', (_script, one, seven) => {
  expect(chosenBy(one, seven)).toEqual([1, 17]);
});

it.each(['²', '½', 'a', 'Shift', 'Dead', 'Process', 'Unidentified', ''])('the key %j does not choose a time', (key) => {
  expect(chosenBy(key)).toEqual([]);
});

it('arrow keys choose the next and the previous time', () => {
  expect(chosenBy('ArrowDown', 'ArrowUp', 'End')).toEqual([1, 23, 23]);
});
