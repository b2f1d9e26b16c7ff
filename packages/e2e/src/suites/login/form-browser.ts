import type { RawAnswer } from '../../http/raw.js';
import { form, type TypedRequest } from '../../http/request.js';
import type { Stack } from '../../stacks/stack.js';
import { askFrom, loginForm } from './visitors.js';

/** The page of the second factor. */
export const SECOND_FACTOR = '/wp-login.php?action=second-factor';

/** A browser without scripts that keeps cookies. */
export class FormBrowser {
  readonly #cookies = new Map<string, string>();
  constructor(
    readonly stack: Stack,
    /** Address that it comes from. */
    readonly from: string,
    readonly agent: string,
    /** Where it finds the login form. */
    readonly loginPath = '/wp-login.php',
  ) {}

  get cookie(): string {
    return [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  async logIn(login: string, password = this.stack.password): Promise<RawAnswer> {
    const { stack, from } = this;
    return this.#keep(
      await askFrom(stack, from, loginForm(login, password, { path: this.loginPath, headers: this.#headers() })),
    );
  }

  look(target: string): Promise<RawAnswer> {
    return this.ask({ target });
  }

  /** Sends any request with the cookies of this browser, and keeps those of the answer. */
  async ask(request: TypedRequest): Promise<RawAnswer> {
    const headers = { ...this.#headers(), ...request.headers };
    return this.#keep(await askFrom(this.stack, this.from, { ...request, headers }));
  }

  /** Sends a form of the second factor, with the token of the page it stands on. */
  async send(
    page: RawAnswer,
    step: string,
    fields: Readonly<Record<string, string>>,
    target = SECOND_FACTOR,
  ): Promise<RawAnswer> {
    const token = /name="token" value="([^"]+)"/.exec(page.body)?.[1] ?? '';
    const body = new URLSearchParams({ token, step, ...fields }).toString();
    const headers = { ...this.#headers(), origin: this.stack.url };
    return this.#keep(await askFrom(this.stack, this.from, form(target, body, headers)));
  }

  #headers() {
    return { 'user-agent': this.agent, cookie: ['wordpress_test_cookie=x', this.cookie].filter(Boolean).join('; ') };
  }

  #keep(answer: RawAnswer): RawAnswer {
    for (const [, name, value] of answer.head.matchAll(/^set-cookie: ([^=]+)=([^;]*)/gim)) {
      this.#cookies.set(name ?? '', value ?? '');
    }
    return answer;
  }
}
