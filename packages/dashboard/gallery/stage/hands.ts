import { configure, screen } from '@testing-library/dom';
import userEvent from '@testing-library/user-event';
import { settle } from './settle.js';

// The whole page in a message would hide what it says.
configure({ getElementError: (message) => new Error((message ?? '').split('\n')[0]) });

type Role = Parameters<typeof screen.findByRole>[0];

/** What an owner does with a page, by the names that are on it. */
export interface Hands {
  /** @param name the whole name; or a part of it */
  readonly click: (role: Role, name: string | RegExp) => Promise<void>;
  readonly focus: (role: Role, name: string | RegExp) => Promise<void>;
  /** Types into a field in place of what it holds. */
  readonly type: (label: string | RegExp, text: string) => Promise<void>;
  /** In the notation of user-event, for example `{ArrowDown}`. */
  readonly press: (keys: string) => Promise<void>;
  readonly choose: (label: string | RegExp, option: string) => Promise<void>;
  /** Waits until nothing changes any more. */
  readonly rest: () => Promise<void>;
}

/**
 * @param english what a text of the example is in the language that is shown: examples name things in English
 */
export function hands(english: (text: string) => string): Hands {
  const user = userEvent.setup({ delay: null });
  const named = (name: string | RegExp) => (typeof name === 'string' ? english(name) : name);
  const find = (role: Role, name: string | RegExp) => screen.findByRole(role, { name: named(name) });
  const field = (label: string | RegExp) => screen.findByLabelText(named(label));
  return {
    click: async (role, name) => user.click(await find(role, name)),
    focus: async (role, name) => (await find(role, name)).focus(),
    async type(label, text) {
      const input = await field(label);
      await user.clear(input);
      await user.type(input, text);
    },
    press: (keys) => user.keyboard(keys),
    async choose(label, option) {
      await user.click(await field(label));
      await user.click(await screen.findByRole('option', { name: option }));
    },
    rest: settle,
  };
}
