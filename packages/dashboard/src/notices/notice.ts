export type NoticeType = 'success' | 'error' | 'warning' | 'info';

export interface NoticeAction {
  readonly label: string;
  readonly href: string;
}

/** A message of the notification area. Texts of the server may hold strong and links, see `ServerText`. */
export interface Notice {
  readonly type: NoticeType;
  /** Success and error have default titles. */
  readonly title?: string;
  readonly text: string;
  /** Leaves by itself after 7 seconds; otherwise it stays until it is closed. */
  readonly autoClose: boolean;
  /** A later notice with the same key takes the place of this one. */
  readonly key?: string;
  readonly action?: NoticeAction;
}
