import { type FrameFacts, type icons, renderFrame, Tile } from './frame.js';

/** Pages that only say something: what happened, how things stand, the way out. */
export interface Notice {
  readonly title: string;
  readonly text: string;
  readonly tone: 'on' | 'warn' | 'danger';
  readonly icon: keyof typeof icons;
  readonly button?: { readonly label: string; readonly href: string } | undefined;
  readonly foot?: string | undefined;
  /** Tells the log-in dialog of wp-admin, which frames this page, that it can close. */
  readonly closesDialog?: boolean;
}

export function noticePage(facts: FrameFacts, notice: Notice): string {
  const { button } = notice;
  return renderFrame(facts, {
    title: notice.title,
    foot: notice.foot,
    // WordPress's own wp-auth-check.js looks for this class on the body.
    ...(notice.closesDialog ? { bodyClass: 'login interim-login interim-login-success' } : {}),
    content: (
      <>
        <Tile icon={notice.icon} tone={notice.tone} />
        <h1>{notice.title}</h1>
        <p>{notice.text}</p>
        {button ? (
          <p className="so-front__btn">
            <a className="so-btn so-btn--primary so-btn--wide" href={button.href}>
              {button.label}
            </a>
          </p>
        ) : null}
      </>
    ),
  });
}
