import type { RawHeaders } from '../protections/protection.js';

/** Someone who must know how an exchange ended, also when the visitor has gone: by `onLogin`, or else by `onNoHead`. */
export interface ExchangeWatch {
  /** Once WordPress has the whole request, the exchange goes on to the head of the answer without the visitor. */
  readonly staysForHead: boolean;
  /**
   * The head of the answer has come.
   * @param login what the connector says about passwords
   * @param headers of the answer, as WordPress sent them
   * @returns what the answer has to wait for, or null; it never rejects
   */
  onLogin(login: string | undefined, status: number, headers: RawHeaders): Promise<void> | null;
  /** The head goes out now. May add headers. @returns true when the visitor gets another answer: this one is thrown away */
  onHead(status: number, headers: RawHeaders): boolean;
  /**
   * There will be no head.
   * @param sent how much of the request WordPress's web server may have
   * @returns what the answer has to wait for, or null; it never rejects
   */
  onNoHead(sent: 'nothing' | 'part' | 'whole'): Promise<void> | null;
}
