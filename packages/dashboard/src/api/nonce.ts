import type { Fetch } from './send.js';

/** `gone`: WordPress no longer knows the session. `unknown`: it could not be asked. */
export type Renewal = 'renewed' | 'gone' | 'unknown';

export interface NonceKeeper {
  current(): string;
  /** Gets a new nonce in place of `stale`. Callers who ask at the same time share one request. */
  renew(stale: string): Promise<Renewal>;
}

/** A nonce of WordPress is ten letters and digits; plugins may make longer ones. '0' and '-1' mean no session. */
const NONCE = /^[A-Za-z0-9]{8,64}$/;

/** Keeps the nonce of the WordPress session and renews it when it has grown old. */
export function createNonceKeeper(first: string, nonceUrl: string, fetch: Fetch): NonceKeeper {
  let nonce = first;
  let running: Promise<Renewal> | null = null;

  async function ask(): Promise<Renewal> {
    try {
      const response = await fetch(nonceUrl, { credentials: 'include', headers: { Accept: 'text/plain' } });
      if (response.status >= 500) return 'unknown';
      const answer = (await response.text()).trim();
      if (!response.ok || !NONCE.test(answer)) return 'gone';
      nonce = answer;
      return 'renewed';
    } catch {
      return 'unknown';
    } finally {
      running = null;
    }
  }

  return {
    current: () => nonce,
    renew(stale) {
      if (stale !== nonce) return Promise.resolve('renewed');
      running ??= ask();
      return running;
    },
  };
}
