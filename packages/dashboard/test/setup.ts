import { cleanup, configure } from '@testing-library/react';
import { afterAll, afterEach, expect, vi } from 'vitest';
import { endTest } from './at-end.js';

// On a busy machine a moment takes seconds.
configure({ asyncUtilTimeout: 45_000 });

// React reports misuse only in the console.
const consoleError = vi.spyOn(console, 'error');

afterEach(async () => {
  await endTest();
  cleanup();
  document.body.replaceChildren();
  const errors = consoleError.mock.calls.map((parts) => parts.map(String).join(' '));
  consoleError.mockClear();
  expect(errors).toEqual([]);
});

// Restore the window for the next file, which also loads the modules again.
const { head, documentElement } = document;
const initialNodes = new Set<Node>(head.childNodes);
const address = location.href;

afterAll(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  for (const node of [...head.childNodes]) if (!initialNodes.has(node)) node.remove();
  for (const name of documentElement.getAttributeNames()) documentElement.removeAttribute(name);
  for (const name of document.body.getAttributeNames()) document.body.removeAttribute(name);
  history.replaceState(null, '', address);
  localStorage.clear();
  sessionStorage.clear();
  vi.resetModules();
});
