import { cleanup } from '@testing-library/react';
import { afterEach, expect, vi } from 'vitest';

// Libraries tell of wrong use in the console alone, where nobody would look.
const said = vi.spyOn(console, 'error');

afterEach(() => {
  cleanup();
  document.body.replaceChildren();
  const errors = said.mock.calls.map((parts) => parts.map(String).join(' '));
  said.mockClear();
  expect(errors).toEqual([]);
});
