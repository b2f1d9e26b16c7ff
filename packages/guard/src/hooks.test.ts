import { describe, expect, it } from 'vitest';
import { combineHooks, type RequestHooks } from './hooks.js';

const hooks: RequestHooks = {
  onPage: () => false,
  onAllowed: () => {},
  onFactor: () => {},
  visits: { add: () => {} },
};
const { onPage, onAllowed, onFactor, visits } = hooks;

describe('the hooks of all features', () => {
  it('are the hooks of each feature, in any order', () => {
    expect(combineHooks([{}, { visits }, { onAllowed, onFactor }, {}, { onPage }])).toEqual(hooks);
  });

  it.each(['onPage', 'onAllowed', 'onFactor', 'visits'] as const)('have %s only once', (name) => {
    expect(() => combineHooks([hooks, { [name]: hooks[name] }])).toThrow(`More than one feature has the hook ${name}.`);
  });

  it.each(['onPage', 'onAllowed', 'onFactor', 'visits'] as const)('are refused without %s', (name) => {
    const { [name]: _left, ...others } = hooks;
    expect(() => combineHooks([others])).toThrow(`No feature has the hook ${name}.`);
  });
});
