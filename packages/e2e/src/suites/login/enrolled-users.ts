import { expect } from 'vitest';
import { codeOf } from '../../browser/authenticator.js';
import type { RawAnswer } from '../../http/raw.js';
import type { Stack } from '../../stacks/stack.js';
import { FormBrowser, SECOND_FACTOR } from './form-browser.js';
import { createsSession, recover } from './visitors.js';

/** Accounts with a second factor. Each back-up code is good once, so tests take one after the other. */
export class EnrolledUsers {
  readonly #keys = new Map<string, string>();
  readonly #codes: { readonly login: string; readonly code: string }[] = [];

  constructor(
    readonly stack: Stack,
    /** Address that their browsers come from. */
    readonly from: string,
  ) {}

  /** Sets the second factor up in a login. */
  async enrol(login: string): Promise<void> {
    const someone = this.browser();
    await someone.logIn(login);
    const page = await someone.look(SECOND_FACTOR);
    const key = /<code>([A-Z2-7 ]+)<\/code>/.exec(page.body)?.[1] ?? '';
    const shown = await someone.send(page, 'enrol', { code: codeOf(key) });
    const codes = [...shown.body.matchAll(/<li>(\d{4} \d{4})<\/li>/g)].map(([, code]) => code ?? '');
    expect(createsSession(await someone.send(shown, 'continue', { saved: '1' }))).toBe(true);
    this.#keys.set(login, key);
    this.#codes.push(...codes.map((code) => ({ login, code })));
  }

  /** Forgets every factor that was set up here. */
  async reset(): Promise<void> {
    for (const login of this.#keys.keys()) await recover(this.stack, 'two-factor', 'reset', login);
  }

  browser(agent = 'A browser'): FormBrowser {
    return new FormBrowser(this.stack, this.from, agent);
  }

  /** The next unused back-up code, and whose it is. */
  next(login?: string): { readonly login: string; readonly code: string } {
    const at = this.#codes.findIndex((one) => login === undefined || one.login === login);
    const [code] = at === -1 ? [] : this.#codes.splice(at, 1);
    if (code === undefined) throw new Error('All back-up codes are used up.');
    return code;
  }

  /** A code of the app, later than the one that the set-up has used. Good once for each account. */
  appCode(login: string): string {
    return codeOf(this.#keys.get(login) ?? '', 1);
  }
}

/** Gives a code at the page that asks for it. */
export async function giveCode(someone: FormBrowser, code: string, page = SECOND_FACTOR): Promise<RawAnswer> {
  return someone.send(await someone.look(page), 'backup', { code }, page);
}
