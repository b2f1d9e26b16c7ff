import type { ApiCall } from '../api/send.js';

/** What came back for a call, before anyone has looked at it. */
export interface RawAnswer {
  readonly status: number;
  readonly body: string;
}

/** A call that the loader sent while WordPress's own scripts still held up the page (see loader-script/loader.js). */
export interface EarlyCall {
  readonly suffix: string;
  /** JSON */
  readonly body: string;
  readonly nonce: string;
  readonly answer: Promise<RawAnswer>;
  /** Whether the answer is there. */
  readonly isHere: boolean;
}

/** What the loader leaves for the client, under the name `securityOptimizerEarly` of the window. */
export interface Early {
  /** Identifier of the page. */
  readonly page: string;
  readonly calls: readonly EarlyCall[];
}

export interface EarlyAnswers {
  /** Whether the answer of a call is there already. */
  isHere(call: ApiCall): boolean;
  /** The answer that is on its way or there: once, since the next one who asks wants a new answer. Null: none. */
  take(call: ApiCall, nonce: string, signal: AbortSignal): Promise<RawAnswer> | null;
}

/** @param given what the loader left; undefined where it could send nothing */
export function earlyAnswers(given: Early | undefined): EarlyAnswers {
  const left = new Set(given?.calls ?? []);

  function find({ suffix, namespace, method, query, body = {} }: ApiCall): EarlyCall | undefined {
    if (namespace !== undefined || method !== undefined || query !== undefined) return undefined;
    const text = JSON.stringify(body);
    return Array.from(left).find((call) => call.suffix === suffix && call.body === text);
  }

  return {
    isHere: (call) => find(call)?.isHere === true,
    take(call, nonce, signal) {
      const early = find(call);
      if (early === undefined) return null;
      left.delete(early);
      // The nonce has been renewed meanwhile; the old one would be refused.
      if (early.nonce !== nonce) return null;
      return new Promise((resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('Nobody waits for the answer any more.')));
        early.answer.then(resolve, reject);
      });
    },
  };
}
