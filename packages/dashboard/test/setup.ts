import { cleanup, configure } from '@testing-library/react';
import { afterAll, afterEach, expect, vi } from 'vitest';
import { endTest } from './at-end.js';

// What takes a moment on a machine of its own takes seconds beside other tests; who waits less fails for nothing.
configure({ asyncUtilTimeout: 45_000 });

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

// The next file finds the window as this one did, and loads the modules anew.
const { head, documentElement } = document;
const kept = new Set<Node>(head.childNodes);
const address = location.href;

afterAll(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  for (const node of [...head.childNodes]) if (!kept.has(node)) node.remove();
  for (const name of documentElement.getAttributeNames()) documentElement.removeAttribute(name);
  for (const name of document.body.getAttributeNames()) document.body.removeAttribute(name);
  history.replaceState(null, '', address);
  localStorage.clear();
  sessionStorage.clear();
  vi.resetModules();
});
