import { cleanup, configure } from '@testing-library/react';
import { afterEach, expect, vi } from 'vitest';
import { endTest } from './at-end.js';

// What takes a moment on a machine of its own takes seconds beside other tests; who waits less fails for nothing.
configure({ asyncUtilTimeout: 10_000 });

// Libraries tell of wrong use in the console alone, where nobody would look.
const said = vi.spyOn(console, 'error');

afterEach(async () => {
  await endTest();
  cleanup();
  document.body.replaceChildren();
  const errors = said.mock.calls.map((parts) => parts.map(String).join(' '));
  said.mockClear();
  expect(errors).toEqual([]);
});
