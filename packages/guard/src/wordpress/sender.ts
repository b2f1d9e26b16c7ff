/** As whom a command travels: as the visitor whose call needs it, or as guard itself. */
export interface Sender {
  readonly host: string;
  readonly scheme: 'http' | 'https';
  readonly address: string;
  readonly requestId: string;
}

/** A visitor's browser: its cookies, and as whom it travels. */
export interface Visitor {
  readonly cookie: string;
  readonly sender: Sender;
  /** WordPress has said lately that a member has this browser. */
  readonly isMember?: boolean;
  /** False once nobody waits for what is asked for it. */
  isWanted?(): boolean;
}
