import { configure, screen, waitFor } from '@testing-library/dom';
import userEvent from '@testing-library/user-event';

// Shorten error messages, which would contain the whole page.
configure({ getElementError: (message) => new Error((message ?? '').split('\n')[0]) });

type Role = Parameters<typeof screen.findByRole>[0];

/** Actions of the owner on a page; elements are found by their accessible names. */
export interface UserActions {
  readonly click: (role: Role, name: string | RegExp) => Promise<void>;
  readonly focus: (role: Role, name: string | RegExp) => Promise<void>;
  /** Replaces the value of a field. */
  readonly type: (label: string | RegExp, text: string) => Promise<void>;
  /** @param keys in the notation of user-event, for example `{ArrowDown}` */
  readonly press: (keys: string) => Promise<void>;
  readonly choose: (label: string | RegExp, option: string) => Promise<void>;
  /** Opens a `details` element. */
  readonly expand: (selector: string) => Promise<void>;
  /** Waits until the document stops changing. */
  readonly settle: () => Promise<void>;
}

/** @param english translates a name of an example, which is English, to the language of the page */
export function userActions(english: (text: string) => string): UserActions {
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
    async expand(selector) {
      const summary = await waitFor(() => {
        const found = document.querySelector(`${selector} > summary`);
        if (found === null) throw new Error(`${selector} was not found.`);
        return found;
      });
      await user.click(summary);
    },
    settle,
  };
}

/** Longer than the delay of a toast's text and than React needs to render a page, milliseconds. */
const QUIET_MS = 70;
const MAX_WAIT_MS = 4000;

/** A dialog that is about to be removed, by a timer longer than `QUIET_MS`. */
const LEAVING = '.so-scrim.is-leaving';

/** Waits until the document has not changed for a moment and no dialog is leaving, with an upper limit. */
export async function settle(): Promise<void> {
  // Parts with useIdle have requested their idle callback before this one.
  await new Promise((resolve) => requestIdleCallback(resolve, { timeout: MAX_WAIT_MS }));
  await new Promise<void>((resolve) => {
    const end = (): void => {
      watch.disconnect();
      clearTimeout(quiet);
      clearTimeout(timeout);
      resolve();
    };
    const endUnlessLeaving = (): void => {
      if (document.querySelector(LEAVING) === null) end();
      else quiet = setTimeout(endUnlessLeaving, QUIET_MS);
    };
    let quiet = setTimeout(endUnlessLeaving, QUIET_MS);
    const timeout = setTimeout(end, MAX_WAIT_MS);
    const watch = new MutationObserver(() => {
      clearTimeout(quiet);
      quiet = setTimeout(endUnlessLeaving, QUIET_MS);
    });
    watch.observe(document.documentElement, { subtree: true, childList: true, attributes: true, characterData: true });
  });
  await document.fonts.ready;
  await new Promise(requestAnimationFrame);
}
