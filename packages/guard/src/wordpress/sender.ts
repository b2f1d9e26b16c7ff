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
}
